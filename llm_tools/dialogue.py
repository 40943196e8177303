"""A conversation that can be kept, saved, loaded and continued with any provider."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import msgspec
from msgspec import Struct

from .content import (
    JSON,
    FunctionResult,
    Message,
    OutputResult,
    OutputResultContent,
    Role,
)
from .errors import ConfigurationError
from .history import Messages, legal_text, read_message, read_messages, result_content
from .history.calls import Calls, Part, list_of, read_calls

_VERSION = 1
_HINT = " If a later version of llm-tools wrote it, upgrade to read it."


def create_dialogue(name: str = "default") -> Dialogue:
    """An empty conversation under a name."""
    return Dialogue(name)


class Dialogue:
    """The messages of one conversation, in order. Appending is the only change there is.

    Each `add_*` method appends and returns the dialogue; what it takes is copied, checked and
    made safe for JSON. A malformed message is a `ConfigurationError` and changes nothing.
    """

    __slots__ = ("_messages", "_snapshot", "name")

    def __init__(self, name: str = "default", messages: Messages = ()) -> None:
        if not isinstance(name, str):
            raise ConfigurationError(f"A dialogue's name is text, not {type(name).__name__}.")
        self.name: str = legal_text(name)
        self._messages: list[Message] = list(read_messages(messages))
        self._snapshot: tuple[Message, ...] = ()

    @property
    def history(self) -> tuple[Message, ...]:
        """The messages so far; the tuple does not change when the dialogue grows."""
        if len(self._snapshot) != len(self._messages):
            self._snapshot = tuple(self._messages)
        return self._snapshot

    def add_system_message(self, content: str | Iterable[Part]) -> Self:
        """Append instructions: text, or text parts."""
        return self._add("system", content)

    def add_user_message(self, content: str | Iterable[Part]) -> Self:
        """Append what the user says: text, or text and image parts."""
        return self._add("user", content)

    def add_assistant_message(self, content: str | Iterable[Part]) -> Self:
        """Append one whole turn of the model: text, or parts in their order."""
        return self._add("assistant", content)

    def add_function_call_message(
        self,
        name: Calls,
        input: Mapping[str, Any] | str | None = None,  # noqa: A002 - the field's name
        function_id: str | None = None,
    ) -> Self:
        """Append one assistant turn that makes a call, or several calls at once.

        Args:
            name: the function's name; or a `function_use` part, or a list of them.
            input: the call's input, where a name was given.
            function_id: the call's id, where a name was given.

        Raises:
            ConfigurationError: a part that is no call, or a name without an id.
        """
        return self._add("assistant", read_calls(name, input, function_id))

    def add_function_message(
        self, content: Any, name: str, function_id: str, is_error: bool = False
    ) -> Self:
        """Append the result of a call.

        Args:
            content: text, text and image parts, or any other Python value (made safe for JSON).
            name: the function's name.
            function_id: the id of the call it answers.
            is_error: whether the function failed.
        """
        fields = {"content": content, "name": name, "functionId": function_id, "isError": is_error}
        return self._append([read_message({"role": "function"} | fields, "function message")])

    def add_from_output(self, output: OutputResult | str | Iterable[Part]) -> Self:
        """Append one turn of the model, whole: reasoning, text, calls and what replay needs.

        Args:
            output: an `OutputResult`, its content, the list that `execute()` returned, or text.
                An answer with no content appends nothing.
        """
        content = output.content if isinstance(output, OutputResult) else output
        if not isinstance(content, str):
            content = list_of(content, "output")
        return self._add("assistant", content) if content else self

    def add_from_results(
        self, results: FunctionResult | Iterable[FunctionResult | Message | Mapping[str, Any]]
    ) -> Self:
        """Append what `dispatch` returned, or results as `function` messages."""
        items = [results] if isinstance(results, FunctionResult) else list_of(results, "results")
        return self._append(
            [_read_result(item, f"results[{index}]") for index, item in enumerate(items)]
        )

    def add_from_history(self, messages: Messages) -> Self:
        """Append the messages of another dialogue, or a list of messages."""
        return self._append([read_message(message) for message in read_messages(messages)])

    def to_json(self) -> str:
        """The dialogue as JSON text, with the version of its schema."""
        saved = {"version": _VERSION, "name": self.name, "messages": self._messages}
        return msgspec.json.encode(saved).decode()

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """A dialogue from what `to_json` wrote, also by a later version where it can be read.

        Raises:
            ConfigurationError: it is no saved dialogue.
        """
        try:
            saved = msgspec.json.decode(text, type=_Saved)
            messages = [_read_saved(message) for message in saved.messages]
        except (msgspec.DecodeError, UnicodeError, RecursionError, TypeError) as error:
            raise ConfigurationError(f"This is no saved dialogue: {error}.{_HINT}") from error
        return cls(saved.name, messages)

    def _add(self, role: str, content: Any) -> Self:
        if not isinstance(content, str):
            content = list_of(content, f"{role} message")
        return self._append([read_message({"role": role, "content": content}, f"{role} message")])

    def _append(self, messages: list[Message]) -> Self:
        self._messages.extend(messages)
        return self

    def __len__(self) -> int:
        return len(self._messages)

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dialogue):
            return NotImplemented
        return self.name == other.name and self._messages == other._messages

    __hash__: ClassVar[None]  # type: ignore[assignment]  # it grows, so it has none

    def __repr__(self) -> str:
        return f"<Dialogue {self.name!r}: {len(self._messages)} messages>"


class _SavedMessage(Struct, rename="camel"):
    role: Role
    content: JSON
    name: str | None = None
    function_id: str | None = None
    is_error: bool = False


class _Saved(Struct):
    version: int
    messages: list[_SavedMessage]
    name: str = "default"


def _read_saved(saved: _SavedMessage) -> Message:
    """One message; keys that a later version added are passed over."""
    content = saved.content
    if saved.role == "function":
        content = result_content(content)
    elif not isinstance(content, str):
        content = msgspec.convert(content, tuple[OutputResultContent, ...])
    return Message(
        role=saved.role,
        content=content,
        name=saved.name,
        function_id=saved.function_id,
        is_error=saved.is_error,
    )


def _read_result(item: FunctionResult | Message | Mapping[str, Any], where: str) -> Message:
    if isinstance(item, FunctionResult):
        item = {
            "content": item.content,
            "name": item.name,
            "functionId": item.function_id,
            "isError": item.is_error,
        }
    if isinstance(item, Mapping):
        item = {"role": "function"} | dict(item)
    message = read_message(item, where)
    if message.role != "function":
        raise ConfigurationError(f"{where}: expected a result, got a {message.role!r} message.")
    return message
