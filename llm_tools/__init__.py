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
        UseExecutors as UseExecutors,
        create_callable_executor as create_callable_executor,
        tool as tool,
        use_executors as use_executors,
    )
    from .content import (
        Finished as Finished,
        FunctionInputDelta as FunctionInputDelta,
        FunctionResult as FunctionResult,
        FunctionUseDone as FunctionUseDone,
        FunctionUseStart as FunctionUseStart,
        Message as Message,
        OutputResult as OutputResult,
        OutputResultContent as OutputResultContent,
        OutputResultFunctionUse as OutputResultFunctionUse,
        OutputResultImage as OutputResultImage,
        OutputResultReasoning as OutputResultReasoning,
        OutputResultRefusal as OutputResultRefusal,
        OutputResultText as OutputResultText,
        ReasoningDelta as ReasoningDelta,
        RefusalDelta as RefusalDelta,
        ResultWarning as ResultWarning,
        RunResult as RunResult,
        StreamEvent as StreamEvent,
        TextDelta as TextDelta,
        Usage as Usage,
    )
    from .dialogue import (
        Dialogue as Dialogue,
        create_dialogue as create_dialogue,
    )
    from .dispatching import (
        DEFER as DEFER,
        Edited as Edited,
        Refused as Refused,
        dispatch as dispatch,
    )
    from .endpoints.making import (
        create_openai_compatible_endpoint as create_openai_compatible_endpoint,
    )
    from .errors import (
        AuthenticationError as AuthenticationError,
        BadRequestError as BadRequestError,
        ConfigurationError as ConfigurationError,
        ContentFilterError as ContentFilterError,
        ContextLengthError as ContextLengthError,
        FunctionInputError as FunctionInputError,
        FunctionNotApprovedError as FunctionNotApprovedError,
        FunctionTimeoutError as FunctionTimeoutError,
        LlmToolsError as LlmToolsError,
        NotFoundError as NotFoundError,
        OverloadedError as OverloadedError,
        ParserError as ParserError,
        PermissionDeniedError as PermissionDeniedError,
        PromptError as PromptError,
        ProviderError as ProviderError,
        QuotaExceededError as QuotaExceededError,
        RateLimitError as RateLimitError,
        RefusalError as RefusalError,
        RequestTimeoutError as RequestTimeoutError,
        ResponseDecodeError as ResponseDecodeError,
        RunLimitError as RunLimitError,
        ServerError as ServerError,
        StreamError as StreamError,
        TransportError as TransportError,
        UnknownFunctionError as UnknownFunctionError,
        UnmetFunctionCallError as UnmetFunctionCallError,
        UnsupportedOptionError as UnsupportedOptionError,
    )
    from .event_stream import (
        EventStream as EventStream,
    )
    from .executors import (
        CoreExecutor as CoreExecutor,
        ExecutionMetadata as ExecutionMetadata,
        LlmExecutor as LlmExecutor,
        LlmExecutorOpenAiFunctions as LlmExecutorOpenAiFunctions,
        LlmExecutorWithFunctions as LlmExecutorWithFunctions,
        create_core_executor as create_core_executor,
        create_llm_executor as create_llm_executor,
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
        partial_input as partial_input,
    )
    from .ids import (
        set_id_factory as set_id_factory,
    )
    from .llm import (
        Llm as Llm,
        Request as Request,
        use_llm as use_llm,
    )
    from .loop import (
        PendingRun as PendingRun,
    )
    from .options import (
        LlmOptions as LlmOptions,
    )
    from .parsers import (
        Parser as Parser,
        create_custom_parser as create_custom_parser,
        create_parser as create_parser,
    )
    from .prompts import (
        ChatPrompt as ChatPrompt,
        Literal as Literal,
        TextPrompt as TextPrompt,
        create_chat_prompt as create_chat_prompt,
        create_prompt as create_prompt,
    )
    from .registry import (
        EndpointInfo as EndpointInfo,
        list_endpoints as list_endpoints,
        register_endpoint as register_endpoint,
    )
    from .spec import (
        Endpoint as Endpoint,
    )
    from .state import (
        State as State,
        StateItem as StateItem,
        create_state as create_state,
        create_state_item as create_state_item,
    )
    from .testing import (
        ScriptedLlm as ScriptedLlm,
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
    "ChatPrompt",
    "ConfigurationError",
    "ContentFilterError",
    "ContextLengthError",
    "CoreExecutor",
    "Dialogue",
    "Edited",
    "Endpoint",
    "EndpointInfo",
    "EventStream",
    "ExecutionMetadata",
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
    "Parser",
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
    "StateItem",
    "StreamError",
    "StreamEvent",
    "TextDelta",
    "TextPrompt",
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
    "create_state_item",
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
        "ExecutionMetadata",
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
        "Parser",
        "create_custom_parser",
        "create_parser",
    ),
    "prompts": (
        "ChatPrompt",
        "Literal",
        "TextPrompt",
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
        "StateItem",
        "create_state",
        "create_state_item",
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
    if name == "__version__":
        from importlib.metadata import version

        return version("llm-tools")
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
