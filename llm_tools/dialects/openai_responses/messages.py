"""The conversation as `instructions` and `input` items."""

from __future__ import annotations

import re
from typing import NamedTuple

from msgspec.structs import replace

from ...content import (
    Message,
    OutputResultContent,
    OutputResultImage,
    OutputResultText,
    ResultWarning,
)
from ...errors import ConfigurationError, UnsupportedOptionError
from ...functions.preparing import PreparedFunctions
from ...remembering import Said, say
from ...rendering import (
    image_url,
    legal_ids,
    parts_of,
    result_parts,
    result_text,
    system_text,
)
from ...spec import Body, Call, Target
from .quirks import ResponsesQuirks
from .repeats import without_repeats
from .turns import write_turn

_IS_LEGAL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}").fullmatch


class Conversation(NamedTuple):
    """The part of the body that is said, and what was lost or moved in it."""

    body: Body
    warnings: tuple[ResultWarning, ...]


def encode_messages(
    target: Target[ResponsesQuirks],
    call: Call,
    functions: PreparedFunctions | None,
) -> Conversation:
    """System messages in front become `instructions`, all others items, in order.

    Raises:
        ConfigurationError: there is nothing to send.
    """

    def render(messages: tuple[Message, ...]) -> Said:
        return _render(_Writer(target, functions), messages)

    said = say(call, render, (target, functions), is_legal=_IS_LEGAL_ID)
    return Conversation({"input": said.elements, **said.body}, said.warnings)


def _render(writer: _Writer, messages: tuple[Message, ...]) -> Said:
    messages = writer.with_user_turn(legal_ids(messages, _IS_LEGAL_ID))
    start = next((i for i, message in enumerate(messages) if message.role != "system"), 0)
    for message in messages[start:]:
        writer.write(message)
    if not writer.items:
        raise ConfigurationError("There is nothing to send: add a user message that is not empty.")
    instructions = "\n\n".join(filter(None, map(system_text, messages[:start])))
    body: Body = {"instructions": instructions} if instructions else {}
    items, ids = without_repeats(writer.items, writer.warn)
    return Said(items, body, tuple(writer.warnings.values()), ids=ids)


class _Writer:
    """Input items in the making; each kind of warning is given once."""

    def __init__(
        self, target: Target[ResponsesQuirks], functions: PreparedFunctions | None
    ) -> None:
        self.items: list[Body] = []
        self.warnings: dict[str, ResultWarning] = {}
        self._target = target
        self._functions = functions

    def warn(self, code: str, detail: str) -> None:
        self.warnings.setdefault(code, ResultWarning(code=code, detail=detail))

    def with_user_turn(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """The messages; of system messages alone, the last that says something is the user's."""
        if any(message.role != "system" for message in messages):
            return messages
        texts = [i for i, message in enumerate(messages) if system_text(message)]
        if not texts:
            return messages
        self.warn("system_as_user", "The last system message went out as the user's message.")
        last = texts[-1]
        as_user = replace(messages[last], role="user")
        return (*messages[:last], *messages[last + 1 :], as_user)

    def write(self, message: Message) -> None:
        match message.role:
            case "system":
                self._add(message.role, system_text(message))
            case "user":
                self._check_images(message)
                self._add(message.role, _user_content(message))
            case "assistant":
                self.items += write_turn(message, self._target, self._functions, self.warn)
            case _:
                self._result(message)

    def _check_images(self, message: Message) -> None:
        if not self._target.quirks.images and any(map(_is_image, parts_of(message))):
            raise UnsupportedOptionError(
                f"{self._target.model} sees no images: describe them in text, or use another model."
            )

    def _add(self, role: str, content: str | list[Body]) -> None:
        if content:
            self.items.append({"role": role, "content": content})

    def _result(self, message: Message) -> None:
        parts = result_parts(message) or ()
        output: str | list[Body] = result_text(message)
        if any(map(_is_image, parts)):
            if self._target.quirks.images:
                output = _result_content(message, parts)
            else:
                detail = f"{self._target.model} sees no images: those of results were left out."
                self.warn("image_left_out", detail)
        self.items.append(
            {"type": "function_call_output", "call_id": message.function_id, "output": output}
        )


def _is_image(part: OutputResultContent) -> bool:
    return isinstance(part, OutputResultImage)


def _user_content(message: Message) -> str | list[Body]:
    """A string as it is; parts as input parts, without blank text."""
    if isinstance(message.content, str):
        return message.content
    content = []
    for part in parts_of(message):
        if isinstance(part, OutputResultImage):
            content.append(_render_image(part))
        elif isinstance(part, OutputResultText) and part.text.strip():
            content.append(_render_text(part.text))
    return content


def _result_content(
    message: Message, parts: tuple[OutputResultText | OutputResultImage, ...]
) -> list[Body]:
    """Text and images in order; of an error, its text (marked) first."""
    if message.is_error:
        images = [_render_image(part) for part in parts if isinstance(part, OutputResultImage)]
        return [_render_text(result_text(message)), *images]
    return [
        _render_image(part) if isinstance(part, OutputResultImage) else _render_text(part.text)
        for part in parts
    ]


def _render_text(text: str) -> Body:
    return {"type": "input_text", "text": text}


def _render_image(part: OutputResultImage) -> Body:
    return {"type": "input_image", "image_url": image_url(part), "detail": "auto"}
