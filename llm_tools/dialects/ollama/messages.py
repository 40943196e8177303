"""Messages as Ollama's `messages`."""

from __future__ import annotations

from collections.abc import Iterable

from ...content import (
    JSON,
    Message,
    OutputResultContent,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultReasoning,
    OutputResultRefusal,
    OutputResultText,
    ResultWarning,
)
from ...errors import ConfigurationError, UnsupportedOptionError
from ...functions.preparing import PreparedFunctions
from ...remembering import Said, say
from ...rendering import inline_image, own, parts_of, replayed_input, result_parts, result_text
from ...spec import Call, Target
from .quirks import OllamaQuirks

_IMAGE_MOVED = ResultWarning(
    code="image_moved",
    detail="Ollama takes no image inside a result: it went out in a user message after it.",
)
_REASONING_LEFT_OUT = ResultWarning(
    code="reasoning_left_out",
    detail="Reasoning this model cannot read back was left out of the history.",
)


class Rendered:
    """The conversation on the wire, in the making."""

    __slots__ = ("_functions", "_moved", "_target", "messages", "warnings")

    def __init__(self, target: Target[OllamaQuirks], functions: PreparedFunctions) -> None:
        self._target = target
        self._functions = functions
        self._moved: list[JSON] = []
        self.messages: list[JSON] = []
        self.warnings: list[ResultWarning] = []

    def add(self, message: Message) -> None:
        """One message; pictures out of results follow the last result of their turn."""
        if message.role == "function":
            self._add_result(message)
            return
        self.flush()
        if message.role == "assistant":
            self._add_assistant(message)
        else:
            self._add_plain(message)

    def flush(self) -> None:
        """The results of a turn are complete."""
        self.messages += self._moved
        self._moved = []

    def _add_plain(self, message: Message) -> None:
        parts = parts_of(message)
        text = "\n".join([part.text for part in parts if isinstance(part, OutputResultText)])
        images = self._images(parts)
        if text or images or message.role == "user":
            self.messages.append({"role": message.role, "content": text} | _images_field(images))

    def _add_assistant(self, message: Message) -> None:
        parts = parts_of(message)
        wire: dict[str, JSON] = {"role": "assistant", "content": _joined_text(parts)}
        thinking = self._thinking(parts)
        if thinking:
            wire["thinking"] = thinking
        wire |= _images_field(self._images(parts))
        calls = [self._call(part) for part in parts if isinstance(part, OutputResultFunctionUse)]
        if calls:
            wire["tool_calls"] = calls
        if len(wire) > 2 or wire["content"]:
            self.messages.append(wire)

    def _add_result(self, message: Message) -> None:
        name = self._functions.wire_name(message.name or "")
        self.messages.append(
            {
                "role": "tool",
                "tool_name": name,
                "tool_call_id": message.function_id,
                "content": result_text(message),
            }
        )
        images = self._images(result_parts(message) or ())
        if images:
            content = f"Image in the result of {name}:"
            self._moved.append({"role": "user", "content": content, "images": images})
            self._warn(_IMAGE_MOVED)

    def _call(self, use: OutputResultFunctionUse) -> JSON:
        function = {
            "name": self._functions.wire_name(use.name),
            "arguments": replayed_input(self._functions, use),
        }
        return {"id": use.function_id, "function": function}

    def _thinking(self, parts: Iterable[OutputResultContent]) -> str:
        reasoning = [part for part in parts if isinstance(part, OutputResultReasoning)]
        ours = [part.text for part in reasoning if own(part, self._target.replay_key) is not None]
        if len(ours) < len(reasoning):
            self._warn(_REASONING_LEFT_OUT)
        return "".join(ours)

    def _images(self, parts: Iterable[object]) -> list[str]:
        return [self._image(part) for part in parts if isinstance(part, OutputResultImage)]

    def _image(self, image: OutputResultImage) -> str:
        inline = inline_image(image)
        if inline is None:
            raise UnsupportedOptionError(
                f"{self._target.endpoint.key} fetches no image URLs: read the image and pass its "
                "base64 as data=, with media_type."
            )
        return inline.data

    def _warn(self, warning: ResultWarning) -> None:
        if warning not in self.warnings:
            self.warnings.append(warning)


def render_messages(
    target: Target[OllamaQuirks],
    call: Call,
    functions: PreparedFunctions,
    instructions: tuple[str, ...] = (),
) -> Said:
    """All messages in their order; `instructions` end the first system message.

    Raises:
        UnsupportedOptionError: an image that is only a URL.
        ConfigurationError: there is nothing to send.
    """

    def render(messages: tuple[Message, ...]) -> Said:
        rendered = Rendered(target, functions)
        for message in messages:
            rendered.add(message)
        rendered.flush()
        if not rendered.messages:
            raise ConfigurationError("There is nothing to send: give at least one user message.")
        if instructions and messages is call.messages:
            _instruct(rendered.messages, "\n\n".join(instructions))
        return Said(rendered.messages, warnings=tuple(rendered.warnings))

    return say(call, render, (target, functions), known_by=instructions)


def _instruct(messages: list[JSON], text: str) -> None:
    first = messages[0]
    if first["role"] == "system":
        first["content"] += f"\n\n{text}"
    else:
        messages.insert(0, {"role": "system", "content": text})


def _joined_text(parts: Iterable[OutputResultContent]) -> str:
    """The text of a turn; what stood on both sides of a call stays apart, blank text goes."""
    texts: list[str] = []
    apart = False
    for part in parts:
        if isinstance(part, OutputResultFunctionUse):
            apart = bool(texts)
        elif isinstance(part, OutputResultText | OutputResultRefusal) and part.text.strip():
            texts += ["\n\n", part.text] if apart else [part.text]
            apart = False
    return "".join(texts)


def _images_field(images: list[str]) -> dict[str, JSON]:
    return {"images": images} if images else {}
