"""Reading Ollama's own chat wire."""

from __future__ import annotations

import json

from recordings.reading import Call, Reading, Record, Usage


def read(record: Record) -> Reading:
    """What the exchange says; a stream is the sum of its lines."""
    lines = [record.body]
    if record.stream is not None:
        lines = [json.loads(line) for line in record.stream.decode().split("\n") if line.strip()]
    reading = Reading(broken=not lines[-1].get("done"))
    for line in lines:
        reading.broken |= bool(line.get("error"))
        message = line.get("message") or {}
        reading.text += message.get("content") or ""
        reading.reasoning |= bool(message.get("thinking"))
        for call in message.get("tool_calls") or []:
            function = call["function"]
            reading.calls.append(Call(function["name"], function.get("arguments"), call.get("id")))
        if line.get("done"):
            reading.finish = line.get("done_reason")
            reading.usage = _usage(line)
    reading.cut = reading.finish == "length"
    return reading


def _usage(line: dict[str, int]) -> Usage | None:
    if "eval_count" not in line and "prompt_eval_count" not in line:
        return None
    return Usage(input=line.get("prompt_eval_count", 0), output=line.get("eval_count", 0))
