"""What mapping functions costs a second call, as a share of what it cost the first.

    python benchmarks/bench_encode.py [--quick]

A program offers the same functions call after call. The first call normalises, rewrites and encodes
them; a later one with equal functions only has to recognise them. For each wire, plain and strict,
this prints the second call's time for the functions over the first's. The time of everything else
is taken off by a call without functions in the same run. Under 5 % is the aim.
"""

from __future__ import annotations

import copy
import gc
import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter_ns
from typing import Any

from measuring import Effort, Row, main, make_row

from llm_tools import Llm, use_llm
from llm_tools.asking import encode_body

FUNCTIONS = 100
AIM = 0.05

MODELS: dict[str, dict[str, Any]] = {
    "openai.gpt-4o-mini": {},
    "openai.gpt-5.6": {},
    "anthropic.claude-opus-4-6": {},
    "amazon.us.anthropic.claude-sonnet-4-5-20250929-v1:0": {"region": "us-east-1"},
    "google.gemini-3-pro": {},
    "ollama.qwen3": {},
}

MESSAGES = [{"role": "user", "content": "What is the weather in Paris?"}]


def make_functions(batch: int) -> list[dict[str, Any]]:
    """A hundred functions as people write them; no two batches are alike."""
    return [_make_function(f"look_up_{number}", f"of batch {batch}") for number in range(FUNCTIONS)]


def _make_function(name: str, remark: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": f"Looks something up, {remark}.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "The name of a city"},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
                "days": {"type": "integer", "minimum": 1, "maximum": 14},
                "near": {
                    "type": "object",
                    "properties": {"latitude": {"type": "number"}, "longitude": {"type": "number"}},
                    "required": ["latitude", "longitude"],
                },
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["city"],
        },
    }


def measure(llm: Llm, *, strict: bool, batches: range) -> float:
    """The second call's time for the functions over the first's."""
    firsts, seconds, withouts = [], [], []
    for batch in batches:
        functions = make_functions(batch)
        again = copy.deepcopy(functions)
        firsts.append(_time(lambda given=functions: _encode(llm, given, strict)))
        seconds.append(_time(lambda given=again: _encode(llm, given, strict)))
        withouts.append(_time(lambda: _encode(llm, None, strict)))
    rest = median(withouts)
    return max(0.0, median(seconds) - rest) / (median(firsts) - rest)


def _encode(llm: Llm, functions: Any, strict: bool) -> None:
    """All that `call` does between the caller's values and the bytes it sends."""
    encoded = llm._ask().encode(MESSAGES, functions, None, strict, None, stream=False)  # noqa: SLF001 - one step of it
    encode_body(encoded.body)


def _time(run: Callable[[], None]) -> int:
    began = perf_counter_ns()
    run()
    return perf_counter_ns() - began


def rows(effort: Effort) -> list[Row]:
    """A row for each wire, plain and strict."""
    found = []
    batch, rounds = 0, effort.rounds + 6
    gc.disable()
    try:
        for key, options in MODELS.items():
            llm = use_llm(key, **options)
            for strict in (False, True):
                _encode(llm, make_functions(-1)[:1], strict)  # imports and other things done once
                ratio = measure(llm, strict=strict, batches=range(batch, batch + rounds))
                batch += rounds
                work = f"{FUNCTIONS} functions again, {'strict' if strict else 'plain'}"
                found.append(make_row(work, llm.target.dialect.key, [ratio], aim=AIM))
    finally:
        gc.enable()
    return found


if __name__ == "__main__":
    sys.exit(main("functions seen before", rows))
