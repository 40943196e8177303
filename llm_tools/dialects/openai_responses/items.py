"""Output items, one by one, into a `Reply`, with what their replay needs."""

from __future__ import annotations

from typing import Any, TypeAlias

from ...content import Metadata
from ...reply import Reply

Item: TypeAlias = dict[str, Any]

UNFINISHED = "the provider broke this call off; its arguments are incomplete"


def text_of(item: Item, key: str) -> str:
    """A text field; empty where it is missing or no text."""
    value = item.get(key)
    return value if isinstance(value, str) else ""


def reasoning_text(item: Item) -> str:
    """Summaries, then what the model thought in full, as far as either is shown."""
    parts = [*_parts(item, "summary"), *_parts(item, "content")]
    return "\n\n".join(filter(None, [text_of(part, "text") for part in parts]))


def content_of(message: Item) -> list[Item]:
    """The parts of a message; some hosts give a bare string."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "output_text", "text": content}]
    return _parts(message, "content")


def is_unfinished(item: Item, *, complete: bool) -> bool:
    """Whether a call was broken off; `complete`: whether the answer as a whole was not."""
    status = item.get("status")
    return status == "incomplete" or (status == "in_progress" and not complete)


def keep(replay_key: str, item: Item, after: str | None, part: Item | None = None) -> Metadata:
    """What a part keeps for replay; see the turns this dialect writes."""
    kept: dict[str, Any] = {"item": item}
    if part is not None:
        kept["part"] = part
    if after is not None:
        kept["after"] = after
    return {replay_key: kept}


class ItemReader:
    """Reads the items of one answer in order.

    Every part keeps its item for replay, and the id of the reasoning before it: the server takes
    an item with an id only after its reasoning.
    """

    __slots__ = ("_after", "_complete", "_key", "_reply")

    def __init__(self, reply: Reply, replay_key: str, *, complete: bool) -> None:
        self._reply = reply
        self._key = replay_key
        self._complete = complete
        self._after: str | None = None

    def read(self, item: Item, *, error: str | None = None) -> None:
        """Take an item of any type; a type unknown here is carried along.

        `error` is why it may not run, if it is a call.
        """
        match text_of(item, "type"):
            case "message" | "":
                self._message(item)
            case "reasoning":
                self._reasoning(item)
            case "function_call":
                self._call(item, error)
            case "image_generation_call":
                self._image(item)
            case _:
                self._carry(item)

    def _keep(self, item: Item, part: Item | None = None) -> Metadata:
        return keep(self._key, item, self._after, part)

    def _carry(self, item: Item) -> None:
        """Tools the provider runs itself, and whatever comes to be."""
        self._reply.carry(self._keep(item))

    def _reasoning(self, item: Item) -> None:
        self._reply.reasoning(reasoning_text(item), metadata=self._keep(item))
        self._after = text_of(item, "id") or self._after

    def _call(self, item: Item, error: str | None) -> None:
        if is_unfinished(item, complete=self._complete):
            error = UNFINISHED
        self._reply.function_use(
            text_of(item, "name"),
            item.get("arguments"),
            text_of(item, "call_id"),
            metadata=self._keep(item),
            error=error,
        )

    def _message(self, item: Item) -> None:
        content = content_of(item)
        if not content:
            self._carry(item)
            return
        envelope = {key: value for key, value in item.items() if key != "content"}
        for part in content:
            self._content(envelope, part)

    def _content(self, envelope: Item, part: Item) -> None:
        match part.get("type"):
            case "output_text" | "text" if text_of(part, "text"):
                rest = {key: part[key] for key in part if key not in ("text", "annotations")}
                citations = tuple(_parts(part, "annotations"))
                metadata = self._keep(envelope, rest)
                self._reply.text(text_of(part, "text"), citations=citations, metadata=metadata)
            case "refusal":
                if self._after is not None:
                    # Reasoning is refused without the message it led to, and a refusal keeps none.
                    self._reply.carry(self._keep(envelope, part))
                self._reply.refusal(text_of(part, "refusal"))
            case _:
                self._reply.carry(self._keep(envelope, part))

    def _image(self, item: Item) -> None:
        data = text_of(item, "result")
        if not data:
            self._carry(item)
            return
        rest = {key: value for key, value in item.items() if key != "result"}
        media_type = f"image/{text_of(item, 'output_format') or 'png'}"
        self._reply.image(data=data, media_type=media_type, metadata=self._keep(rest))


def _parts(item: Item, key: str) -> list[Item]:
    value = item.get(key)
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []
