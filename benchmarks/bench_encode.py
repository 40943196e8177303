"""What mapping functions costs a second call, as a share of what it cost the first.

    python benchmarks/bench_encode.py

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

from llm_tools import Llm, use_llm
from llm_tools.asking import encode_body

FUNCTIONS = 100
ROUNDS = 15
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


def measure(llm: Llm, *, strict: bool, first_batch: int) -> float:
    """The second call's time for the functions over the first's."""
    firsts, seconds, withouts = [], [], []
    for batch in range(first_batch, first_batch + ROUNDS):
        functions = make_functions(batch)
        again = copy.deepcopy(functions)
        firsts.append(_time(lambda given=functions: _encode(llm, given, strict)))
        seconds.append(_time(lambda given=again: _encode(llm, given, strict)))
        withouts.append(_time(lambda: _encode(llm, None, strict)))
    rest = median(withouts)
    return max(0.0, median(seconds) - rest) / (median(firsts) - rest)


def _encode(llm: Llm, functions: Any, strict: bool) -> None:
    """All that `call` does between the caller's values and the bytes it sends."""
    encoded = llm._encode(MESSAGES, functions, None, strict, None)  # noqa: SLF001 - one step of it
    encode_body(encoded.body)


def _time(run: Callable[[], None]) -> int:
    began = perf_counter_ns()
    run()
    return perf_counter_ns() - began


def main() -> int:
    """Print the ratios; 1 where one misses the aim."""
    gc.disable()
    worst, batch = 0.0, 0
    for key, options in MODELS.items():
        llm = use_llm(key, **options)
        for strict in (False, True):
            _encode(llm, make_functions(-1)[:1], strict)  # imports and other things done once
            ratio = measure(llm, strict=strict, first_batch=batch)
            batch += ROUNDS
            worst = max(worst, ratio)
            name = f"{llm.target.dialect.key}, {'strict' if strict else 'plain'}"
            print(f"{name:<32} second / first = {ratio:6.2%}")
    print(f"{'worst':<32} second / first = {worst:6.2%} (aim: under {AIM:.0%})")
    return 0 if worst < AIM else 1


if __name__ == "__main__":
    sys.exit(main())
