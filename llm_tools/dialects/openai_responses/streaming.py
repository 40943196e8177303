"""A Responses stream: typed events in, neutral events out, one decoder for the whole answer.

Items are told apart by their id, and by their place in the output where a host changes ids
between events.
"""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import msgspec
from msgspec import Raw, Struct

from ...content import OutputResult, StreamEvent
from ...errors import ProviderError, ResponseDecodeError, StreamError
from ...faults import error_in_body, named_error
from ...reply import Reply, decode_json
from ...spec import Frame, Plan, StreamDecoder
from ...streamed_calls import BROKE_OFF, StreamedCalls
from .decoding import RESPONSE, Response, make_result, read_response
from .items import Item, ItemReader, is_unfinished, keep, text_of
from .slots import Slot


class _Event(Struct):
    """The fields read of any event; each event has some of them."""

    type: str = ""
    item_id: Any = None
    output_index: Any = None
    summary_index: Any = None
    content_index: Any = None
    delta: Any = None
    arguments: Any = None
    text: Any = None
    refusal: Any = None
    item: Any = None
    response: Raw = Raw()
    error: Any = None
    code: Any = None
    message: Any = None


_EVENT = msgspec.json.Decoder(_Event)


def open_stream(plan: Plan, headers: Mapping[str, str]) -> StreamDecoder:
    """A decoder for one stream."""
    return ResponsesStream(plan, headers)


