"""Streams through framing and decoder, and what must hold of their events."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec
from streaming.wires import chat, converse, gemini, messages, ollama, responses
from streaming.wires.exchange import FUNCTIONS, Exchange

from llm_tools import set_id_factory, use_llm
from llm_tools.content import (
    FunctionInputDelta,
    FunctionUseDone,
    FunctionUseStart,
    OutputResult,
    OutputResultReasoning,
    OutputResultRefusal,
    ReasoningDelta,
    RefusalDelta,
    StreamEvent,
    TextDelta,
)
from llm_tools.errors import LlmToolsError
from llm_tools.functions.arguments import read_arguments
from llm_tools.spec import Plan
from llm_tools.transport.framing import create_framing


@dataclass(frozen=True)
class Wire:
    """A model, a generator of its answers, and options of the call they answer."""

    key: str
    exchanges: Any
    options: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def llm(self) -> Any:
        """The model, offline."""
        key, _, model = self.key.partition("/")
        return use_llm(key, model=model or None, api_key="k", **self.settings)

    @cached_property
    def plan(self) -> Plan:
        """What decoding knows of the request."""
        options = {"function_call": None, "strict": False, **self.options}
        encoded = self.llm._ask().encode(
            "Hi", FUNCTIONS, options["function_call"], options["strict"], None, stream=True
        )
        plan: Plan = encoded.plan
        return plan

    def draw(self, **ways: Any) -> Any:
        """Answers whose calls have names the model knows."""
        functions = self.plan.functions
        assert functions is not None
        return self.exchanges([item.wire_name for item in functions.items], **ways)

    def framer(self) -> Any:
        """A fresh framer of its stream."""
        target = self.llm.target
        return create_framing(target.endpoint.framing or target.dialect.framing)


AWS = {"region": "us-east-1"}
STRICT = {"strict": True}
CLAUDE = "anthropic.claude-haiku-4-5-20251001-v1:0"
WIRES = {
    "chat": Wire("openai.chat.v1/gpt-4o-mini", chat.exchanges),
    "chat, strict": Wire("openai.chat.v1/gpt-4o-mini", chat.exchanges, STRICT),
    "responses": Wire("openai.responses.v1/gpt-5.6", responses.exchanges),
    "responses, strict": Wire("openai.responses.v1/gpt-5.6", responses.exchanges, STRICT),
    "messages": Wire("anthropic.claude-haiku-4-5", messages.exchanges),
    "messages on AWS": Wire(
        f"amazon:anthropic.chat.v1/{CLAUDE}",
        lambda names: messages.exchanges(names, framed=True),
        settings=AWS,
    ),
    "converse": Wire(f"amazon.converse.v1/{CLAUDE}", converse.exchanges, settings=AWS),
    "gemini": Wire("google.gemini-3-flash", gemini.exchanges),
    "gemini, array": Wire(
        "google.gemini-3-flash", lambda names: gemini.exchanges(names, array=True)
    ),
    "vertex, partial": Wire(
        "vertex.gemini-3-flash",
        lambda names: gemini.exchanges(names, partial=True),
        settings={"project": "p", "location": "global"},
    ),
    "ollama": Wire("ollama.qwen3", ollama.exchanges),
    "ollama, forced": Wire("ollama.qwen3", ollama.forced, {"function_call": "any"}),
}


@dataclass
class Told:
    """What a stream came to: its events, and a result or an error."""

    events: list[StreamEvent]
    result: OutputResult | None = None
    error: LlmToolsError | None = None


def tell(plan: Plan, framer: Any, pieces: Iterable[bytes], headers: dict[str, str]) -> Told:
    """Read pieces of a stream to the end, or to what is wrong with them."""
    with counted_ids():
        decoder = plan.target.dialect.open_stream(plan, headers)
        told = Told([])
        try:
            for piece in pieces:
                for frame in framer.feed(piece):
                    told.events += decoder.feed(frame)
            for frame in framer.close():
                told.events += decoder.feed(frame)
            told.result = decoder.close()
        except LlmToolsError as error:
            told.error = error
        return told


def whole(plan: Plan, exchange: Exchange) -> OutputResult:
    """The result of the whole form."""
    with counted_ids():
        return plan.target.dialect.decode(plan, exchange.body, exchange.headers)


class counted_ids:  # noqa: N801 - a context manager
    """Minted ids that can be told from others and are the same in each reading."""

    def __enter__(self) -> None:
        numbers = itertools.count()
        set_id_factory(lambda: f"minted{next(numbers)}")

    def __exit__(self, *_: object) -> None:
        set_id_factory(None)


def cut(data: bytes, sizes: list[int]) -> list[bytes]:
    """The bytes in pieces of these lengths, over and over."""
    pieces: list[bytes] = []
    start = 0
    for size in itertools.cycle(sizes):
        if start >= len(data):
            break
        pieces.append(data[start : start + size])
        start += size
    return pieces


def plain(value: Any) -> Any:
    """Anything as JSON data, minted ids all alike."""
    return _alike(msgspec.to_builtins(value))


def _alike(value: Any) -> Any:
    match value:
        case dict():
            return {key: _alike(item) for key, item in value.items()}
        case list() | tuple():
            return [_alike(item) for item in value]
        case str() if value.startswith("minted"):
            return "minted"
        case _:
            return value


def check_events(told: Told) -> None:
    """The deltas add up to the result; every call is announced, and done if it may run."""
    result, events = told.result, told.events
    assert result is not None
    assert "".join([e.text for e in events if isinstance(e, TextDelta)]) == result.text
    thought = [p.text for p in result.content if isinstance(p, OutputResultReasoning)]
    assert "".join([e.text for e in events if isinstance(e, ReasoningDelta)]) == "".join(thought)
    refused = [p.text for p in result.content if isinstance(p, OutputResultRefusal)]
    assert "".join([e.text for e in events if isinstance(e, RefusalDelta)]) == "".join(refused)
    calls = {call.function_id: call for call in result.function_calls}
    starts = {e.index: (e.name, e.function_id) for e in events if isinstance(e, FunctionUseStart)}
    assert sorted(starts) == list(range(len(calls)))
    assert sorted(starts.values()) == sorted((call.name, key) for key, call in calls.items())
    check_done(told, result)
    inputs = dict.fromkeys(starts, "")
    begun: set[int] = set()
    for event in events:
        match event:
            case FunctionUseStart(index=index):
                assert index not in begun
                begun.add(index)
            case FunctionInputDelta(index=index, partial_json=piece):
                assert index in begun
                assert piece
                inputs[index] += piece
    for index, text in inputs.items():
        if calls[starts[index][1]].input_error is None:
            assert read_arguments(text, repair=True).error is None


def check_done(told: Told, result: OutputResult) -> None:
    """Calls that are done are those of the result, each once, none that was cut off."""
    calls = result.function_calls
    starts = {e.index: e.function_id for e in told.events if isinstance(e, FunctionUseStart)}
    done = [event for event in told.events if isinstance(event, FunctionUseDone)]
    assert len({event.index for event in done}) == len(done)
    if result.stop_reason == "error":
        # What the provider called malformed at the end may have been fit to run before.
        assert len(done) < max(1, len(calls))
        return
    for event in done:
        assert event.function_use in calls
        assert event.function_use.function_id == starts[event.index]
    if told.result is not None:
        cut_off = result.stop_reason == "length"
        last = len(calls) - 1
        expected = [
            call.function_id
            for number, call in enumerate(calls)
            if not (cut_off and number == last) and "broke" not in (call.input_error or "")
        ]
        assert sorted(event.function_use.function_id for event in done) == sorted(expected)
