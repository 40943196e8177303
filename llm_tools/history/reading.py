"""A caller's messages, in any accepted form, as `Message` structs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ..content import (
    JSON,
    Message,
    OutputResultContent,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultText,
)
from ..errors import ConfigurationError
from ..given import hint
from ..later import later
from .json_values import legal_text
from .parts import (
    ALL_PARTS,
    TEXT_AND_IMAGES,
    TEXT_PARTS,
    PartType,
    read_parts,
    result_content,
)

if TYPE_CHECKING:
    from ..dialogue import Dialogue
else:
    Dialogue = later("dialogue", "Dialogue")

Messages: TypeAlias = str | Iterable[Message | Mapping[str, Any]] | Dialogue
"""One user message as text; messages as structs or in their JSON form; or a whole dialogue."""

PARTS_OF_ROLE: dict[str, tuple[PartType, ...]] = {
    "system": TEXT_PARTS,
    "user": TEXT_AND_IMAGES,
    "assistant": ALL_PARTS,
    "function": TEXT_AND_IMAGES,
}
_KEYS = {
    "role": "role",
    "content": "content",
    "name": "name",
    "functionId": "function_id",
    "function_id": "function_id",
    "isError": "is_error",
    "is_error": "is_error",
}
_OF_FUNCTIONS = ("name", "function_id", "is_error")
_FOREIGN_ROLES = {
    "tool": "'function' (with functionId and name)",
    "model": "'assistant'",
    "developer": "'system'",
    "human": "'user'",
    "ai": "'assistant'",
}
_JSON_TYPES = frozenset({str, int, float, bool, type(None), dict})


def read_messages(messages: Messages) -> tuple[Message, ...]:
    """The messages of a call; sound `Message` structs pass untouched.

    Args:
        messages: a string (one user message), messages as structs or dicts, or a dialogue.

    Raises:
        ConfigurationError: a malformed message, with its index and a JSON pointer.
    """
    given = list_messages(messages)
    if isinstance(given, str):
        return (Message(role="user", content=legal_text(given)),)
    return given if given is getattr(messages, "history", None) else read_list(given)


def list_messages(messages: Messages) -> str | Sequence[Any]:
    """The messages as a text, or as a list of what was given, unread.

    Raises:
        ConfigurationError: it is neither.
    """
    if isinstance(messages, str | list | tuple):
        return messages
    history = getattr(messages, "history", None)
    if isinstance(history, tuple):
        return history
    if isinstance(messages, Mapping) or not isinstance(messages, Iterable):
        raise ConfigurationError(
            f"messages: expected text, a list of messages or a dialogue, got "
            f"{type(messages).__name__}. Put a single message into a list."
        )
    return list(messages)


def read_list(messages: Sequence[Any], start: int = 0) -> tuple[Message, ...]:
    """The messages of a list, of which `start` came before these.

    Raises:
        ConfigurationError: a malformed message, with its index and a JSON pointer.
    """
    return tuple(
        [
            message
            if type(message) is Message and _is_sound(message)
            else read_message(message, f"messages[{index}]")
            for index, message in enumerate(messages, start)
        ]
    )


def read_again(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages with nothing in them taken on trust: checked, and made safe for JSON.

    Raises:
        ConfigurationError: a malformed message, with its index and a JSON pointer.
    """
    return tuple(
        [read_message(message, f"messages[{index}]") for index, message in enumerate(messages)]
    )


def read_message(message: Any, where: str = "message") -> Message:
    """One message, as a struct or in its JSON form.

    Raises:
        ConfigurationError: a malformed message; it names `where` and a JSON pointer.
    """
    if isinstance(message, Message):
        fields = {name: getattr(message, name) for name in Message.__struct_fields__}
        given = {name: value for name, value in fields.items() if value is not None}
        if not message.is_error:
            del given["is_error"]
        return _build({"content": None} | given, where)
    if isinstance(message, Mapping):
        return _build(_rename(message, where), where)
    raise ConfigurationError(f"{where}: expected a message, got {type(message).__name__}.")


def _rename(message: Mapping[str, Any], where: str) -> dict[str, Any]:
    fields = {}
    for key, value in message.items():
        if key not in _KEYS:
            raise ConfigurationError(f"{where} at /{key}: no such key. {hint(key, _KEYS)}")
        fields[_KEYS[key]] = value
    return fields


def _build(fields: dict[str, Any], where: str) -> Message:
    role = fields.get("role")
    if not isinstance(role, str) or role not in PARTS_OF_ROLE:
        meant = _FOREIGN_ROLES.get(role) if isinstance(role, str) else None
        hint = f" Write {meant}." if meant else ""
        raise ConfigurationError(
            f"{where} at /role: expected 'system', 'user', 'assistant' or 'function', "
            f"got {role!r}.{hint}"
        )
    if "content" not in fields:
        raise ConfigurationError(f"{where} at /content: missing.")
    if role == "function":
        return _build_result(fields, where)
    for key in _OF_FUNCTIONS:
        if key in fields:
            raise ConfigurationError(f"{where} at /{key}: only a 'function' message has it.")
    content = read_content(fields["content"], role, where)
    return Message(role=role, content=content)  # type: ignore[arg-type]  # looked up above


def read_content(content: Any, role: str, where: str) -> str | tuple[OutputResultContent, ...]:
    """The content of a system, user or assistant message: text, or the parts its role may have.

    Raises:
        ConfigurationError: anything else, with its JSON pointer.
    """
    if isinstance(content, str):
        return legal_text(content)
    parts = read_parts(content, PARTS_OF_ROLE[role], where)
    if role == "system" and not any(getattr(part, "provider_metadata", None) for part in parts):
        return "\n".join([part.text for part in parts if isinstance(part, OutputResultText)])
    return parts


def _build_result(fields: dict[str, Any], where: str) -> Message:
    name, function_id = fields.get("name"), fields.get("function_id")
    is_error = fields.get("is_error", False)
    if not isinstance(function_id, str):
        raise ConfigurationError(
            f"{where} at /functionId: a 'function' message needs the id of the call it answers."
        )
    if name is not None and not isinstance(name, str):
        raise ConfigurationError(f"{where} at /name: expected text, got {type(name).__name__}.")
    if not isinstance(is_error, bool):
        raise ConfigurationError(f"{where} at /isError: expected true or false.")
    return Message(
        role="function",
        content=result_content(fields["content"]),
        name=None if name is None else legal_text(name),
        function_id=legal_text(function_id),
        is_error=is_error,
    )


def _is_sound(message: Message) -> bool:
    """Whether a struct is what its role needs. JSON inside it is taken on trust."""
    role, content = message.role, message.content
    allowed = PARTS_OF_ROLE.get(role) if type(role) is str else None
    if allowed is None or (role == "function") is (message.function_id is None):
        return False
    if type(content) is str:
        return content.isascii() or legal_text(content) is content
    if type(content) is tuple:
        return all(type(part) in allowed and _is_sound_part(part) for part in content)
    return role == "function" and _is_plain(content)


def _is_sound_part(part: OutputResultContent) -> bool:
    if type(part) is OutputResultText:
        return type(part.text) is str and legal_text(part.text) is part.text
    if type(part) is OutputResultFunctionUse:
        texts = (part.name, part.function_id)
        return type(part.input) is dict and all(type(text) is str for text in texts)
    if type(part) is OutputResultImage:
        return (type(part.url) is str) is not (type(part.data) is str)
    return True


def _is_plain(content: JSON) -> bool:
    if type(content) is float:
        return content - content == 0
    return type(content) in _JSON_TYPES
