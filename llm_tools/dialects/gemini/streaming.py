"""A stream of `GenerateContentResponse`s as events."""

from __future__ import annotations

from collections.abc import Mapping

from ...content import OutputResult, ReasoningDelta, StreamEvent, TextDelta
from ...errors import ResponseDecodeError, StreamError
from ...reply import decode_json
from ...spec import Frame, Plan, StreamDecoder
from ...streamed_calls import WholeCalls
from .assembly import Assembly
from .decoding import raise_error, read_answer, split_candidates
from .reading import call_id, call_metadata, call_name
from .reasons import Stop, read_stop
from .wire import ANSWERS, Answer, Part

_BROKEN = Stop("error", None, "the stream broke off")


def open_stream(plan: Plan, headers: Mapping[str, str]) -> StreamDecoder:
    """A decoder for the stream of one call."""
    return GeminiStream(plan, headers)


class GeminiStream:
    """Chunks in, events out. Calls come whole; the end mark is a finish or a block reason."""

    __slots__ = ("_assembly", "_calls", "_ended", "_headers", "_plan")

    def __init__(self, plan: Plan, headers: Mapping[str, str]) -> None:
        self._plan = plan
        self._headers = headers
        self._assembly = Assembly()
        self._calls = WholeCalls(plan)
        self._ended = False

    @property
    def ended(self) -> bool:
        """Never for sure: some models give their reason with every chunk."""
        return False

    def feed(self, frame: Frame) -> list[StreamEvent]:
        """Events of one chunk, or of an array of chunks."""
        data = frame.data.strip()
        if not data or data == b"[DONE]":
            return []
        try:
            decoded = decode_json(data, ANSWERS)
        except ResponseDecodeError as error:
            raise StreamError(
                f"A piece of the stream could not be read ({error}); ask again.",
                result=self._read(_BROKEN),
            ) from error
        events: list[StreamEvent] = []
        for chunk in decoded if isinstance(decoded, list) else [decoded]:
            raise_error(self._plan, chunk, self._headers)
            events += self._take(chunk)
        return events

    def close(self) -> OutputResult:
        """The whole answer, read as one that came whole."""
        if not self._ended:
            raise StreamError(
                "The stream ended before the answer did (no finishReason came); ask again.",
                result=self._read(_BROKEN),
            )
        return self._read(None)

    def _take(self, chunk: Answer) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        for index, part in self._assembly.add(chunk):
            if index == 0:
                events += self._events_of(part)
        if chunk.may_end():
            events += self._end()
        return events

    def _end(self) -> list[StreamEvent]:
        """Look whether the answer is complete."""
        answer = self._assembly.answer
        first, _ = split_candidates(answer)
        stop = read_stop(answer, first, vertex_numbers=self._plan.target.quirks.vertex_numbers)
        self._ended = stop.name is not None
        if not self._ended or stop.reason == "error":
            return []
        return self._calls.end(cut_off=stop.reason == "length")

    def _events_of(self, part: Part) -> list[StreamEvent]:
        call = part.get("functionCall")
        if isinstance(call, dict):
            metadata = call_metadata(part, self._plan.target.replay_key)
            return self._calls.add(call_name(call), call.get("args"), call_id(call), metadata)
        text = part.get("text")
        if not text or not isinstance(text, str):
            return []
        return [ReasoningDelta(text=text) if part.get("thought") else TextDelta(text=text)]

    def _read(self, broken: Stop | None) -> OutputResult:
        whole = self._assembly.finish()
        return read_answer(self._plan, whole, self._headers, ids=self._calls.ids, broken=broken)
