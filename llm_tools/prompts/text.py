"""A prompt that is one text."""

from __future__ import annotations

from typing import Any, Self

from ..content import Message
from ..history import legal_text
from .slots import Slot, compile_text
from .templates import Literal, read_values


class TextPrompt:
    """Templates that become one user message."""

    __slots__ = ("_slots",)

    def __init__(self, text: str | Literal | None = None) -> None:
        self._slots: list[Slot] = []
        if text is not None:
            self.add_text(text)

    def add_text(self, text: str | Literal) -> Self:
        """Append a template, as it is: no space or line break is put between.

        Raises:
            PromptError: a broken template.
        """
        self._slots.append(compile_text(text))
        return self

    def format(self, values: Any = None) -> list[Message]:
        """The text with the values filled in, as one user message.

        Raises:
            PromptError: a value that a template needs is missing.
        """
        given = read_values(values)
        text = "".join([slot(given) for slot in self._slots])
        return [Message(role="user", content=legal_text(text))]
