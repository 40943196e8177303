"""Prompts: messages with `{{ name }}` templates, filled with the values of one call."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from typing import Any, Protocol

from ..content import Message
from ..errors import ConfigurationError
from .chat import ChatPrompt
from .templates import Literal
from .text import TextPrompt

__all__ = [
    "ChatPrompt",
    "Literal",
    "Prompt",
    "TextPrompt",
    "create_chat_prompt",
    "create_prompt",
]


class Prompt(Protocol):
    """What executors need of a prompt."""

    def format(self, values: Any = None) -> list[Message]:
        """The messages, with the values of one call filled in."""


_KINDS: Mapping[str, type[ChatPrompt] | type[TextPrompt]] = {
    "chat": ChatPrompt,
    "text": TextPrompt,
}


@typing.overload
def create_prompt(
    kind: typing.Literal["chat"] = "chat", text: str | Literal | None = None
) -> ChatPrompt: ...
@typing.overload
def create_prompt(
    kind: typing.Literal["text"], text: str | Literal | None = None
) -> TextPrompt: ...
def create_prompt(kind: str = "chat", text: str | Literal | None = None) -> ChatPrompt | TextPrompt:
    """A prompt that grows by its `add_*` methods.

    Args:
        kind: `"chat"` (messages of all roles) or `"text"` (one user message).
        text: the first template: the system message of a chat, the text of a text prompt.

    Raises:
        ConfigurationError: another kind.
        PromptError: a broken template.
    """
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ConfigurationError(
            f"create_prompt({kind!r}): the kinds are 'chat' and 'text', and the template comes "
            "after the kind: create_prompt('text', '…')."
        )
    return _KINDS[kind](text)


def create_chat_prompt(system: str | Literal | None = None) -> ChatPrompt:
    """A chat prompt, with a system message where a template for it is given.

    Raises:
        PromptError: a broken template.
    """
    return ChatPrompt(system)
