"""A recording answers what it holds, and says what is missing of anything else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from testing.answers import completion

from llm_tools import ConfigurationError, use_llm
from llm_tools.testing import RecordingTransport, ReplayTransport, ScriptedTransport

pytestmark = pytest.mark.anyio

URL = "https://api.openai.com/v1/chat/completions"


def exchange(text: str = "Hi", answer: str = "Hello!", **fields: Any) -> dict[str, Any]:
    """A line of a recording."""
    return {
        "format": 1,
        "method": "POST",
        "url": URL,
        "requestHeaders": {},
        "requestBody": {
            "model": "gpt-4o-mini",
            "messages": [{"role": "user", "content": text}],
        },
        "status": 200,
        "headers": {"content-type": "application/json"},
        "body": json.dumps(completion(answer)),
        **fields,
    }


def write(file: Path, *exchanges: dict[str, Any] | str) -> ReplayTransport:
    """A recording of these exchanges, and what answers from it."""
    file.parent.mkdir(exist_ok=True)
    lines = [one if isinstance(one, str) else json.dumps(one) for one in exchanges]
    file.write_text("".join(f"{line}\n" for line in lines))
    return ReplayTransport(file)


async def ask(wire: httpx.AsyncBaseTransport, text: Any = "Hi", **options: Any) -> str:
    """What the model says."""
    llm = use_llm("openai.gpt-4o-mini", transport=wire, api_key="none", max_attempts=1, **options)
    return (await llm.call(text)).text


async def complaint(wire: httpx.AsyncBaseTransport, text: Any = "Hi", **options: Any) -> str:
    """What is wrong with a request."""
    with pytest.raises(ConfigurationError) as caught:
        await ask(wire, text, **options)
    return str(caught.value)


async def test_the_order_of_keys_does_not_count(file: Path) -> None:
    """Nor do headers."""
    body = {"messages": [{"content": "Hi", "role": "user"}], "model": "gpt-4o-mini"}
    assert await ask(write(file, exchange(requestBody=body))) == "Hello!"


async def test_what_was_asked_again_is_answered_in_turn(file: Path) -> None:
    """Each recording once, whatever is asked in between; then there is an error."""
    wire = write(file, exchange(answer="1"), exchange("Other"), exchange(answer="2"))
    assert [await ask(wire), await ask(wire), await ask(wire, "Other")] == ["1", "2", "Hello!"]
    assert await complaint(wire) == (
        f"{file} answers no POST {URL} as this one. It holds 2 of this request, and every one has "
        "been given. Delete the file and record again with RecordingTransport, or ask as it was "
        "asked then."
    )


LONG = "The quick brown fox jumps over the lazy dog. " * 3
SAME: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a text": ({}, {"text": "Ho"}, 'body.messages[0].content: recorded "Hi", asked "Ho"'),
    "a long text": (
        {"text": f"{LONG}Hi. {LONG}"},
        {"text": f"{LONG}Ho. {LONG}"},
        "body.messages[0].content: recorded …over the lazy dog. Hi. The quick brown fox jumps over "
        "the la…, asked …over the lazy dog. Ho. The quick brown fox jumps over the la…",
    ),
    "more than was recorded": (
        {},
        {"temperature": 0.5},
        "body.temperature: recorded nothing, asked 0.5",
    ),
    "less than was recorded": (
        {"requestBody": exchange()["requestBody"] | {"seed": 1}},
        {},
        "body.seed: recorded 1, asked nothing",
    ),
    "a message more": (
        {},
        {"text": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]},
        'body.messages[1]: recorded nothing, asked {"role":"assistant","content":"Ho"}',
    ),
    "another address": (
        {"url": "https://api.example/v1/chat/completions"},
        {},
        'url: recorded "https://api.example/v1/chat/completions", '
        'asked "https://api.openai.com/v1/chat/completions"',
    ),
    "another method": ({"method": "PUT"}, {}, 'method: recorded "PUT", asked "POST"'),
    "a number that is a switch": (
        {"requestBody": exchange()["requestBody"] | {"seed": True}},
        {"seed": 1},
        "body.seed: recorded true, asked 1",
    ),
}


@pytest.mark.parametrize("case", SAME)
async def test_what_differs_is_said(file: Path, case: str) -> None:
    """The first place, and both values, shortened to where they begin to differ."""
    recorded, asked, words = SAME[case]
    said = await complaint(write(file, exchange(**recorded)), **asked)
    assert said == (
        f"{file} answers no POST {URL} as this one. It differs from the nearest, number 1 of the "
        f"file, at {words}. Delete the file and record again with RecordingTransport, or ask as it "
        "was asked then."
    )


async def test_the_nearest_is_the_one_that_differs_least(file: Path) -> None:
    """At the same address, if there is one."""
    other = exchange("Hi", url="https://api.example/v1/chat/completions")
    far = exchange("No", requestBody={"model": "other", "messages": []})
    said = await complaint(write(file, other, far, exchange("Ho")))
    assert 'number 3 of the file, at body.messages[0].content: recorded "Ho", asked "Hi".' in said


async def test_ids_that_were_made_up_count_by_their_order(file: Path) -> None:
    """But those a provider gave do not change, and are compared."""

    def history(*names: str) -> list[dict[str, Any]]:
        uses = [
            {"type": "function_use", "name": "f", "input": {"id": "same"}, "functionId": name}
            for name in names
        ]
        results = [
            {"role": "function", "name": "f", "functionId": name, "content": "ok"} for name in names
        ]
        return [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": uses},
            *results,
        ]

    made, again = ("abcdefgh1", "abcdefgh2"), ("zyxwvuts1", "zyxwvuts2")
    answer = ScriptedTransport([completion("Hello!")] * 2)
    recording = RecordingTransport(file, answer)
    await ask(recording, history(*made))
    await ask(recording, history("call_1", "call_2"))
    wire = ReplayTransport(file)
    assert await ask(wire, history(*again)) == "Hello!"
    said = await complaint(wire, history("call_1", "call_3"))
    assert 'tool_calls[1].id: recorded "call_2", asked "call_3"' in said


async def test_a_body_that_is_no_json(file: Path) -> None:
    """It is recorded as the text it is, or in base64."""
    wire = RecordingTransport(file, ScriptedTransport(["one", "two"]))
    for transport in (wire, ReplayTransport(file)):
        async with httpx.AsyncClient(transport=transport) as client:
            answers = [await client.post(URL, content=body) for body in (b"text", b"\xff\xfe")]
            assert [answer.text for answer in answers] == ["one", "two"]
    bodies = [json.loads(line)["requestBody"] for line in file.read_text().splitlines()]
    assert bodies == ["text", {"base64": "//4="}]


async def test_another_transport_may_answer_what_is_unknown(file: Path) -> None:
    """And what is known is answered from the file."""
    write(file, exchange())
    wire = ReplayTransport(file, on_unknown=ScriptedTransport([completion("Scripted.")]))
    assert [await ask(wire), await ask(wire, "Other")] == ["Hello!", "Scripted."]


async def test_what_may_stand_for_unknown(file: Path) -> None:
    """A word that is none is refused at once."""
    with pytest.raises(ConfigurationError, match="on_unknown='record' must be 'error' or"):
        ReplayTransport(file, on_unknown="record")  # type: ignore[arg-type]


async def test_a_file_that_is_not_there(file: Path) -> None:
    """The error says how it is made."""
    assert await complaint(ReplayTransport(file)) == (
        f"The recording {file} cannot be read: No such file or directory. Make it with "
        "RecordingTransport."
    )


async def test_a_file_that_holds_nothing(file: Path) -> None:
    """As after a recording in which nothing was answered."""
    assert "It holds no exchange at all. Delete the file" in await complaint(write(file))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"format": 1, "meth', "line 2, is no recorded exchange: Input data was truncated"),
        ('{"format": 1}', "line 2, is no recorded exchange: Object missing required field"),
        (json.dumps(exchange(format=2)), "it has format 2, this version reads 1. Record again"),
    ],
)
async def test_a_line_that_is_none(file: Path, line: str, words: str) -> None:
    """The error names the line; an empty one is passed over."""
    assert words in await complaint(write(file, exchange(), line, ""))
    assert await ask(write(file, "", exchange(), "")) == "Hello!"


async def test_bytes_that_are_none(file: Path) -> None:
    """A line that somebody edited."""
    assert "is no recorded exchange" in await complaint(write(file, exchange(body={"base64": "?"})))


async def test_an_ending_of_an_unknown_kind(file: Path) -> None:
    """It is a broken connection."""
    ending = {"kind": "SystemExit", "message": "the cable was cut"}
    wire = write(file, exchange(error=ending))
    llm = use_llm("openai.gpt-4o-mini", transport=wire, api_key="none", max_attempts=1)
    with pytest.raises(Exception, match=r"The connection to openai .+ broke: the cable was cut"):
        await llm.call("Hi")


async def test_requests_at_the_same_time(file: Path) -> None:
    """The file is read once; no recording is given twice."""
    wire = write(file, *[exchange(answer=str(number)) for number in range(20)])
    answers = []

    async def once() -> None:
        answers.append(await ask(wire))

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(once)
    assert sorted(answers, key=int) == [str(number) for number in range(20)]
