"""Answers of Ollama's `/api/chat`."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st
from streaming.wires.exchange import COUNTS, INPUTS, TEXT, Draw, Exchange, as_json, cuts

HEAD = {"model": "m-1", "created_at": "2026-01-01T00:00:00.5Z"}


@st.composite
def exchanges(draw: Draw, names: list[str]) -> Exchange:
    """Thinking, text and calls; calls come whole."""
    thinking, content = draw(st.just("") | TEXT), draw(st.just("") | TEXT)
    calls = [
        {"function": {"name": draw(st.sampled_from(names)), "arguments": draw(INPUTS)}}
        | draw(st.sampled_from([{}, {"id": f"call_{number}"}]))
        for number in range(draw(st.integers(0, 3)))
    ]
    messages = [{"content": "", "thinking": piece} for piece in draw(cuts(thinking))]
    messages += [{"content": piece} for piece in draw(cuts(content))]
    messages += [{"content": "", "tool_calls": [call]} for call in calls]
    return _exchange(
        draw, messages, {"content": content, "thinking": thinking, "tool_calls": calls}
    )


@st.composite
def forced(draw: Draw, names: list[str]) -> Exchange:
    """A forced call, which the answer's text stands for."""
    call = {"name": draw(st.sampled_from(names)), "arguments": draw(INPUTS)}
    text = json.dumps(call)
    if draw(st.integers(0, 4)) == 0:
        text = draw(TEXT)
    messages = [{"content": piece} for piece in draw(cuts(text))]
    return _exchange(draw, messages, {"content": text})


def _exchange(draw: Draw, messages: list[Any], message: Any) -> Exchange:
    end = {"done": True, "done_reason": draw(st.sampled_from(["stop", "length", "load"]))}
    counts = {"prompt_eval_count": draw(COUNTS), "eval_count": draw(COUNTS)}
    lines = [{**HEAD, "message": {"role": "assistant", **one}, "done": False} for one in messages]
    last = {**HEAD, "message": {"role": "assistant", "content": ""}, **end, **counts}
    data = "".join([json.dumps(line, ensure_ascii=False) + "\n" for line in [*lines, last]])
    body = {**HEAD, "message": {"role": "assistant", **message}, **end, **counts}
    stream = data.encode()
    return Exchange(stream, as_json(body), len(stream) - 1, {})