class ResponsesStream:
    """Reads one stream; see `spec.StreamDecoder`."""

    __slots__ = ("_by_id", "_by_order", "_calls", "_handlers", "_head", "_headers", "_plan",
                 "_reasoned", "_result", "_slots")  # fmt: skip

    def __init__(self, plan: Plan, headers: Mapping[str, str]) -> None:
        self._plan = plan
        self._headers = headers
        self._head = Response()
        self._slots: list[Slot] = []
        self._by_id: dict[str, Slot] = {}
        self._by_order: dict[int, Slot] = {}
        self._calls = StreamedCalls(plan)
        self._reasoned: list[tuple[int, str]] = []
        self._result: OutputResult | None = None
        self._handlers: dict[str, Callable[[_Event], list[StreamEvent]]] = {
            "response.created": self._begin,
            "response.output_item.added": self._item_added,
            "response.output_item.done": self._item_done,
            "response.output_text.delta": self._text,
            "response.refusal.delta": self._refusal,
            "response.reasoning_summary_text.delta": self._thought,
            "response.reasoning_text.delta": self._thought,
            "response.function_call_arguments.delta": self._arguments,
            "response.output_text.done": self._told_whole,
            "response.refusal.done": self._told_whole,
            "response.reasoning_summary_text.done": self._told_whole,
            "response.reasoning_text.done": self._told_whole,
            "response.function_call_arguments.done": self._told_whole,
            "response.completed": self._end,
            "response.incomplete": self._end,
            "response.failed": self._end,
            "error": self._fail,
        }

    @property
    def ended(self) -> bool:
        """Whether the end mark has come."""
        return self._result is not None

    def feed(self, frame: Frame) -> list[StreamEvent]:
        """Events of one frame.

        Raises:
            ProviderError: the stream says that the answer failed; `result` holds what had come.
            StreamError: the frame is none of this wire.
        """
        if self._result is not None or frame.data in (b"", b"[DONE]"):
            return []
        try:
            event = decode_json(frame.data, _EVENT)
            handler = self._handlers.get(event.type or frame.event or "")
            if handler is not None:
                return handler(event)
        except ResponseDecodeError as broken:
            raise StreamError(
                f"An event of the stream could not be read. {broken}", result=self._partial()
            ) from broken
        if event.error:
            self._fail(event)
        return []

    def close(self) -> OutputResult:
        """The whole answer.

        Raises:
            StreamError: the stream ended without its end mark; `result` holds what had come.
        """
        if self._result is None:
            raise StreamError(
                "The stream broke off before its end: .result holds what came; call again.",
                result=self._partial(),
            )
        return self._result

    # ------------------------------------------------------------ items

    def _begin(self, event: _Event) -> list[StreamEvent]:
        self._head = decode_json(bytes(event.response), RESPONSE)
        return []

    def _item_added(self, event: _Event) -> list[StreamEvent]:
        if not isinstance(event.item, dict):
            return []
        slot = self._find(event.item.get("id"), event.output_index)
        if slot is None or slot.added:
            slot = self._open(event.item, event.output_index)
        slot.item, slot.added = event.item, True
        return self._name(slot, event.item)

    def _item_done(self, event: _Event) -> list[StreamEvent]:
        if not isinstance(event.item, dict):
            return []
        return self._take(event.item, event.output_index)

    def _take(self, item: Item, output_index: Any) -> list[StreamEvent]:
        """An item that has ended, whether or not the stream said that it began."""
        slot = self._find(item.get("id"), output_index)
        if slot is None or slot.done:
            slot = self._open(item, output_index)
        return self._finish(slot, item)

    def _finish(self, slot: Slot, item: Item) -> list[StreamEvent]:
        events = [*self._name(slot, item), *slot.finish(item)]
        if slot.kind == "reasoning" and (reasoning_id := text_of(item, "id")):
            insort(self._reasoned, (slot.order, reasoning_id))
        if slot.call is not None:
            whole = slot.whole()
            key = self._plan.target.replay_key
            slot.call.metadata = keep(key, whole, self._reasoning_before(slot))
            slot.call.settle(whole.get("arguments"))
            if not is_unfinished(whole, complete=False):
                events += self._calls.stop(slot.call)
        return events

    def _reasoning_before(self, slot: Slot) -> str | None:
        """The id of the reasoning that an item follows."""
        place = bisect(self._reasoned, (slot.order, ""))
        return self._reasoned[place - 1][1] if place else None

    def _name(self, slot: Slot, item: Item) -> list[StreamEvent]:
        """Announce a call once its name is known; pieces that came before it follow."""
        name = text_of(item, "name")
        if slot.call is not None or not name or item.get("type") != "function_call":
            return []
        slot.call, started = self._calls.start(name, text_of(item, "call_id"))
        early, slot.pieces = "".join(slot.pieces), []
        return [*started, *slot.arguments(early)] if early else started

    def _open(self, item: Item, output_index: Any, *, added: bool = True) -> Slot:
        order = output_index if isinstance(output_index, int) else len(self._slots)
        slot = Slot(item, order, added=added)
        self._slots.append(slot)
        self._by_order[order] = slot
        if item_id := text_of(item, "id"):
            self._by_id[item_id] = slot
        return slot

    def _find(self, item_id: Any, output_index: Any) -> Slot | None:
        slot = self._by_id.get(item_id) if isinstance(item_id, str) else None
        if slot is None and isinstance(output_index, int):
            slot = self._by_order.get(output_index)
        return slot

    # ------------------------------------------------------------ pieces

    def _slot(self, event: _Event, kind: str) -> Slot:
        """The slot of a piece; a host may not have said that its item was added."""
        slot = self._find(event.item_id, event.output_index)
        if slot is None:
            item = {"type": kind, "id": event.item_id}
            slot = self._open(item, event.output_index, added=False)
        return slot

    def _text(self, event: _Event) -> list[StreamEvent]:
        piece = _piece(event)
        return self._slot(event, "message").text(piece) if piece else []

    def _refusal(self, event: _Event) -> list[StreamEvent]:
        piece = _piece(event)
        return self._slot(event, "message").refusal(piece) if piece else []

    def _thought(self, event: _Event) -> list[StreamEvent]:
        piece = _piece(event)
        section = (event.type, event.summary_index, event.content_index)
        return self._slot(event, "reasoning").reasoning(piece, section) if piece else []

    def _arguments(self, event: _Event) -> list[StreamEvent]:
        piece = _piece(event)
        return self._slot(event, "function_call").arguments(piece) if piece else []

    def _told_whole(self, event: _Event) -> list[StreamEvent]:
        """A field that is done: some hosts tell it here alone, without pieces, not in the item."""
        slot = self._find(event.item_id, event.output_index)
        if slot is None or not slot.is_silent():
            return []
        match event:
            case _Event(arguments=str(whole)) if whole:
                return slot.arguments(whole)
            case _Event(refusal=str(whole)) if whole:
                return slot.refusal(whole)
            case _Event(text=str(whole)) if whole:
                return slot.reasoning(whole, ()) if slot.kind == "reasoning" else slot.text(whole)
        return []

    # ------------------------------------------------------------ the end

    def _end(self, event: _Event) -> list[StreamEvent]:
        """The terminal event: its head counts, and those of its items that had not ended before.

        Items are taken as they ended in the stream: the vendor advises so for reasoning.
        https://developers.openai.com/api/docs/guides/reasoning
        """
        response = decode_json(bytes(event.response), RESPONSE)
        events = self._last_items(response)
        complete = response.status == "completed"
        response.output = [
            slot.whole() if slot.done or complete else slot.broken_off()
            for slot in self._in_order()
        ]
        try:
            self._result = read_response(self._plan, response, self._headers)
        except ProviderError as error:
            error.result = self._partial()
            raise
        for slot in self._slots:
            unfinished = not slot.done or is_unfinished(slot.item, complete=complete)
            if slot.call is not None and unfinished:
                self._calls.drop(slot.call)
        if self._result.stop_reason == "error":
            return events
        return events + self._calls.end(cut_off=self._result.stop_reason == "length")

    def _last_items(self, response: Response) -> list[StreamEvent]:
        """Events of items that the stream did not say the end of."""
        events: list[StreamEvent] = []
        for place, item in enumerate(response.output or ()):
            slot = self._find(item.get("id"), place)
            if slot is None or not slot.done:
                events += self._take(item, place)
        if response.status == "completed":
            for slot in self._in_order():
                if not slot.done:
                    events += self._finish(slot, slot.whole())
        return events

    def _fail(self, event: _Event) -> NoReturn:
        endpoint = self._plan.target.endpoint.key
        error = error_in_body(endpoint, {"error": event.error}, self._headers)
        if error is None:
            error = named_error(
                endpoint,
                code=event.code if isinstance(event.code, str | int) else None,
                message=event.message if isinstance(event.message, str) else "",
                headers=self._headers,
            )
        error.result = self._partial()
        raise error

    def _partial(self) -> OutputResult:
        """What has come so far; no call of it may run."""
        reply = Reply(self._plan)
        reader = ItemReader(reply, self._plan.target.replay_key, complete=False)
        for slot in self._in_order():
            if slot.done:
                reader.read(slot.whole(), error=BROKE_OFF)
            else:
                slot.tell_unfinished(reply)
        return make_result(reply, self._head, self._headers, "error")

    def _in_order(self) -> list[Slot]:
        return sorted(self._slots, key=lambda slot: slot.order)


def _piece(event: _Event) -> str:
    return event.delta if isinstance(event.delta, str) else ""
