"""Recorded answers through the library: decoded, streamed in pieces, and compared with a reading."""

from __future__ import annotations

from typing import Any

import pytest
from recordings.reading import UNREADABLE, Call, Reading, Record, arguments_value
from recordings.reading_errors import error_class

from llm_tools import faults
from llm_tools.content import (
    FunctionInputDelta,
    FunctionUseDone,
    FunctionUseStart,
    Message,
    OutputResult,
    OutputResultFunctionUse,
    OutputResultReasoning,
    OutputResultRefusal,
    ReasoningDelta,
    RefusalDelta,
    StreamEvent,
    TextDelta,
)
from llm_tools.errors import ProviderError, ResponseDecodeError, StreamError
from llm_tools.registry import find_dialect
from llm_tools.spec import Call as Asked, Endpoint, Framing, Plan, Target
from llm_tools.transport.framing import create_framing

PIECES = (0, 1, 7, 64)
"""How long the pieces of a stream are; 0 is the whole at once."""


def plan_for(record: Record, dialect: str, quirks: dict[str, Any]) -> Plan:
    """A plan that knows nothing of the request but who answers."""
    found = find_dialect(dialect)
    target = Target(
        endpoint=Endpoint(key="recorded", dialect=dialect, quirks=quirks),
        dialect=found,
        model=record.model or "recorded",
        quirks=found.quirks(**quirks),
    )
    return Plan(target=target, call=Asked(messages=(Message(role="user", content="Hi"),)))


def check_whole(record: Record, reading: Reading, plan: Plan) -> None:
    """A whole answer decodes to what its bytes say, a failed one to an error."""
    decode = plan.target.dialect.decode
    if reading.broken:
        with pytest.raises((ProviderError, ResponseDecodeError)):
            decode(plan, record.body_bytes, record.headers)
    else:
        check_result(reading, decode(plan, record.body_bytes, record.headers))


def check_stream(record: Record, reading: Reading, plan: Plan, framing: Framing) -> None:
    """A stream, cut anywhere, gives the same events and what its bytes say."""
    first: list[StreamEvent] | None = None
    for size in PIECES:
        if reading.broken:
            with pytest.raises((ProviderError, StreamError)):
                stream(record, plan, framing, size)
            continue
        events, result = stream(record, plan, framing, size)
        check_result(reading, result)
        check_events(events, result)
        comparable = [_without_minted_id(event, reading) for event in events]
        first = first or comparable
        assert comparable == first


def check_error(record: Record) -> None:
    """An answer of status 300 and more gives the class its status and body name."""
    error = faults.provider_error(
        "recorded", status=record.status, body=record.body_bytes, headers=record.headers
    )
    assert type(error).__name__ == error_class(record)
    assert error.status == record.status


def stream(
    record: Record, plan: Plan, framing: Framing, size: int
) -> tuple[list[StreamEvent], OutputResult]:
    """The events and the result of a recorded stream."""
    data = record.body_bytes
    framer = create_framing(framing)
    decoder = plan.target.dialect.open_stream(plan, record.headers)
    events: list[StreamEvent] = []
    pieces = [data[start : start + size] for start in range(0, len(data), size)] if size else [data]
    try:
        for frames in (*map(framer.feed, pieces), framer.close()):
            for frame in frames:
                events += decoder.feed(frame)
    except ProviderError:
        with pytest.raises(StreamError) as broken:
            decoder.close()
        assert not events or isinstance(broken.value.result, OutputResult)
        raise
    return events, decoder.close()


def check_result(reading: Reading, result: OutputResult) -> None:
    """The result says what the reading says."""
    assert result.text == reading.text
    assert _reasons(result) == reading.reasoning
    refusals = [part.text for part in result.content if isinstance(part, OutputResultRefusal)]
    assert "".join(refusals) == reading.refusal
    assert len(result.function_calls) == len(reading.calls)
    for use, call in zip(result.function_calls, reading.calls, strict=True):
        last = call is reading.calls[-1]
        _check_call(use, call, result, cut=reading.cut and last)
    ids = [use.function_id for use in result.function_calls]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    assert (result.provider_stop_reason or None) == reading.finish
    _check_usage(reading, result)
    if reading.cut:
        assert result.stop_reason == "length"
    elif reading.calls:
        assert result.stop_reason in ("function_use", "error")


def check_events(events: list[StreamEvent], result: OutputResult) -> None:
    """The deltas add up to the result, and every call is announced, told and done once."""
    assert "".join([e.text for e in events if isinstance(e, TextDelta)]) == result.text
    thought = "".join([e.text for e in events if isinstance(e, ReasoningDelta)])
    assert bool(thought) == _reasons(result)
    refused = "".join([e.text for e in events if isinstance(e, RefusalDelta)])
    assert bool(refused) == any(isinstance(part, OutputResultRefusal) for part in result.content)
    calls = result.function_calls
    starts = [e for e in events if isinstance(e, FunctionUseStart)]
    assert [(e.index, e.name, e.function_id) for e in starts] == [
        (number, call.name, call.function_id) for number, call in enumerate(calls)
    ]
    done = {e.index: e.function_use for e in events if isinstance(e, FunctionUseDone)}
    expected = calls[:-1] if result.stop_reason == "length" else calls
    assert [done[index] for index in sorted(done)] == expected
    for event in events:
        if isinstance(event, FunctionInputDelta):
            assert 0 <= event.index < len(calls)


def _reasons(result: OutputResult) -> bool:
    return any(
        isinstance(part, OutputResultReasoning) and bool(part.text) for part in result.content
    )


def _check_call(
    use: OutputResultFunctionUse, call: Call, result: OutputResult, *, cut: bool
) -> None:
    assert use.name == call.name
    if call.id and call.id != "null":
        assert use.function_id == call.id
    expected = arguments_value(call.arguments)
    if cut or expected is UNREADABLE:
        assert use.input_error is not None or _is_repaired(result)
    elif use.input_error is None:
        assert use.input == expected
    else:
        assert result.stop_reason == "error"


def _is_repaired(result: OutputResult) -> bool:
    return any(warning.code == "arguments_repaired" for warning in result.warnings)


def _check_usage(reading: Reading, result: OutputResult) -> None:
    if reading.usage is None:
        assert result.usage is None
        return
    assert result.usage is not None
    assert {
        "input": result.usage.input_tokens,
        "output": result.usage.output_tokens,
        "cached": result.usage.cached_input_tokens,
        "written": result.usage.cache_write_tokens,
        "reasoning": result.usage.reasoning_tokens,
    } == vars(reading.usage)
    assert result.usage.total_tokens == reading.usage.input + reading.usage.output


def _without_minted_id(event: StreamEvent, reading: Reading) -> Any:
    """An event as far as two readings of a stream must agree: minted ids differ."""
    known = {call.id for call in reading.calls}
    if isinstance(event, FunctionUseStart) and event.function_id not in known:
        return (event.index, event.name)
    if isinstance(event, FunctionUseDone) and event.function_use.function_id not in known:
        return (event.index, event.function_use.name, event.function_use.input)
    return event
