"""Tool calling: one await, the same function list, every provider, on asyncio and trio.

Nothing is imported before it is used; `guards` are a module of their own.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import guards as guards
    from .callables import (
        CallableExecutor as CallableExecutor,
    )
    from .callables import (
        UseExecutors as UseExecutors,
    )
    from .callables import (
        create_callable_executor as create_callable_executor,
    )
    from .callables import (
        tool as tool,
    )
    from .callables import (
        use_executors as use_executors,
    )
    from .content import (
        Finished as Finished,
    )
    from .content import (
        FunctionInputDelta as FunctionInputDelta,
    )
    from .content import (
        FunctionResult as FunctionResult,
    )
    from .content import (
        FunctionUseDone as FunctionUseDone,
    )
    from .content import (
        FunctionUseStart as FunctionUseStart,
    )
    from .content import (
        Message as Message,
    )
    from .content import (
        OutputResult as OutputResult,
    )
    from .content import (
        OutputResultContent as OutputResultContent,
    )
    from .content import (
        OutputResultFunctionUse as OutputResultFunctionUse,
    )
    from .content import (
        OutputResultImage as OutputResultImage,
    )
    from .content import (
        OutputResultReasoning as OutputResultReasoning,
    )
    from .content import (
        OutputResultRefusal as OutputResultRefusal,
    )
    from .content import (
        OutputResultText as OutputResultText,
    )
    from .content import (
        ReasoningDelta as ReasoningDelta,
    )
    from .content import (
        RefusalDelta as RefusalDelta,
    )
    from .content import (
        ResultWarning as ResultWarning,
    )
    from .content import (
        RunResult as RunResult,
    )
    from .content import (
        StreamEvent as StreamEvent,
    )
    from .content import (
        TextDelta as TextDelta,
    )
    from .content import (
        Usage as Usage,
    )
    from .dialogue import (
        Dialogue as Dialogue,
    )
    from .dialogue import (
        create_dialogue as create_dialogue,
    )
    from .dispatching import (
        DEFER as DEFER,
    )
    from .dispatching import (
        Edited as Edited,
    )
    from .dispatching import (
        Refused as Refused,
    )
    from .dispatching import (
        dispatch as dispatch,
    )
    from .endpoints.making import (
        create_openai_compatible_endpoint as create_openai_compatible_endpoint,
    )
    from .errors import (
        AuthenticationError as AuthenticationError,
    )
    from .errors import (
        BadRequestError as BadRequestError,
    )
    from .errors import (
        ConfigurationError as ConfigurationError,
    )
    from .errors import (
        ContentFilterError as ContentFilterError,
    )
    from .errors import (
        ContextLengthError as ContextLengthError,
    )
    from .errors import (
        FunctionInputError as FunctionInputError,
    )
    from .errors import (
        FunctionNotApprovedError as FunctionNotApprovedError,
    )
    from .errors import (
        FunctionTimeoutError as FunctionTimeoutError,
    )
    from .errors import (
        LlmToolsError as LlmToolsError,
    )
    from .errors import (
        NotFoundError as NotFoundError,
    )
    from .errors import (
        OverloadedError as OverloadedError,
    )
    from .errors import (
        ParserError as ParserError,
    )
    from .errors import (
        PermissionDeniedError as PermissionDeniedError,
    )
    from .errors import (
        PromptError as PromptError,
    )
    from .errors import (
        ProviderError as ProviderError,
    )
    from .errors import (
        QuotaExceededError as QuotaExceededError,
    )
    from .errors import (
        RateLimitError as RateLimitError,
    )
    from .errors import (
        RefusalError as RefusalError,
    )
    from .errors import (
        RequestTimeoutError as RequestTimeoutError,
    )
    from .errors import (
        ResponseDecodeError as ResponseDecodeError,
    )
    from .errors import (
        RunLimitError as RunLimitError,
    )
    from .errors import (
        ServerError as ServerError,
    )
    from .errors import (
        StreamError as StreamError,
    )
    from .errors import (
        TransportError as TransportError,
    )
    from .errors import (
        UnknownFunctionError as UnknownFunctionError,
    )
    from .errors import (
        UnmetFunctionCallError as UnmetFunctionCallError,
    )
    from .errors import (
        UnsupportedOptionError as UnsupportedOptionError,
    )
    from .event_stream import (
        EventStream as EventStream,
    )
    from .executors import (
        CoreExecutor as CoreExecutor,
    )
    from .executors import (
        LlmExecutor as LlmExecutor,
    )
    from .executors import (
        LlmExecutorOpenAiFunctions as LlmExecutorOpenAiFunctions,
    )
    from .executors import (
        LlmExecutorWithFunctions as LlmExecutorWithFunctions,
    )
    from .executors import (
        create_core_executor as create_core_executor,
    )
    from .executors import (
        create_llm_executor as create_llm_executor,
    )
    from .executors import (
        create_llm_function_executor as create_llm_function_executor,
    )
    from .fallbacks import (
        fallback as fallback,
    )
    from .functions.definitions import (
        FunctionDefinition as FunctionDefinition,
    )
    from .functions.partial import (
        PartialInput as PartialInput,
    )
    from .functions.partial import (
        partial_input as partial_input,
    )
    from .ids import (
        set_id_factory as set_id_factory,
    )
    from .llm import (
        Llm as Llm,
    )
    from .llm import (
        Request as Request,
    )
    from .llm import (
        use_llm as use_llm,
    )
    from .loop import (
        PendingRun as PendingRun,
    )
    from .options import (
        LlmOptions as LlmOptions,
    )
    from .parsers import (
        create_custom_parser as create_custom_parser,
    )
    from .parsers import (
        create_parser as create_parser,
    )
    from .prompts import (
        Literal as Literal,
    )
    from .prompts import (
        create_chat_prompt as create_chat_prompt,
    )
    from .prompts import (
        create_prompt as create_prompt,
    )
    from .registry import (
        EndpointInfo as EndpointInfo,
    )
    from .registry import (
        list_endpoints as list_endpoints,
    )
    from .registry import (
        register_endpoint as register_endpoint,
    )
    from .spec import (
        Endpoint as Endpoint,
    )
    from .state import (
        State as State,
    )
    from .state import (
        create_state as create_state,
    )
    from .testing import (
        ScriptedLlm as ScriptedLlm,
    )
    from .testing import (
        ScriptedTransport as ScriptedTransport,
    )
    from .transport import (
        create_limiter as create_limiter,
    )


__all__ = [
    "DEFER",
    "AuthenticationError",
    "BadRequestError",
    "CallableExecutor",
    "ConfigurationError",
    "ContentFilterError",
    "ContextLengthError",
    "CoreExecutor",
    "Dialogue",
    "Edited",
    "Endpoint",
    "EndpointInfo",
    "EventStream",
    "Finished",
    "FunctionDefinition",
    "FunctionInputDelta",
    "FunctionInputError",
    "FunctionNotApprovedError",
    "FunctionResult",
    "FunctionTimeoutError",
    "FunctionUseDone",
    "FunctionUseStart",
    "Literal",
    "Llm",
    "LlmExecutor",
    "LlmExecutorOpenAiFunctions",
    "LlmExecutorWithFunctions",
    "LlmOptions",
    "LlmToolsError",
    "Message",
    "NotFoundError",
    "OutputResult",
    "OutputResultContent",
    "OutputResultFunctionUse",
    "OutputResultImage",
    "OutputResultReasoning",
    "OutputResultRefusal",
    "OutputResultText",
    "OverloadedError",
    "ParserError",
    "PartialInput",
    "PendingRun",
    "PermissionDeniedError",
    "PromptError",
    "ProviderError",
    "QuotaExceededError",
    "RateLimitError",
    "ReasoningDelta",
    "RefusalDelta",
    "RefusalError",
    "Refused",
    "Request",
    "RequestTimeoutError",
    "ResponseDecodeError",
    "ResultWarning",
    "RunLimitError",
    "RunResult",
    "ScriptedLlm",
    "ScriptedTransport",
    "ServerError",
    "State",
    "StreamError",
    "StreamEvent",
    "TextDelta",
    "TransportError",
    "UnknownFunctionError",
    "UnmetFunctionCallError",
    "UnsupportedOptionError",
    "Usage",
    "UseExecutors",
    "create_callable_executor",
    "create_chat_prompt",
    "create_core_executor",
    "create_custom_parser",
    "create_dialogue",
    "create_limiter",
    "create_llm_executor",
    "create_llm_function_executor",
    "create_openai_compatible_endpoint",
    "create_parser",
    "create_prompt",
    "create_state",
    "dispatch",
    "fallback",
    "guards",
    "list_endpoints",
    "partial_input",
    "register_endpoint",
    "set_id_factory",
    "tool",
    "use_executors",
    "use_llm",
]

_HOMES: dict[str, tuple[str, ...]] = {
    "callables": (
        "CallableExecutor",
        "UseExecutors",
        "create_callable_executor",
        "tool",
        "use_executors",
    ),
    "content": (
        "Finished",
        "FunctionInputDelta",
        "FunctionResult",
        "FunctionUseDone",
        "FunctionUseStart",
        "Message",
        "OutputResult",
        "OutputResultContent",
        "OutputResultFunctionUse",
        "OutputResultImage",
        "OutputResultReasoning",
        "OutputResultRefusal",
        "OutputResultText",
        "ReasoningDelta",
        "RefusalDelta",
        "ResultWarning",
        "RunResult",
        "StreamEvent",
        "TextDelta",
        "Usage",
    ),
    "dialogue": (
        "Dialogue",
        "create_dialogue",
    ),
    "dispatching": (
        "DEFER",
        "Edited",
        "Refused",
        "dispatch",
    ),
    "endpoints.making": ("create_openai_compatible_endpoint",),
    "errors": (
        "AuthenticationError",
        "BadRequestError",
        "ConfigurationError",
        "ContentFilterError",
        "ContextLengthError",
        "FunctionInputError",
        "FunctionNotApprovedError",
        "FunctionTimeoutError",
        "LlmToolsError",
        "NotFoundError",
        "OverloadedError",
        "ParserError",
        "PermissionDeniedError",
        "PromptError",
        "ProviderError",
        "QuotaExceededError",
        "RateLimitError",
        "RefusalError",
        "RequestTimeoutError",
        "ResponseDecodeError",
        "RunLimitError",
        "ServerError",
        "StreamError",
        "TransportError",
        "UnknownFunctionError",
        "UnmetFunctionCallError",
        "UnsupportedOptionError",
    ),
    "event_stream": ("EventStream",),
    "executors": (
        "CoreExecutor",
        "LlmExecutor",
        "LlmExecutorOpenAiFunctions",
        "LlmExecutorWithFunctions",
        "create_core_executor",
        "create_llm_executor",
        "create_llm_function_executor",
    ),
    "fallbacks": ("fallback",),
    "functions.definitions": ("FunctionDefinition",),
    "functions.partial": (
        "PartialInput",
        "partial_input",
    ),
    "ids": ("set_id_factory",),
    "llm": (
        "Llm",
        "Request",
        "use_llm",
    ),
    "loop": ("PendingRun",),
    "options": ("LlmOptions",),
    "parsers": (
        "create_custom_parser",
        "create_parser",
    ),
    "prompts": (
        "Literal",
        "create_chat_prompt",
        "create_prompt",
    ),
    "registry": (
        "EndpointInfo",
        "list_endpoints",
        "register_endpoint",
    ),
    "spec": ("Endpoint",),
    "state": (
        "State",
        "create_state",
    ),
    "testing": (
        "ScriptedLlm",
        "ScriptedTransport",
    ),
    "transport": ("create_limiter",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "guards":
        return import_module(".guards", __name__)
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
