"""Kinds of Chat Completions streams that clients get wrong, through the public interface."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streaming.offline import Heard, content, every_cut, hear, model

from llm_tools.content import FunctionInputDelta, FunctionUseStart, OutputResult, Usage
from llm_tools.errors import (
    LlmToolsError,
    OverloadedError,
    ProviderError,
    RateLimitError,
    ServerError,
    StreamError,
)

pytestmark = pytest.mark.anyio
FUNCTIONS = [{"name": name} for name in ("pick", "pick_two", "stop_now", "weigh")]
HEAD = {"id": "x-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def chunk(delta: Any, reason: str | None = None, **rest: Any) -> dict[str, Any]:
    return {**HEAD, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **rest}


def call(index: Any = None, call_id: Any = None, name: Any = None, text: Any = None) -> Any:
    """A piece of a call; what is None is left out."""
    function = {"name": name, "arguments": text}
    piece = {"index": index, "id": call_id, "function": {k: v for k, v in function.items() if v is not None}}  # fmt: skip
    return {key: value for key, value in piece.items() if value is not None}


def calls(*pieces: Any) -> dict[str, Any]:
    return chunk({"tool_calls": list(pieces)})


def sse(*payloads: Any, done: bool = True) -> bytes:
    texts = [one if isinstance(one, str) else json.dumps(one) for one in payloads]
    return "".join(
        [f"data: {text}\n\n" for text in [*texts, *(["[DONE]"] if done else [])]]
    ).encode()


END = chunk({}, "tool_calls")


def use(name: str, given: Any, function_id: str) -> dict[str, Any]:
    return {"type": "function_use", "name": name, "input": given, "functionId": function_id}


async def heard_of(data: bytes, size: int) -> Heard:
    return await hear(model("chat", data, size), functions=FUNCTIONS)


def check_calls(heard: Heard, *expected: Any) -> None:
    """The calls, by id; each may run; the fragments of each add up to its arguments."""
    assert heard.error is None
    assert heard.result is not None
    assert content(heard.result) == list(expected)
    uses = heard.result.function_calls
    assert sorted(heard.done, key=uses.index) == uses
    inputs: dict[int, str] = {}
    starts: dict[int, str] = {}
    for event in heard.events:
        match event:
            case FunctionUseStart(index=index, function_id=function_id):
                starts[index] = function_id
            case FunctionInputDelta(index=index, partial_json=piece):
                inputs[index] = inputs.get(index, "") + piece
    assert sorted(starts.values()) == sorted(one.function_id for one in uses)
    assert inputs.keys() <= starts.keys()


A, B, C = use("pick", {"n": 1}, "a"), use("weigh", {"kg": 2.5}, "b"), use("pick", {"n": 3}, "c")

KINDS: dict[str, tuple[list[Any], list[Any]]] = {
    # ------------------------------------------------ without an index
    "no index: by id in every piece, in turns": (
        [calls(call(None, "a", "pick", "")), calls(call(None, "b", "weigh", "")),
         calls(call(None, "a", None, '{"n":')), calls(call(None, "b", None, '{"kg":')),
         calls(call(None, "a", None, " 1}")), calls(call(None, "b", None, " 2.5}")), END],
        [A, B],
    ),
    "no index: null": (
        [calls({"index": None, **call(None, "a", "pick", '{"n": 1}')}),
         calls({"index": None, **call(None, "b", "weigh", '{"kg": 2.5}')}), END],
        [A, B],
    ),
    "no index: arguments as objects": (
        [calls(call(None, "a", "pick", {"n": 1}), call(None, "b", "weigh", {"kg": 2.5})), END],
        [A, B],
    ),
    "no index: three calls, the same function twice": (
        [calls(call(None, "a", "pick", '{"n"')), calls(call(None, None, None, ": 1}")),
         calls(call(None, "b", "weigh", '{"kg": 2.5}')),
         calls(call(None, "c", "pick", "")), calls(call(None, None, None, '{"n": 3}')), END],
        [A, B, C],
    ),
    "no index at first, then one": (
        [calls(call(None, "a", "pick", '{"n": 1}')), calls(call(1, "b", "weigh", '{"kg"')),
         calls(call(1, None, None, ": 2.5}")), END],
        [A, B],
    ),
    "every call under the index 0": (
        [calls(call(0, "a", "pick", '{"n": 1}')), calls(call(0, "b", "weigh", '{"kg": 2.5}')),
         calls(call(0, "c", "pick", '{"n": 3}')), END],
        [A, B, C],
    ),
    "every call under the index 0, in pieces": (
        [calls(call(0, "a", "pick", "")), calls(call(0, None, None, '{"n":')),
         calls(call(0, None, None, " 1}")), calls(call(0, "b", "weigh", "")),
         calls(call(0, None, None, '{"kg": 2.5}')), END],
        [A, B],
    ),
    # ------------------------------------------------ in turns
    "three in turns": (
        [calls(call(0, "a", "pick", ""), call(1, "b", "weigh", "")), calls(call(2, "c", "pick", "")),
         calls(call(2, None, None, '{"n"')), calls(call(0, None, None, '{"n"')),
         calls(call(1, None, None, '{"kg"'), call(0, None, None, ": ")),
         calls(call(2, None, None, ": 3}")), calls(call(1, None, None, ": 2.5}")),
         calls(call(0, None, None, "1}")), END],
        [A, B, C],
    ),
    "the second whole before the first grows": (
        [calls(call(0, "a", "pick", "")), calls(call(1, "b", "weigh", '{"kg": 2.5}')),
         calls(call(0, None, None, '{"n": 1}')), END],
        [A, B],
    ),
    "the last first": (
        [calls(call(2, "c", "pick", '{"n": 3}')), calls(call(1, "b", "weigh", '{"kg": 2.5}')),
         calls(call(0, "a", "pick", '{"n": 1}')), END],
        [A, B, C],
    ),
    "indexes with a gap": (
        [calls(call(0, "a", "pick", '{"n": 1}')), calls(call(7, "b", "weigh", '{"kg": 2.5}')), END],
        [A, B],
    ),
    "an id after the other call began": (
        [calls(call(0, None, "pick", '{"n":')), calls(call(1, "b", "weigh", '{"kg":')),
         calls(call(0, "a", None, " 1}")), calls(call(1, None, None, " 2.5}")), END],
        [A, B],
    ),
    "text between the pieces": (
        [calls(call(0, "a", "pick", '{"n":')), chunk({"content": "So"}),
         calls(call(0, None, None, " 1}")), chunk({"content": "!"}), END],
        [{"type": "text", "text": "So!"}, A],
    ),
    # ------------------------------------------------ what repeats, comes late, is empty or null
    "all of it in every piece": (
        [calls({"type": "function", **call(0, "a", "pick", piece)}) for piece in ('{"n"', ":", "1}")]
        + [END],
        [A],
    ),
    "a name that grows": (
        [calls(call(0, "a", name, "")) for name in ("pi", "pick")]
        + [calls(call(0, None, None, '{"n": 1}')), END],
        [A],
    ),
    "a name in three pieces": (
        [calls(call(0, "a", "pi", "")), calls(call(0, None, "ck_", "")),
         calls(call(0, None, "two", "")), calls(call(0, None, None, "{}")), END],
        [use("pick_two", {}, "a")],
    ),
    "a name in pieces, of which the first is one too": (
        [calls(call(0, "a", "pick", "")), calls(call(0, None, "_two", "")),
         calls(call(0, None, None, '{"n": 1}')), END],
        [use("pick_two", {"n": 1}, "a")],
    ),
    "the name last": (
        [calls(call(0, "a", None, '{"n":')), calls(call(0, None, None, " 1}")),
         calls(call(0, None, "pick", "")), END],
        [A],
    ),
    "an empty name, then null, then the name": (
        [calls(call(0, "a", "", "")), calls({"index": 0, "function": {"name": None}}),
         calls(call(0, "a", "pick", '{"n": 1}')), END],
        [A],
    ),
    "no function in a piece": (
        [calls(call(0, "a", "pick", '{"n":')), calls({"index": 0, "function": None}),
         calls({"index": 0}), calls(call(0, "", "", " 1}")), END],
        [A],
    ),
    "another id in every piece": (
        [calls(call(0, "a", "pick", '{"n":')), calls(call(0, "a-2", None, " 1")),
         calls(call(0, "a-3", None, "}")), END],
        [A],
    ),
    "the whole arguments once more at the end": (
        [calls(call(0, "a", "pick", "")), calls(call(0, "a", "pick", '{"n": 1}')), END],
        [A],
    ),
    # ------------------------------------------------ chunks of other shapes
    "no choices, no delta, null lists, odd fields": (
        [{"choices": [], "prompt_filter_results": []}, {"choices": None}, {"id": "y"},
         {"choices": [{"index": 0, "content_filter_results": {}, "finish_reason": None}]},
         {"choices": [{"index": 0, "delta": None, "finish_reason": None}]},
         {"choices": [{}]}, chunk({"tool_calls": None, "content": None}), chunk({"tool_calls": []}),
         calls(call(0, "a", "pick", '{"n": 1}')), END],
        [A],
    ),
    "a reason beside the last piece": (
        [calls(call(0, "a", "pick", '{"n":')),
         {**HEAD, "choices": [{"index": 0, "delta": {"tool_calls": [call(0, None, None, " 1}")]},
                               "finish_reason": "tool_calls"}]}],
        [A],
    ),
    "the reason twice": ([calls(call(0, "a", "pick", '{"n": 1}')), END, chunk({}, "stop")], [A]),
    "no reason at all": ([calls(call(0, "a", "pick", '{"n": 1}'))], [A]),
    "an empty reason": ([calls(call(0, "a", "pick", '{"n": 1}')), chunk({}, "")], [A]),
    "stop": ([calls(call(0, "a", "pick", '{"n": 1}')), chunk({}, "stop")], [A]),
    "eos": ([calls(call(0, "a", "pick", '{"n": 1}')), chunk({}, "eos")], [A]),
    # ------------------------------------------------ arguments
    "none": ([calls(call(0, "a", "stop_now")), END], [use("stop_now", {}, "a")]),
    "empty": ([calls(call(0, "a", "stop_now", "")), END], [use("stop_now", {}, "a")]),
    "null": (
        [calls({"index": 0, "id": "a", "function": {"name": "stop_now", "arguments": None}}), END],
        [use("stop_now", {}, "a")],
    ),
    "null in words": ([calls(call(0, "a", "stop_now", "null")), END], [use("stop_now", {}, "a")]),
    "braces, then the object": (
        [calls(call(0, "a", "pick", "{}")), calls(call(0, None, None, '{"n":')),
         calls(call(0, None, None, " 1}")), END],
        [A],
    ),
    "braces, another call, then the object": (
        [calls(call(0, "a", "pick", "{}")), calls(call(1, "b", "weigh", "{}")),
         calls(call(0, None, None, '{"n": 1}')), calls(call(1, None, None, '{"kg": 2.5}')), END],
        [A, B],
    ),
    "in a fence": (
        [calls(call(0, "a", "pick", "```json\n")), calls(call(0, None, None, '{"n": 1}\n```')), END],
        [A],
    ),
    "a comma too many": ([calls(call(0, "a", "pick", '{"n": 1,}')), END], [A]),
    "encoded twice": ([calls(call(0, "a", "pick", json.dumps('{"n": 1}'))), END], [A]),
    "a prefix before the name": ([calls(call(0, "a", "functions.pick", '{"n": 1}')), END], [A]),
    "another prefix": ([calls(call(0, "a", "default_api:pick", '{"n": 1}')), END], [A]),
    "a prefix and a number": ([calls(call(0, "a", "functions.pick:0", '{"n": 1}')), END], [A]),
    "marks behind the name": (
        [calls(call(0, "a", "pick<|channel|>commentary", '{"n": 1}')), END], [A],
    ),
    "blanks around the name": ([calls(call(0, "a", " pick\n", '{"n": 1}')), END], [A]),
}  # fmt: skip


@every_cut
@pytest.mark.parametrize("kind", KINDS)
async def test_calls(kind: str, size: int) -> None:
    """Every call is there once, under its own name and id, in the provider's order, and may run."""
    chunks, expected = KINDS[kind]
    check_calls(await heard_of(sse(*chunks), size), *expected)


