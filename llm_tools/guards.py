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
    if isinstance(value, dict):
        return isinstance(value.get("content"), list) and isinstance(value.get("stopReason"), str)
    return isinstance(value, OutputResult)


@overload
def is_output_result_content_text(value: dict[str, Any]) -> bool: ...
@overload
def is_output_result_content_text(value: object) -> TypeIs[OutputResultText]: ...
def is_output_result_content_text(value: object) -> bool:
    """Whether it is a text part."""
    if isinstance(value, dict):
        return value.get("type") == "text" and isinstance(value.get("text"), str)
    return isinstance(value, OutputResultText)


@overload
def is_function_call(value: dict[str, Any]) -> bool: ...
@overload
def is_function_call(value: object) -> TypeIs[OutputResultFunctionUse]: ...
def is_function_call(value: object) -> bool:
    """Whether it is a call the model wants made."""
    if isinstance(value, dict):
        return value.get("type") == "function_use" and isinstance(value.get("name"), str)
    return isinstance(value, OutputResultFunctionUse)


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
    content = value.content if isinstance(value, OutputResult) else value
    return isinstance(content, list | tuple) and any(map(is_function_call, content))


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
    if isinstance(value, dict):
        return value.get("role") if "content" in value else None
    return value.role if isinstance(value, Message) else None
