"""Messages on the wire, in legal order."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec.structs import replace

from ...content import JSON, Message, OutputResultImage, OutputResultText, ResultWarning
from ...errors import ConfigurationError, UnsupportedOptionError
from ...functions.preparing import PreparedFunctions
from ...history import NOT_COMPLETED
from ...remembering import Said, say
from ...rendering import (
    image_url,
    inline_image,
    legal_ids,
    parts_of,
    result_parts,
    result_text,
    system_text,
)
from ...spec import Body, Call, Target
from .quirks import ChatQuirks
from .turns import TurnRenderer

_LEFT_OUT = "[an image that this model cannot be shown]"


def render_messages(
    target: Target[ChatQuirks],
    call: Call,
    names: PreparedFunctions,
    instructions: str | None,
    *,
    reasoning: bool,
) -> Said:
    """The whole conversation; `instructions` follow the first system messages.

    Raises:
        ConfigurationError: there is nothing to send.
        UnsupportedOptionError: an image where the host takes none of its kind.
    """

    def render(messages: tuple[Message, ...]) -> Said:
        renderer = MessageRenderer(target, names, reasoning=reasoning)
        whole = messages is call.messages
        elements = renderer.render(messages, instructions if whole else None)
        return Said(elements, warnings=tuple(renderer.warnings))

    return say(
        call,
        render,
        (target, names),
        known_by=(instructions, reasoning),
        is_legal=_pattern(target.quirks.ids).fullmatch,
    )


class MessageRenderer:
    """Renders one conversation. Images that cannot stay where they are wait for a user message."""

    __slots__ = ("_images", "_out", "_target", "_turns", "warnings")

    def __init__(
        self, target: Target[ChatQuirks], names: PreparedFunctions, *, reasoning: bool
    ) -> None:
        self._target = target
        self._turns = TurnRenderer(target, names, reasoning=reasoning)
        self._out: list[JSON] = []
        self._images: list[JSON] = []
        self.warnings: list[ResultWarning] = []

    def render(self, messages: tuple[Message, ...], instructions: str | None) -> list[JSON]:
        """The whole conversation; `instructions` follow the first system messages.

        Raises:
            ConfigurationError: there is nothing to send.
            UnsupportedOptionError: an image where the host takes none of its kind.
        """
        quirks = self._target.quirks
        least = int(instructions is not None)
        messages = legal_ids(messages, _pattern(quirks.ids).fullmatch)
        if quirks.user_turn:
            messages = self._with_user_turn(messages)
        if not quirks.late_system:
            messages = self._with_system_first(messages)
        for message in messages:
            if instructions is not None and message.role != "system":
                self._system(instructions)
                instructions = None
            self._add(message)
        if instructions is not None:
            self._system(instructions)
        self._show_images()
        if len(self._out) == least:
            raise ConfigurationError("There is nothing to send: give at least one user message.")
        if quirks.prefix_mark and self._out and self._out[-1]["role"] == "assistant":
            self._out[-1]["prefix"] = True
        self.warnings += self._turns.warnings()
        return self._out

    def _add(self, message: Message) -> None:
        match message.role:
            case "function":
                self._result(message)
            case "system":
                self._show_images()
                self._system(system_text(message))
            case "user":
                self._out.append({"role": "user", "content": self._user_content(message)})
            case _:
                self._show_images()
                turn, images = self._turns.render(message)
                if turn is not None:
                    self._out.append(turn)
                    self._out += self._custom_results(turn.get("tool_calls", []))
                for image in images:
                    self._move("An image the assistant made:", [image])

    def _system(self, text: str) -> None:
        if text:
            self._out.append({"role": self._target.quirks.system_role, "content": text})

    def _user_content(self, message: Message) -> JSON:
        if isinstance(message.content, str) and not self._images:
            return message.content
        parts, self._images = self._images, []
        for part in parts_of(message):
            if isinstance(part, OutputResultImage):
                parts.append(self._image(part))
            elif isinstance(part, OutputResultText) and part.text.strip():
                parts.append({"type": "text", "text": part.text})
        if len(parts) == 1 and parts[0]["type"] == "text":
            return parts[0]["text"]
        return parts or ""

    def _image(self, part: OutputResultImage) -> JSON:
        """An image part.

        Raises:
            UnsupportedOptionError: the host takes none, or only inline ones.
        """
        taken, key = self._target.quirks.images, self._target.endpoint.key
        if taken == "refused":
            raise UnsupportedOptionError(
                f"{key} takes no images for {self._target.model}: leave them out, or use a model "
                "that sees."
            )
        if taken == "inline" and inline_image(part) is None:
            raise UnsupportedOptionError(
                f"{key} fetches no images: give the image as data, not as a URL."
            )
        return {"type": "image_url", "image_url": {"url": image_url(part)}}

    def _result(self, message: Message) -> None:
        quirks = self._target.quirks
        images = [x for x in result_parts(message) or () if isinstance(x, OutputResultImage)]
        content: JSON = result_text(message)
        if images and quirks.images == "refused":
            content = "\n".join(filter(None, [content, *[_LEFT_OUT for _ in images]]))
            self._warn("image_left_out", f"{message.name}: {len(images)} image(s) left out.")
        elif images and quirks.result_images:
            text = [{"type": "text", "text": content}] if content else []
            content = [*text, *[self._image(image) for image in images]]
        elif images:
            self._move(f"Returned by {message.name}:", images)
            content = content or "(see the image below)"
        result: dict[str, JSON] = {"role": "tool", "tool_call_id": message.function_id}
        if quirks.result_names:
            result["name"] = self._turns.wire_name(message.name or "")
        self._out.append({**result, "content": content})

    def _custom_results(self, calls: list[Body]) -> list[JSON]:
        """For calls of tools that are no functions: nobody here can run them."""
        custom = [call for call in calls if call["type"] == "custom"]
        for call in custom:
            detail = f"The custom tool call {call['id']!r} has no result; the model is told so."
            self._warn("call_not_completed", detail)
        return [
            {"role": "tool", "tool_call_id": call["id"], "content": NOT_COMPLETED}
            for call in custom
        ]

    def _move(self, words: str, images: list[OutputResultImage]) -> None:
        """Keep images for the user message that follows the turn or its results."""
        if self._target.quirks.images == "refused":
            self._warn("image_left_out", f"{words} left out, this model takes no images.")
            return
        self._images += [{"type": "text", "text": words}, *[self._image(x) for x in images]]
        self._warn("image_moved", f"{words} the image went out in a user message.")

    def _show_images(self) -> None:
        if self._images:
            self._out.append({"role": "user", "content": self._images})
            self._images = []

    def _with_user_turn(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        texts = [i for i, m in enumerate(messages) if m.role == "system" and system_text(m)]
        if not texts or any(message.role == "user" for message in messages):
            return messages
        last = texts[-1]
        self._warn("system_as_user", "The last system message went out as the user's.")
        as_user = replace(messages[last], role="user")
        return (*messages[:last], as_user, *messages[last + 1 :])

    def _with_system_first(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        roles = [message.role for message in messages]
        turn = roles.index("assistant") if "assistant" in roles else len(roles)
        if "system" not in roles[turn:]:
            return messages
        self._warn("system_hoisted", "A system message between turns went out before all of them.")
        return tuple(sorted(messages, key=lambda message: message.role != "system"))

    def _warn(self, code: str, detail: str) -> None:
        self.warnings.append(ResultWarning(code=code, detail=detail))


@lru_cache(maxsize=64)
def _pattern(ids: str) -> re.Pattern[str]:
    return re.compile(ids, re.ASCII)
