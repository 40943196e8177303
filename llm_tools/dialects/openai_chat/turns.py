"""Assistant turns on the wire: text, calls, and what the host itself left to be sent back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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
from ...functions.preparing import PreparedFunctions
from ...rendering import json_text, own, parts_of
from ...spec import Body, Target
from .quirks import ChatQuirks

# For calls the model did not make itself: ai.google.dev/gemini-api/docs/thought-signatures
_NO_SIGNATURE = {"google": {"thought_signature": "skip_thought_signature_validator"}}
_NO_REASONING = "(The thoughts behind these calls were not kept.)"
_STOOD_IN = ResultWarning(
    code="reasoning_stood_in",
    detail="Turns with calls that came without the provider's own thoughts got a stand-in.",
)
_LEFT_OUT = ResultWarning(
    code="reasoning_left_out",
    detail="Reasoning this model cannot read back was left out of the history.",
)


class TurnRenderer:
    """Renders assistant turns of one conversation.

    `reasoning`: the model is going to reason, so that hosts with `reasoning_required` want each
    turn with calls to say its thoughts.
    """

    __slots__ = ("_names", "_reasoning", "_target", "_told")

    def __init__(
        self, target: Target[ChatQuirks], names: PreparedFunctions, *, reasoning: bool
    ) -> None:
        self._target = target
        self._names = names
        self._reasoning = reasoning and target.quirks.reasoning_required
        self._told: dict[ResultWarning, None] = {}

    def render(self, message: Message) -> tuple[Body | None, list[OutputResultImage]]:
        """The turn (None: nothing of it can be said), and its images that have to go elsewhere."""
        turn = _Turn()
        for part in parts_of(message):
            self._add(turn, part)
        if turn.calls and self._reasoning and not turn.fields.get("reasoning_content"):
            turn.fields["reasoning_content"] = _NO_REASONING
            self._told[_STOOD_IN] = None
        if turn.calls and self._target.quirks.signatures and "extra_content" not in turn.fields:
            turn.calls[0].setdefault("extra_content", _NO_SIGNATURE)
        return turn.rendered(), turn.images

    def wire_name(self, name: str) -> str:
        """A function's name on the wire."""
        return self._names.wire_name(name)

    def warnings(self) -> list[ResultWarning]:
        """What was made up or left out on the way, each once."""
        return list(self._told)

    def _add(self, turn: _Turn, part: OutputResultContent) -> None:
        quirks = self._target.quirks
        match part:
            case OutputResultText():
                turn.text(part.text)
            case OutputResultFunctionUse():
                turn.calls.append(self._call(part))
                turn.apart = True
            case OutputResultReasoning():
                self._reasoning_part(turn, part)
            case OutputResultRefusal() if quirks.refusals and part.text.strip():
                turn.fields["refusal"] = turn.fields.get("refusal", "") + part.text
            case OutputResultRefusal():
                turn.text(part.text)
            case _:
                kept = own(part, self._target.replay_key)
                if kept is not None and quirks.assistant_images and "image" in kept:
                    turn.fields.setdefault("images", []).append(kept["image"])
                else:
                    turn.images.append(part)

    def _call(self, part: OutputResultFunctionUse) -> Body:
        given = self._names.wire_input(part.name, part.input)
        call: Body = {
            "id": part.function_id,
            "type": "function",
            "function": {"name": self.wire_name(part.name), "arguments": json_text(given)},
        }
        kept = own(part, self._target.replay_key) or {}
        if "extra_content" in kept and "extra_content" in self._target.quirks.replays:
            call["extra_content"] = kept["extra_content"]
        return call

    def _reasoning_part(self, turn: _Turn, part: OutputResultReasoning) -> None:
        """Another's reasoning is left out; the host's own goes back into the field it came in."""
        kept = own(part, self._target.replay_key) or {}
        if "chunk" in kept:
            turn.chunk(kept["chunk"])
        if _is_custom_call(kept.get("custom_call")):
            turn.calls.append(kept["custom_call"])
            turn.apart = True
            return
        taken = [
            item for item in _fields(kept, part.text) if item[0] in self._target.quirks.replays
        ]
        turn.fields.update(taken)
        if not taken and "chunk" not in kept:
            self._told[_LEFT_OUT] = None


def _is_custom_call(call: Any) -> bool:
    match call:
        case {"id": str(), "type": "custom", "custom": dict()}:
            return True
    return False


def _fields(kept: dict[str, Any], text: str) -> Iterator[tuple[str, JSON]]:
    """The fields of the message that a reasoning part came from."""
    if "field" in kept and text:
        yield kept["field"], text
    if "details" in kept:
        yield "reasoning_details", kept["details"]
    if "extra_content" in kept:
        yield "extra_content", kept["extra_content"]


class _Turn:
    """One turn in the making."""

    __slots__ = ("apart", "calls", "content", "fields", "images", "listed")

    def __init__(self) -> None:
        self.content: list[Any] = []
        self.calls: list[Body] = []
        self.fields: Body = {}
        self.images: list[OutputResultImage] = []
        self.listed = False
        self.apart = False

    def text(self, text: str) -> None:
        """Text; what is blank is left out, what stands apart stays apart."""
        if not text.strip():
            return
        if self.apart and self.content:
            self.content.append("\n\n")
        self.apart = False
        self.content.append(text)

    def chunk(self, chunk: JSON) -> None:
        """A chunk of the host's own content list: the content must be a list again."""
        self.content.append(chunk)
        self.listed = True

    def rendered(self) -> Body | None:
        """The message; None where there is neither text nor call."""
        content = self._content()
        said = any(isinstance(item, str) for item in self.content)
        if not (said or self.calls or "refusal" in self.fields or "images" in self.fields):
            return None
        turn: Body = {"role": "assistant", "content": content, **self.fields}
        if self.calls:
            turn["tool_calls"] = self.calls
        return turn

    def _content(self) -> JSON:
        if not self.listed:
            return "".join(self.content) or None
        return [
            {"type": "text", "text": item} if isinstance(item, str) else item
            for item in self.content
        ]


def lacks_reasoning(messages: tuple[Message, ...], replay_key: str) -> bool:
    """Whether a turn with calls comes without this host's own `reasoning_content`."""
    return any(
        _calls_without_reasoning(parts_of(message), replay_key)
        for message in messages
        if message.role == "assistant"
    )


def _calls_without_reasoning(parts: tuple[OutputResultContent, ...], replay_key: str) -> bool:
    if not any(isinstance(part, OutputResultFunctionUse) for part in parts):
        return False
    return not any(
        (own(part, replay_key) or {}).get("field") == "reasoning_content" and part.text
        for part in parts
        if isinstance(part, OutputResultReasoning)
    )