@every_cut
@pytest.mark.parametrize("ids", [("a", "a"), ("", ""), (None, None), ("a", ""), ("null", "null")])
async def test_ids_that_are_missing_or_taken(ids: tuple[Any, Any], size: int) -> None:
    """Both calls stay, under ids of their own."""
    chunks = [
        calls({"index": n, "id": one, "function": {"name": "pick", "arguments": f'{{"n": {n}}}'}})
        for n, one in enumerate(ids)
    ]
    heard = await heard_of(sse(*chunks, END), size)
    assert heard.result is not None
    uses = heard.result.function_calls
    assert [one.input for one in uses] == [{"n": 0}, {"n": 1}]
    assert len({one.function_id for one in uses}) == 2
    assert all(one.function_id not in ("", "null") for one in uses)
    assert heard.done == uses
    assert ids[0] != "a" or uses[0].function_id == "a"


@every_cut
@pytest.mark.parametrize(
    "last",
    [
        [chunk({}, "stop", usage={"prompt_tokens": 11, "completion_tokens": 7})],
        [chunk({}, "stop"), {**HEAD, "choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7}}],
        [chunk({}, "stop"), {"usage": {"prompt_tokens": 11, "completion_tokens": 7}}],
        [chunk({}, "stop", usage=None), chunk({}, None, usage={"prompt_tokens": 11, "completion_tokens": 7})],
    ],
)  # fmt: skip
async def test_usage_wherever_it_stands(last: list[Any], size: int) -> None:
    """Beside the reason or after it; running counts before it are replaced."""
    early = chunk({"content": "Hi"}, usage={"prompt_tokens": 11, "completion_tokens": 1})
    heard = await heard_of(sse(early, *last), size)
    assert heard.result is not None
    assert heard.result.text == "Hi"
    assert heard.result.usage == Usage(input_tokens=11, output_tokens=7)


# ---------------------------------------------------------------- events, however they are written

TOLD = [chunk({"content": "Hi é😀\u2028\u0085"}), calls(call(0, "a", "pick", '{"n": 1}')), END]
LINES = [json.dumps(one, ensure_ascii=False) for one in TOLD]
PRETTY = [json.dumps(one, ensure_ascii=False, indent=1) for one in TOLD]
WRITTEN: dict[str, str] = {
    "no space": "".join(f"data:{line}\n\n" for line in LINES) + "data:[DONE]\n\n",
    "spaces": "".join(f"data:   {line}  \n\n" for line in LINES) + "data:  [DONE] \n\n",
    "tabs": "".join(f"data:\t{line}\n\n" for line in LINES) + "data: [DONE]\n\n",
    "CRLF": "".join(f"data: {line}\r\n\r\n" for line in LINES) + "data: [DONE]\r\n\r\n",
    "CR": "".join(f"data: {line}\r\r" for line in LINES) + "data: [DONE]\r\r",
    "mixed line ends": "\n".join(f"data: {line}\r\n\r" for line in LINES) + "\n",
    "many blank lines": "\n\n\n" + "".join(f"data: {line}\n\n\n\n" for line in LINES),
    "one value on many lines": "".join(
        "".join(f"data: {part}\n" for part in one.split("\n")) + "\n" for one in PRETTY
    ),
    "comments everywhere": "".join(f": ping\n:\ndata: {line}\n: in between\n\n" for line in LINES)
    + ": x-cost=0\ndata: [DONE]\n\n: bye\n\n",
    "a comment glued to the event": "".join(f":hm\ndata: {line}\n\n" for line in LINES),
    "other fields": "".join(
        f"id: {n}\nretry: 10\nevent: chunk\nfoo\nbar: baz\ndata: {line}\n\n"
        for n, line in enumerate(LINES)
    ),
    "a mark before the text": "\ufeff" + "".join(f"data: {line}\n\n" for line in LINES),
    "a mark and CRLF": "\ufeff\r\n" + "".join(f"data: {line}\r\n\r\n" for line in LINES),
    "empty events": "data:\n\ndata\n\n" + "".join(f"data: {line}\n\ndata: \n\n" for line in LINES),
    "events without data": "event: ping\n\nid: 1\n\n"
    + "".join(f"data: {line}\n\nevent: ping\n\n" for line in LINES),
    "no blank line at the end": "\n\n".join(f"data: {line}" for line in LINES),
    "one line end at the end": "\n\n".join(f"data: {line}" for line in LINES) + "\n",
    "text after the end": "".join(f"data: {line}\n\n" for line in LINES)
    + "data: [DONE]\n\ndata: nonsense\n\n",
}


@every_cut
@pytest.mark.parametrize("way", WRITTEN)
async def test_one_stream_in_any_writing(way: str, size: int) -> None:
    """Line ends, comments, fields and marks change nothing."""
    heard = await heard_of(WRITTEN[way].encode(), size)
    check_calls(heard, {"type": "text", "text": "Hi é😀\u2028\u0085"}, A)


# ---------------------------------------------------------------- what goes wrong

BEGUN = [chunk({"content": "Let me"}), calls(call(0, "a", "pick", '{"n": 1}'))]
FAILURES: dict[str, tuple[Any, type[LlmToolsError], bool]] = {
    "an error of the host": ({"error": {"code": 502, "message": "gone"}}, ServerError, True),
    "beside a choice": (
        {**chunk({"content": ""}, "error"), "error": {"code": 503, "message": "gone"}},
        ServerError,
        True,
    ),
    "in words": ({"error": "overloaded"}, ProviderError, True),
    "by type": ({"error": {"type": "rate_limit_error", "message": "slow"}}, RateLimitError, True),
    "too many": ({"error": {"code": 429, "message": "slow"}}, RateLimitError, True),
    "overloaded": ({"error": {"type": "overloaded_error", "message": "x"}}, OverloadedError, True),
    "in the choice": (
        {"choices": [{"index": 0, "delta": {}, "error": {"code": 502, "message": "gone"}}]},
        ProviderError,
        True,
    ),
    "no chunk": ("<html>gone</html>", StreamError, True),
    "half a chunk": ('{"choices": [', StreamError, True),
}


@every_cut
@pytest.mark.parametrize("at", [0, 1, 2])
@pytest.mark.parametrize("kind", FAILURES)
async def test_an_error_in_a_stream(kind: str, at: int, size: int) -> None:
    """It is raised as what it is, with what had come; nothing of the stream may run."""
    failure, error, retryable = FAILURES[kind]
    heard = await heard_of(sse(*BEGUN[:at], failure, done=False), size)
    if kind == "in the choice" and at == 2:
        # The choice itself failed, with a call in it: that is an answer, and its call is unfit.
        assert heard.result is not None
        assert heard.result.stop_reason == "error"
        assert heard.result.function_calls[0].input_error
        assert heard.done == []
        return
    assert isinstance(heard.error, error)
    assert heard.error.retryable is retryable
    assert heard.result is None
    assert heard.done == []
    if at:
        partial = heard.error.result
        assert isinstance(partial, OutputResult)
        assert partial.text == "Let me"
        assert all(one.input_error for one in partial.function_calls)


@pytest.mark.parametrize(
    ("reason", "cut", "fit"),
    [
        ("length", '{"n": 3', ["a", "b"]),
        ("length", '{"n": 3}', ["a", "b"]),
        ("length", "", ["a", "b"]),
        ("length", "{}", ["a", "b"]),
        ("max_tokens", '{"n": 3}', ["a", "b"]),
        ("tool_calls", '{"n": 3', ["a", "b", "c"]),
        ("tool_calls", '{"n": 3}', ["a", "b", "c"]),
        ("content_filter", '{"n": 3}', ["a", "b", "c"]),
        ("error", '{"n": 3}', ["a", "b"]),
    ],
)
@every_cut
async def test_a_call_that_was_cut_off(reason: str, cut: str, fit: list[str], size: int) -> None:
    """The last call of an answer cut off is never done; of one that is merely no JSON, as an error."""
    chunks = [calls(call(0, "a", "pick", '{"n": 1}')), calls(call(1, "b", "weigh", '{"kg": 2.5}')),
              calls(call(2, "c", "pick", cut)), chunk({}, reason)]  # fmt: skip
    heard = await heard_of(sse(*chunks), size)
    assert heard.result is not None
    assert [one.function_id for one in heard.done] == fit
    last = heard.result.function_calls[-1]
    whole = cut == '{"n": 3}' and reason in ("tool_calls", "content_filter")
    assert (last.input_error is None) == whole
    assert last.input == ({"n": 3} if whole else {})
