"""Streams that others' clients were reported to get wrong, from a folder of cases."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from streaming.offline import Heard, content, every_cut, hear, model
from streaming.wires.aws import aws_message

from llm_tools import create_chat_prompt, create_dialogue, create_llm_function_executor, tool
from llm_tools.content import OutputResult, Usage
from llm_tools.errors import ProviderError, QuotaExceededError

FOLDER = Path(os.environ.get("LLM_TOOLS_BUG_CASES", "/nonexistent"))
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        not FOLDER.is_dir(), reason="no bug cases: LLM_TOOLS_BUG_CASES names no folder with them"
    ),
]
NAMES = (
    "get_weather", "get_time", "book_flight", "book_hotel", "ping", "note", "search",
    "delete_rows", "read_file", "write_file",
)  # fmt: skip
FUNCTIONS = [{"name": name} for name in NAMES]


def files(*patterns: str) -> list[str]:
    """The files of the folder that a pattern names."""
    return sorted(str(p.relative_to(FOLDER)) for one in patterns for p in FOLDER.glob(one))


def expected(path: str) -> Any:
    """What a case expects of a file."""
    folder, name = path.split("/")
    return json.loads((FOLDER / folder / "expected.json").read_text())[name]


def wire_of(path: str) -> str:
    """The wire a file speaks, by its name and content."""
    name = path.split("/")[1]
    for word in ("responses", "anthropic", "gemini"):
        if word in name:
            return word
    return "gemini" if path.startswith("B28") else "chat"


async def heard_of(path: str, size: int, **options: Any) -> Heard:
    """A file's stream through the library."""
    llm = model(wire_of(path), (FOLDER / path).read_bytes(), size)
    return await hear(llm, functions=FUNCTIONS, **options)


def check_done(heard: Heard) -> None:
    """All calls of the answer may run, each as the result has it."""
    assert heard.result is not None
    calls = heard.result.function_calls
    assert sorted(heard.done, key=calls.index) == calls


@every_cut
@pytest.mark.parametrize(
    "path", files("B09/*.txt", "B10/*.txt", "B11/*.txt", "B12/*.txt", "B13/*.txt", "B19/*.txt")
)
async def test_content(path: str, size: int) -> None:
    """Texts and calls are those that the case expects, however the bytes come."""
    heard = await heard_of(path, size)
    assert heard.result is not None
    assert content(heard.result) == expected(path)
    assert heard.result.stop_reason == "function_use"
    check_done(heard)


@every_cut
async def test_usage_after_the_finish_reason(size: int) -> None:
    """A chunk without choices brings it."""
    heard = await heard_of("B12/stream.sse.txt", size)
    assert heard.result is not None
    assert heard.result.usage == Usage(input_tokens=11, output_tokens=7)


@pytest.mark.parametrize("charset", ["", "; charset=utf-8", "; charset=iso-8859-1"])
@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 7, 11, 1024])
async def test_characters_cut_in_two(size: int, charset: str) -> None:
    """Text is UTF-8 whatever the header says, and never damaged."""
    data = (FOLDER / "B14/stream.sse.txt").read_bytes()
    llm = model("chat", data, size, content_type=f"text/event-stream{charset}")
    heard = await hear(llm, functions=FUNCTIONS)
    assert heard.result is not None
    assert content(heard.result) == expected("B14/content")


@every_cut
@pytest.mark.parametrize("path", files("B15/*.txt"))
async def test_errors_in_a_stream(path: str, size: int) -> None:
    """The provider's error is raised with what had come, and no call is done."""
    wanted = expected(path)
    heard = await heard_of(path, size)
    assert isinstance(heard.error, ProviderError)
    assert heard.result is None
    assert heard.done == []
    code = wanted.get("error_type") or wanted.get("code")
    assert heard.error.code == str(code)
    if "retryable" in wanted:
        assert heard.error.retryable is wanted["retryable"]
    if "treat_like_status" in wanted:
        assert heard.error.status == wanted["treat_like_status"]
    assert wanted.get("message_contains", "") in str(heard.error)
    if "mid" in path:
        partial = heard.error.result
        assert isinstance(partial, OutputResult)
        assert partial.text == "Let me look"
        assert all(call.input_error for call in partial.function_calls)


