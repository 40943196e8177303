"""One assistant turn as input items: the target's own replayed verbatim, foreign ones rendered.

What a part keeps under the replay key is `{"item": …, "part": …, "after": …}`: the provider's
item (of a message: without its content), the content part (without its text), and the id of the
reasoning item before it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ...content import (
    Message,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultReasoning,
    OutputResultRefusal,
    OutputResultText,
)
from ...functions.preparing import PreparedFunctions
from ...history import NOT_COMPLETED
from ...rendering import json_text, own, parts_of
from ...spec import Body, Target
from .quirks import ResponsesQuirks

Warn = Callable[[str, str], None]


def write_turn(
    message: Message,
    target: Target[ResponsesQuirks],
    functions: PreparedFunctions | None,
    warn: Warn,
) -> list[Body]:
    """The items of a turn, in order."""
    turn = _Turn(target, functions, warn)
    for part in parts_of(message):
        match part:
            case OutputResultText():
                turn.text(part)
            case OutputResultFunctionUse():
                turn.call(part)
            case OutputResultReasoning():
                turn.carried(part)
            case OutputResultRefusal():
                turn.refusal(part)
            case _:
                turn.image(part)
    return turn.finish()


class _Entry(msgspec.Struct):
    """An item on its way out; `own` if this provider made it, `after` which reasoning."""

    item: Body
    own: bool = False
    after: str | None = None

    @property
    def kind(self) -> Any:
        return self.item.get("type")


class _Turn:
    def __init__(
        self, target: Target[ResponsesQuirks], functions: PreparedFunctions | None, warn: Warn
    ) -> None:
        self._entries: list[_Entry] = []
        self._replay_key = target.replay_key
        self._quirks = target.quirks
        self._functions = functions
        self._warn = warn

    def text(self, part: OutputResultText) -> None:
        kept = self._kept(part)
        if kept is None:
            self._plain_text(part.text)
        else:
            annotations = list(part.citations)
            content = {**kept.get("part", {}), "text": part.text, "annotations": annotations}
            self._message_part(kept, content)

    def call(self, part: OutputResultFunctionUse) -> None:
        kept = self._kept(part) or {}
        own_item = kept.get("item", {})
        wire_name = self._functions.wire_name(part.name) if self._functions else part.name
        item = {
            **own_item,
            "type": "function_call",
            "call_id": part.function_id,
            "name": wire_name,
            "arguments": self._arguments(part, own_item.get("arguments")),
        }
        self._entries.append(_Entry(item, own=bool(own_item), after=kept.get("after")))

    def carried(self, part: OutputResultReasoning) -> None:
        """Reasoning and blocks that are neither text nor call: own ones only."""
        kept = self._kept(part)
        if kept is None or self._is_unwelcome(kept["item"]):
            if part.text or part.provider_metadata:
                self._warn("reasoning_left_out", "Reasoning this model cannot read was left out.")
        elif "part" in kept:
            self._message_part(kept, kept["part"])
        else:
            self._entries.append(_Entry(kept["item"], own=True, after=kept.get("after")))

    def refusal(self, part: OutputResultRefusal) -> None:
        """The words, unless the message they came in is replayed anyway."""
        last = self._entries[-1].item.get("content") if self._entries else None
        said = [content.get("refusal") for content in last] if isinstance(last, list) else []
        if part.text not in said:
            self._plain_text(part.text)

    def image(self, part: OutputResultImage) -> None:
        kept = self._kept(part)
        if kept is None:
            self._warn("image_left_out", "An image of the model's could not be replayed.")
        else:
            item = {**kept["item"], "result": part.data}
            self._entries.append(_Entry(item, own=True, after=kept.get("after")))

    def finish(self) -> list[Body]:
        """The items; reasoning nothing of its own follows, and ids that need it, are taken out.

        The server refuses both: reasoning "without its required following item", and an item
        with an id "without its required reasoning item".
        """
        entries = self._without_stray_reasoning()
        reasoning = {entry.item.get("id") for entry in entries if entry.kind == "reasoning"}
        for entry in entries:
            if entry.after is not None and entry.after not in reasoning:
                entry.item = without_id(entry.item)
        if self._quirks.calls_last:
            entries.sort(key=lambda entry: entry.kind == "function_call")
        items = [entry.item for entry in entries]
        return [*items, *self._custom_outputs(items)]

    def _custom_outputs(self, items: list[Body]) -> list[Body]:
        """For calls of tools that are no functions: nobody here can run them."""
        if not self._quirks.custom_outputs:
            return []
        outputs: list[Body] = []
        for item in items:
            if item.get("type") != "custom_tool_call":
                continue
            call_id = item.get("call_id")
            detail = f"The custom tool call {call_id!r} has no result; the model is told so."
            self._warn("call_not_completed", detail)
            output = {"call_id": call_id, "output": NOT_COMPLETED}
            outputs.append({"type": "custom_tool_call_output", **output})
        return outputs

    def _without_stray_reasoning(self) -> list[_Entry]:
        kept: list[_Entry] = []
        followed = False
        for entry in reversed(self._entries):
            if entry.kind != "reasoning":
                followed = entry.own
            elif not followed:
                self._warn("reasoning_left_out", "Reasoning that led to nothing was left out.")
                continue
            kept.append(entry)
        return kept[::-1]

    def _kept(self, part: Any) -> dict[str, Any] | None:
        """What this target left on a part, if it is of this wire."""
        kept = own(part, self._replay_key)
        if kept is None or not isinstance(kept.get("item"), dict):
            return None
        ids = (kept["item"].get("id"), kept.get("after"))
        return kept if all(isinstance(value, str | None) for value in ids) else None

    def _is_unwelcome(self, item: Body) -> bool:
        return item.get("type") == "reasoning" and self._quirks.reasoning == "never"

    def _plain_text(self, text: str) -> None:
        """Text of unknown origin; what stands together becomes one message."""
        if not text.strip():
            return
        last = self._entries[-1] if self._entries else None
        if last is not None and not last.own and "role" in last.item:
            last.item = {**last.item, "content": last.item["content"] + text}
        else:
            self._entries.append(_Entry({"role": "assistant", "content": text}))

    def _message_part(self, kept: dict[str, Any], content: Body) -> None:
        """A part of an own message; parts of one message stay together."""
        envelope = kept["item"]
        last = self._entries[-1] if self._entries else None
        if last is not None and "id" in envelope and last.item.get("id") == envelope["id"]:
            last.item = {**last.item, "content": [*last.item["content"], content]}
        else:
            item = {**envelope, "content": [content]}
            self._entries.append(_Entry(item, own=True, after=kept.get("after")))

    def _arguments(self, part: OutputResultFunctionUse, raw: Any) -> str:
        """The arguments as they came, as long as they still say what `part.input` says."""
        if part.input_error is not None:
            return "{}"
        known = self._functions.by_name.get(part.name) if self._functions else None
        if isinstance(raw, str) and raw:
            try:
                value = msgspec.json.decode(raw)
                if known is not None and known.restore is not None and isinstance(value, dict):
                    value = known.restore(value)
            except (msgspec.DecodeError, RecursionError):
                value = None
            if value == part.input:
                return raw
        functions = self._functions
        return json_text(functions.wire_input(part.name, part.input) if functions else part.input)


def without_id(item: Body) -> Body:
    """An own item without its id; a message then takes the short form, which needs none."""
    if item.get("type") != "message":
        return {key: value for key, value in item.items() if key != "id"}
    texts = [part.get("text") or part.get("refusal") or "" for part in item["content"]]
    short: Body = {"role": "assistant", "content": "".join(texts)}
    if item.get("phase"):
        short["phase"] = item["phase"]
    return short
