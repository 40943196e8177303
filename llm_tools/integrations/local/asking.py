"""From a request to what is asked in the protocol's terms."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from .conversation import Conversation, read_conversation
from .refusing import ApiError
from .wire import (
    AllowedTools,
    ChatRequest,
    Function,
    NamedTool,
    ObjectFormat,
    SchemaFormat,
    Tool,
)

_SAMPLING = ("temperature", "top_p", "frequency_penalty", "presence_penalty", "seed", "stop")


class Ask(Struct, frozen=True, kw_only=True):
    """What is asked.

    Attributes:
        conversation: the history.
        functions: those the model may choose among; none means that it answers in text.
        must_call: whether it has to call one of them.
        schema: the shape of a text answer, if it has one.
        limit: the most tokens the client wants, if it says so.
        sampling: what the client set of the engine's sampling options.
    """

    conversation: Conversation
    functions: tuple[Function, ...] = ()
    must_call: bool = False
    schema: dict[str, Any] | None = None
    limit: int | None = None
    sampling: dict[str, Any] = {}


def read_ask(request: ChatRequest) -> Ask:
    """Check a request against itself.

    Raises:
        ApiError: 400; its parts do not fit each other, or it asks for what cannot be done here.
    """
    if request.logprobs:
        raise ApiError("The local model gives no logprobs: leave them out.", param="logprobs")
    functions = _offered(request.tools or ())
    chosen, must_call = _choice(request, functions)
    return Ask(
        conversation=read_conversation(request.messages),
        functions=chosen,
        must_call=must_call,
        schema=_schema(request),
        limit=request.max_completion_tokens or request.max_tokens,
        sampling={
            name: value for name in _SAMPLING if (value := getattr(request, name)) is not None
        },
    )


def _offered(tools: list[Tool] | tuple[()]) -> dict[str, Function]:
    functions: dict[str, Function] = {}
    for position, tool in enumerate(tools):
        where = f"tools[{position}].function"
        if tool.function.name in functions:
            raise ApiError(
                f"{where}: there are two functions called {tool.function.name}.", param=where
            )
        if (tool.function.parameters or {}).get("type", "object") != "object":
            raise ApiError(
                f"{where}.parameters must be a JSON Schema of type 'object'.",
                code="invalid_function_parameters",
                param=f"{where}.parameters",
            )
        functions[tool.function.name] = tool.function
    return functions


def _choice(
    request: ChatRequest, functions: dict[str, Function]
) -> tuple[tuple[Function, ...], bool]:
    """The functions to choose among, and whether one must be called."""
    choice = request.tool_choice
    if choice is not None and not functions and choice != "none":
        raise ApiError(
            "tool_choice needs tools: offer some, or leave tool_choice out.", param="tool_choice"
        )
    match choice:
        case "none":
            return (), False
        case NamedTool():
            return _named(functions, [choice]), True
        case AllowedTools(allowed_tools=allowed):
            return _named(functions, allowed.tools), allowed.mode == "required"
    return tuple(functions.values()), choice == "required"


def _named(functions: dict[str, Function], tools: list[NamedTool]) -> tuple[Function, ...]:
    names = [tool.function.name for tool in tools]
    unknown = [name for name in names if name not in functions]
    if unknown or not names:
        raise ApiError(
            f"tool_choice names {', '.join(unknown) or 'no function'}; the tools are "
            f"{', '.join(functions)}.",
            param="tool_choice",
        )
    return tuple([functions[name] for name in dict.fromkeys(names)])


def _schema(request: ChatRequest) -> dict[str, Any] | None:
    match request.response_format:
        case SchemaFormat(json_schema=wanted):
            return wanted.schema
        case ObjectFormat():
            return {"type": "object"}
    return None