@pytest.mark.parametrize("path", files("B15/*.txt"))
async def test_nothing_of_a_failed_stream_runs(path: str) -> None:
    """`run` raises the error and starts no function, early or not."""
    ran: list[str] = []

    @tool
    def delete_rows(table: str = "") -> None:
        """Delete rows."""
        ran.append(table)

    llm = model(wire_of(path), (FOLDER / path).read_bytes(), 7)
    executor = create_llm_function_executor(
        llm=llm, prompt=create_chat_prompt().add_user_message("{{ input }}")
    )
    with pytest.raises(ProviderError):
        await executor.run("Hi", functions=[delete_rows], start_early=True)
    assert ran == []


async def test_a_quota_is_no_rate_limit() -> None:
    """Asking again does not help."""
    heard = await heard_of("B15/openai_style_error_only.sse.txt", 0)
    assert isinstance(heard.error, QuotaExceededError)


@every_cut
@pytest.mark.parametrize("path", files("B16/*.txt"))
async def test_arguments_that_are_missing_or_come_twice(path: str, size: int) -> None:
    """No arguments are an empty object, and a placeholder gives way to what comes."""
    heard = await heard_of(path, size)
    assert heard.result is not None
    [call] = heard.result.function_calls
    assert call.input_error is None
    assert call.input == ({"city": "Oslo"} if "then" in path else {})
    check_done(heard)


@every_cut
async def test_a_call_of_converse_without_input(size: int) -> None:
    """So too where the block starts and stops at once."""
    events = json.loads((FOLDER / "B16/bedrock_converse_events_no_input.json").read_text())
    data = b"".join(
        aws_message(json.dumps(body).encode(), **{":event-type": name, ":message-type": "event"})
        for event in events
        for name, body in event.items()
    )
    heard = await hear(model("converse", data, size), functions=FUNCTIONS)
    assert heard.result is not None
    [call] = heard.result.function_calls
    assert (call.input, call.input_error) == ({}, None)
    check_done(heard)


@every_cut
@pytest.mark.parametrize("path", files("B26/*.txt"))
async def test_calls_of_gemini_in_several_chunks(path: str, size: int) -> None:
    """Each is a call of its own, its id Gemini's or a fresh one."""
    heard = await heard_of(path, size)
    assert heard.result is not None
    calls = heard.result.function_calls
    assert [call.input for call in calls] == [{"q": "x"}, {"q": "y"}]
    ids = [call.function_id for call in calls]
    assert all(ids)
    assert len(set(ids)) == 2
    assert ids == ["g1", "g2"] or "no_ids" in path
    check_done(heard)


@every_cut
async def test_signatures_of_gemini_stay_where_they_were(size: int) -> None:
    """The turn goes back as it came: one signed call, one unsigned, the signature on its own part."""
    path = files("B28/*.txt")[0]
    heard = await heard_of(path, size)
    assert heard.result is not None
    dialogue = create_dialogue("d").add_user_message("Hi").add_from_output(heard.result)
    for call in heard.result.function_calls:
        dialogue.add_function_message("ok", call.name, call.function_id)
    llm = model("gemini", b"")
    body = llm.build_request(dialogue, functions=FUNCTIONS).body
    turns = [turn for turn in body["contents"] if turn["role"] == "model"]
    assert len(turns) == 1
    parts = turns[0]["parts"]
    assert [(p["functionCall"]["args"]["city"], p.get("thoughtSignature")) for p in parts[:2]] == [
        ("Oslo", "U0lHLUE="),
        ("Lima", None),
    ]
    assert parts[2:] in ([], [{"text": "", "thoughtSignature": "U0lHLUI="}])
