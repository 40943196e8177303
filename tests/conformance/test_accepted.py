"""Every body of the matrix is one that the vendors' own types and documented rules take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from conformance.wires import Wire, judge, wire_of
from functions.test_public_functions import public_functions
from matrix.scenes import AIMS, CELLS, ENDPOINTS, FRESH, FUNCTIONS, LOOP, SCHEMA, Aim
from matrix.test_parameters import GIVEN, INLINE, LINKED, WORDS

from llm_tools import ConfigurationError, Request

WITHOUT_FUNCTIONS: list[dict[str, Any]] = [
    {"messages": FRESH},
    {"messages": LOOP},
    {"messages": LOOP, "function_call": "none"},
    {"messages": FRESH, "json_schema": SCHEMA},
    {"messages": LOOP, "json_schema": SCHEMA},
    {"messages": [{"role": "system", "content": "Say hello."}]},
    {"messages": [*FRESH, {"role": "assistant", "content": "Sunny."}, *FRESH]},
]
IMAGES = [
    [{"role": "user", "content": [WORDS, INLINE]}],
    [{"role": "user", "content": [WORDS, LINKED]}],
    [*LOOP[:3], {**LOOP[3], "content": [WORDS, INLINE]}, *LOOP[4:]],
]


def vendor(aim: Aim, **options: Any) -> Wire:
    """The wire of a target; the test is skipped where its SDK is not installed."""
    dialect = aim.llm().target.dialect.key
    wire = wire_of(aim.key, dialect, api_version=options.get("api_version"))
    pytest.importorskip(wire.sdk, reason=f"{wire.sdk} has the types of {aim.key}")
    return wire


def made(*asks: Callable[[bool], Request]) -> Iterator[Request]:
    """What goes out, with and without a stream; what is refused goes nowhere."""
    for ask in asks:
        for stream in (False, True):
            try:
                yield ask(stream)
            except ConfigurationError:
                continue


def wrong(wire: Wire, requests: Iterator[Request]) -> dict[str, Any]:
    """Each complaint, with one body that it is about; alike bodies are judged once."""
    seen: set[str] = set()
    found: dict[str, Any] = {}
    for request in requests:
        key = repr(request.body)
        if key not in seen:
            seen.add(key)
            found |= dict.fromkeys(judge(wire, request.body), request.body)
    assert seen
    return found


@pytest.mark.parametrize("aim", AIMS, ids=str)
def test_the_whole_matrix(aim: Aim) -> None:
    """Every mode, strict or not, with a schema or not, fresh or after calls, streamed or not."""
    asks = [lambda stream, cell=cell: cell.ask(aim, stream=stream) for cell in CELLS]
    assert wrong(vendor(aim), made(*asks)) == {}


@pytest.mark.parametrize("aim", AIMS, ids=str)
def test_without_functions(aim: Aim) -> None:
    """Plain conversations, and such as hold calls of functions that are no longer offered."""
    llm = aim.llm()
    asks = [
        lambda stream, case=case: llm.build_request(**case, stream=stream)
        for case in WITHOUT_FUNCTIONS
    ]
    assert wrong(vendor(aim), made(*asks)) == {}


@pytest.mark.parametrize("aim", AIMS, ids=str)
def test_parameters(aim: Aim) -> None:
    """Each parameter that is not refused, alone and beside a forced call."""
    requests = made(
        *[
            lambda stream, one=one, mode=mode: aim.llm(**one).build_request(
                LOOP, functions=FUNCTIONS, function_call=mode, stream=stream
            )
            for one in ({name: value} for name, value in GIVEN.items())
            for mode in (None, "any")
        ],
        lambda stream: aim.llm().build_request(FRESH, stream=stream),
    )
    assert wrong(vendor(aim), requests) == {}


@pytest.mark.parametrize("aim", ENDPOINTS, ids=str)
def test_images(aim: Aim) -> None:
    """Images in user messages and in results, inline and by address."""
    llm = aim.llm()
    requests = made(
        *[
            lambda stream, case=case: llm.build_request(case, functions=FUNCTIONS, stream=stream)
            for case in IMAGES
        ],
        lambda stream: llm.build_request(FRESH, stream=stream),
    )
    assert wrong(vendor(aim), requests) == {}


AWKWARD = [
    {"name": "naïve name/with: everything", "parameters": {"type": "object", "properties": {}}},
    {"name": "9 lives"},
    {"name": "x" * 80, "description": ""},
    {
        "name": "arrays",
        "parameters": {
            "type": "object",
            "properties": {
                "plain": {"type": "array"},
                "either": {"anyOf": [{"type": "array"}, {"type": "null"}]},
                "pair": {"type": "array", "prefixItems": [{"type": "string"}, {}]},
            },
        },
    },
    {
        "name": "tree",
        "parameters": {
            "type": "object",
            "properties": {"root": {"$ref": "#/$defs/Node"}},
            "required": ["root"],
            "$defs": {
                "Node": {
                    "type": "object",
                    "properties": {
                        "value": {"type": ["integer", "string", "null"], "default": None},
                        "left": {"$ref": "#/$defs/Node", "description": "smaller"},
                    },
                }
            },
        },
    },
    {
        "name": "labels",
        "parameters": {
            "type": "object",
            "properties": {
                "of": {"type": "object", "additionalProperties": {"type": "string"}},
                "kind": {"const": "plain"},
                "size": {"type": "integer", "enum": [1, 2], "minimum": 0, "exclusiveMaximum": 9},
                "when": {"type": "string", "format": "date-time", "minLength": 1},
                "one": {"oneOf": [{"type": "string"}, {"type": "number"}]},
            },
        },
    },
]
AWKWARD_LOOP = [
    {"role": "user", "content": "Go."},
    {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "text": "Of another provider."},
            {
                "type": "function_use",
                "name": "naïve name/with: everything",
                "input": {},
                "functionId": "an id: no wire takes it, and it is far too long for all " + "x" * 40,
            },
            {"type": "function_use", "name": "gone", "input": {"a": [1, None]}, "functionId": ""},
        ],
    },
    {
        "role": "function",
        "name": "naïve name/with: everything",
        "functionId": "an id: no wire takes it, and it is far too long for all " + "x" * 40,
        "content": [1, 2],
    },
    {"role": "assistant", "content": "  "},
    {"role": "user", "content": ""},
    {"role": "system", "content": "Late."},
]


@pytest.mark.parametrize("aim", AIMS, ids=str)
def test_awkward_functions_and_histories(aim: Aim) -> None:
    """Illegal names and ids, schemas no vendor takes whole, turns that are blank or missing."""
    llm = aim.llm()
    requests = made(
        *[
            lambda stream, mode=mode, strict=strict, history=history: llm.build_request(
                history,
                functions=AWKWARD,
                function_call=mode,
                function_call_strict_input=strict,
                stream=stream,
            )
            for mode in ("auto", "none", {"name": "9 lives"}, {"names": ["tree", "x" * 80]})
            for strict in (False, True)
            for history in (FRESH, AWKWARD_LOOP)
        ],
        lambda stream: llm.build_request(AWKWARD_LOOP, stream=stream),
    )
    assert wrong(vendor(aim), requests) == {}


@pytest.mark.parametrize("model", ["claude-3-5-haiku-latest", "claude-haiku-4-5"])
def test_the_older_version_of_the_messages_api(model: str) -> None:
    """What was taken before sampling parameters went away."""
    aim = Aim("anthropic.chat.v1", model)
    options = {"api_version": "2023-06-01", "temperature": 0.5, "top_k": 3}
    asks = [lambda stream, cell=cell: cell.ask(aim, stream=stream, **options) for cell in CELLS]
    assert wrong(vendor(aim, **options), made(*asks)) == {}


@pytest.mark.parametrize("aim", ENDPOINTS, ids=str)
def test_public_functions(aim: Aim) -> None:
    """Hundreds of functions that others wrote, strict and not."""
    pytest.importorskip("bfcl_eval", reason="bfcl-eval ships the functions")
    some = public_functions()[::5]
    llm = aim.llm()
    requests = made(
        *[
            lambda stream, start=start, strict=strict: llm.build_request(
                FRESH,
                functions=some[start : start + 120],
                function_call_strict_input=strict,
                stream=stream,
            )
            for start in range(0, len(some), 120)
            for strict in (False, True)
        ],
        lambda stream: llm.build_request(FRESH, stream=stream),
    )
    assert wrong(vendor(aim), requests) == {}
