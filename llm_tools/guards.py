"""What something is: for any object, a bool that type checkers understand.

Structs and objects narrow; the plain dicts of the JSON form are recognised too and answer `bool`.
"""

from __future__ import annotations

from typing import Any, TypeGuard, overload

from typing_extensions import TypeIs

from .content import (
    Message,
    OutputResult,
    OutputResultContent,
    OutputResultFunctionUse,
    OutputResultText,
)

__all__ = [
    "has_function_call",
    "has_tool_call",
    "is_assistant_message",
    "is_function_call",
    "is_output_result",
    "is_output_result_content_text",
    "is_system_message",
    "is_tool_call",
    "is_user_message",
]


@overload
def is_output_result(value: dict[str, Any]) -> bool: ...
@overload
def is_output_result(value: object) -> TypeIs[OutputResult]: ...
def is_output_result(value: object) -> bool:
    """Whether it is a whole answer of a model."""
    content, reason = _get(value, "content"), _get(value, "stopReason")
    return _is(value, OutputResult) or (type(content) in (list, tuple) and _is(reason, str))


@overload
def is_output_result_content_text(value: dict[str, Any]) -> bool: ...
@overload
def is_output_result_content_text(value: object) -> TypeIs[OutputResultText]: ...
def is_output_result_content_text(value: object) -> bool:
    """Whether it is a text part."""
    return _is(value, OutputResultText) or (
        _get(value, "type") == "text" and _is(_get(value, "text"), str)
    )


@overload
def is_function_call(value: dict[str, Any]) -> bool: ...
@overload
def is_function_call(value: object) -> TypeIs[OutputResultFunctionUse]: ...
def is_function_call(value: object) -> bool:
    """Whether it is a call the model wants made."""
    return _is(value, OutputResultFunctionUse) or (
        _get(value, "type") == "function_use" and _is(_get(value, "name"), str)
    )


@overload
def has_function_call(value: OutputResult) -> bool: ...
@overload
def has_function_call(value: list[dict[str, Any]]) -> bool: ...
@overload
def has_function_call(value: object) -> TypeIs[list[OutputResultContent]]: ...
def has_function_call(value: object) -> bool:
    """Whether it is the content of an answer in which the model called a function.

    Tells the two outcomes of `execute()` apart: a parser may return a list too, but none with a
    call in it.
    """
    content: Any = value.content if type(value) is OutputResult else value
    return type(content) in (list, tuple) and any(map(is_function_call, content))


is_tool_call = is_function_call
has_tool_call = has_function_call


@overload
def is_user_message(value: dict[str, Any]) -> bool: ...
@overload
def is_user_message(value: object) -> TypeGuard[Message]: ...
def is_user_message(value: object) -> bool:
    """Whether it is a message of the user's."""
    return _role_of(value) == "user"


@overload
def is_assistant_message(value: dict[str, Any]) -> bool: ...
@overload
def is_assistant_message(value: object) -> TypeGuard[Message]: ...
def is_assistant_message(value: object) -> bool:
    """Whether it is a turn of the model's."""
    return _role_of(value) == "assistant"


@overload
def is_system_message(value: dict[str, Any]) -> bool: ...
@overload
def is_system_message(value: object) -> TypeGuard[Message]: ...
def is_system_message(value: object) -> bool:
    """Whether it is a message with instructions."""
    return _role_of(value) == "system"


def _role_of(value: object) -> object:
    if type(value) is Message:
        return value.role
    return _get(value, "role") if _get(value, "content") is not None else None


def _is(value: object, kind: type) -> bool:
    """`isinstance` that asks the object nothing: a proxy may raise when its class is read."""
    return issubclass(type(value), kind)


def _get(value: Any, key: str) -> Any:
    """What a dict holds under a key, if it is text or a list (or tuple); None otherwise."""
    found = value.get(key) if type(value) is dict else None
    return found if type(found) in (str, list, tuple) else None
