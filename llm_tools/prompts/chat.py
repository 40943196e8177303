"""A prompt of messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self, TypeAlias

from ..content import Message, OutputResultContent, OutputResultFunctionUse
from ..errors import PromptError
from ..given import check_name
from ..history import Messages, read_message, read_messages
from ..history.calls import list_of, read_calls
from .slots import Constant, Slot, Values, compile_text, compile_value
from .templates import Literal, read_values

TemplatePart: TypeAlias = OutputResultContent | Mapping[str, Any] | Literal
"""A dict (strings in it are templates), a `Literal` text, or a struct (never a template)."""

TemplateContent: TypeAlias = str | Literal | Iterable[TemplatePart]


class ChatPrompt:
    """Messages in order; strings and dicts given to its `add_*_message` methods hold templates.

    Structs (what models and dialogues are made of), histories and `Literal`s are data: braces in
    them are braces. So are the values that are filled in. Each method appends and returns the
    prompt.
    """

    __slots__ = ("_slots",)

    def __init__(self, system: str | Literal | None = None) -> None:
        self._slots: list[Slot] = []
        if system is not None:
            self.add_system_message(system)

    def add_system_message(self, content: TemplateContent) -> Self:
        """Append instructions.

        Raises:
            PromptError: a broken template, here and in the other methods.
        """
        return self._add("system", _compile_content(content))

    def add_user_message(self, content: TemplateContent) -> Self:
        """Append what the user says: a template, or text and image parts."""
        return self._add("user", _compile_content(content))

    def add_assistant_message(self, content: TemplateContent) -> Self:
        """Append a turn of the model: a template, or parts."""
        return self._add("assistant", _compile_content(content))

    def add_function_call_message(
        self,
        name: Any,
        input: Any = None,  # noqa: A002 - the field's name
        function_id: str | None = None,
    ) -> Self:
        """Append one turn of the model that makes a call, or several.

        Args:
            name: the function's name; or `function_use` parts (one, or a list).
            input: the call's input, where a name was given; strings in it are templates.
            function_id: the call's id, where a name was given.
        """
        if isinstance(name, str):
            slot = compile_value(input)
            return self._append(
                lambda values: {
                    "role": "assistant",
                    "content": read_calls(name, slot(values), function_id),
                },
                slot,
            )
        single = isinstance(name, Mapping | OutputResultFunctionUse)
        calls = compile_value([name] if single else list_of(name))
        return self._append(
            lambda values: {"role": "assistant", "content": read_calls(calls(values))}, calls
        )

    def add_function_message(
        self, content: Any, name: str, function_id: str, is_error: bool = False
    ) -> Self:
        """Append the result of a call; strings in `content` are templates."""
        fields = {"name": name, "function_id": function_id, "is_error": is_error}
        return self._add("function", compile_value(content), fields)

    def add_from_history(self, messages: Messages) -> Self:
        """Append a dialogue as it is now, or a list of messages, verbatim."""
        copied = read_messages(messages)
        self._slots.append(Constant(copied))
        return self

    def add_chat_history_placeholder(self, key: str) -> Self:
        """Append the place where the dialogue or messages among the values under `key` go."""
        check_name("The key of a history", key)

        def fill(values: Values) -> tuple[Message, ...]:
            if key not in values:
                raise PromptError(
                    f"The prompt needs a history under {key!r} among the values and none was "
                    "given: pass a dialogue or a list of messages."
                )
            return read_messages(values[key])

        self._slots.append(fill)
        return self

    def format(self, values: Any = None) -> list[Message]:
        """The messages, with the values of one call filled in.

        Args:
            values: values by name (a mapping, struct or dataclass); anything else is the value
                of `input`. Values that no template uses are passed over.

        Raises:
            PromptError: a value that a template needs is missing.
            ConfigurationError: what was filled in makes no legal message.
        """
        given = read_values(values)
        return [message for slot in self._slots for message in slot(given)]

    def _add(self, role: str, content: Slot, fields: Mapping[str, Any] | None = None) -> Self:
        fixed = {"role": role} | dict(fields or {})
        return self._append(lambda values: fixed | {"content": content(values)}, content)

    def _append(self, make: Slot, inner: Slot) -> Self:
        where = f"message {len(self._slots)} of the prompt"

        def fill(values: Values) -> tuple[Message]:
            return (read_message(make(values), where),)

        self._slots.append(Constant(fill({})) if isinstance(inner, Constant) else fill)
        return self


def _compile_content(content: TemplateContent) -> Slot:
    if isinstance(content, str | Literal):
        return compile_text(content)
    parts = [
        {"type": "text", "text": part} if isinstance(part, Literal) else part
        for part in list_of(content, "content")
    ]
    return compile_value(parts)
