"""Real exchanges are written down once, and answered from ever after."""

from __future__ import annotations

import base64
import gzip
import json
import resource
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from testing.answers import CALL, KEY, completion, events, lines, packed_step, stream_step
from transport.scripted import Script, Server, error, http

from llm_tools import (
    ConfigurationError,
    Finished,
    Llm,
    OutputResult,
    RateLimitError,
    ResponseDecodeError,
    StreamError,
    StreamEvent,
    TextDelta,
    TransportError,
    create_chat_prompt,
    create_llm_function_executor,
    tool,
    use_llm,
)
from llm_tools.testing import (
    RecordingTransport,
    ReplayTransport,
    ScriptedResponse,
    ScriptedTransport,
)

pytestmark = pytest.mark.anyio


@tool
def add(n: int) -> int:
    """Add one."""
    return n + 1


def model(base_url: str, wire: Any, **options: Any) -> Llm:
    """A model at the server, or at what was recorded of it."""
    settings = {"api_key": KEY, "max_attempts": 1, **options}
    return use_llm("openai.gpt-4o-mini", base_url=base_url, transport=wire, **settings)


def both(script: Script, file: Path, **options: Any) -> tuple[Llm, Llm]:
    """The model that is recorded, and the one that answers from its recording."""
    replay = {**options, "api_key": "not-a-key"}
    return (
        model(script.base_url, RecordingTransport(file), **options),
        model(script.base_url, ReplayTransport(file), **replay),
    )


async def told(llm: Llm) -> list[StreamEvent]:
    """All events of a stream."""
    async with llm.stream("Hi") as stream:
        return [event async for event in stream]


async def test_a_call_is_a_line(server: Server, file: Path) -> None:
    """The file holds what was asked and answered, the headers that matter, and nothing else."""
    answer = json.dumps(completion("Hello!"), indent=1)
    headers = {"x-request-id": "r-1", "x-ratelimit-limit-requests": "9", "set-cookie": "a=b"}
    script = server.script(http(answer, headers={**headers, "openai-organization": "ours"}))
    recorded, replayed = both(script, file)
    result = await recorded.call("Hi")
    assert result.text == "Hello!"
    assert lines(file) == [
        {
            "format": 1,
            "method": "POST",
            "url": f"{script.base_url}/chat/completions",
            "requestHeaders": {"content-type": "application/json", "accept": "application/json"},
            "requestBody": {
                "model": "gpt-4o-mini",
                "messages": [{"role": "user", "content": "Hi"}],
            },
            "status": 200,
            "headers": {
                "content-type": "application/json",
                "x-request-id": "r-1",
                "x-ratelimit-limit-requests": "9",
            },
            "body": answer,
        }
    ]
    assert await replayed.call("Hi") == result
    assert len(script.log) == 1


async def test_a_server_behind_tls(tls_server: Server, file: Path) -> None:
    """It is trusted as it is without a recording, and no connection is left behind."""
    script = tls_server.script(http(json.dumps(completion("Hello!"))))
    recorded, replayed = both(script, file)
    assert [(await llm.call("Hi")).text for llm in (recorded, replayed)] == ["Hello!"] * 2


async def test_the_frames_of_an_error_show_no_key(tmp_path: Path, file: Path) -> None:
    """Whoever shows the values in a traceback shows none of what the request carried."""
    wire = RecordingTransport(file, ScriptedTransport([completion("Hello!")] * 2))
    await model("https://api.example/v1", wire).call("Hi")
    file.unlink()
    file.mkdir()
    with pytest.raises(ConfigurationError, match="Is a directory") as unwritable:
        await model("https://api.example/v1", wire).call("Hi")
    with pytest.raises(ConfigurationError, match="cannot be read") as unreadable:
        await model("https://api.example/v1", ReplayTransport(file)).call("Hi")
    (tmp_path / "empty").write_text("")
    with pytest.raises(ConfigurationError, match="holds no exchange") as unknown:
        await model("https://api.example/v1", ReplayTransport(tmp_path / "empty")).call("Hi")
    for caught in (unwritable, unreadable, unknown):
        frames = [
            frame.frame.f_locals
            for frame in caught.traceback
            if "llm_tools/testing" in str(frame.path)
        ]
        assert frames
        assert [
            name for values in frames for name, value in values.items() if KEY in repr(value)
        ] == []


async def test_a_stream_comes_in_the_pieces_in_which_it_came(server: Server, file: Path) -> None:
    """Also where they are cut in the middle of an event, or of a character."""
    whole = "".join(events("Grüße", " an", " alle"))
    cut = whole.index("\\u00fc")
    text = whole.replace("\\u00fc", "ü")
    first, second = text[: cut - 30].encode(), text[cut - 30 :].encode()
    inside = second.index("ü".encode()) + 1
    pieces = [first, second[:inside], second[inside:]]
    wire = ScriptedTransport(
        [ScriptedResponse(headers={"content-type": "text/event-stream"}, chunks=pieces)]
    )
    live = await told(model("https://api.example/v1", RecordingTransport(file, wire)))
    assert live[0] == TextDelta(text="Grüße")
    (line,) = lines(file)
    assert [list(piece) if isinstance(piece, dict) else str for piece in line["chunks"]] == [
        str, ["base64"], ["base64"],
    ]  # fmt: skip
    assert await told(model("https://api.example/v1", ReplayTransport(file))) == live
    body = line["requestBody"]
    async with (
        httpx.AsyncClient(transport=ReplayTransport(file)) as client,
        client.stream("POST", line["url"], json=body) as response,
    ):
        assert [piece async for piece in response.aiter_raw()] == pieces


async def test_a_stream_from_a_server(server: Server, file: Path) -> None:
    """The same events, and no request."""
    script = server.script(stream_step(*events("a", "b")))
    recorded, replayed = both(script, file)
    live = await told(recorded)
    assert live[:2] == [TextDelta(text="a"), TextDelta(text="b")]
    assert isinstance(live[-1], Finished)
    assert "".join(lines(file)[0]["chunks"]) == "".join(events("a", "b"))
    assert await told(replayed) == live
    assert len(script.log) == 1


async def test_a_run(server: Server, file: Path) -> None:
    """Each turn of it is found again."""
    calls = completion(None, tool_calls=[CALL])
    script = server.script(http(json.dumps(calls)), http(json.dumps(completion("It is 2."))))
    outputs = []
    for llm in both(script, file):
        prompt = create_chat_prompt("Add.").add_user_message("{{ input }}")
        executor = create_llm_function_executor(llm=llm, prompt=prompt)
        done = await executor.run("1?", functions=[add])
        outputs.append((done.output, [result.content for result in done.results]))
    assert outputs == [("It is 2.", [2])] * 2
    assert len(script.log) == 2


async def test_a_run_whose_calls_came_without_ids(file: Path) -> None:
    """Ids are made up here, others each time; they count by their order."""
    call = {"function": {"name": "add", "arguments": {"n": 1}}}
    answers = [
        {"message": {"role": "assistant", "content": "", "tool_calls": [call, call]}, "done": True},
        {"message": {"role": "assistant", "content": "Both are 2."}, "done": True},
    ]
    outputs = []
    for wire in (RecordingTransport(file, ScriptedTransport(answers)), ReplayTransport(file)):
        llm = use_llm("ollama.qwen3", transport=wire, max_attempts=1)
        prompt = create_chat_prompt("Add.").add_user_message("{{ input }}")
        done = await create_llm_function_executor(llm=llm, prompt=prompt).run("?", functions=[add])
        outputs.append(done.output)
    assert outputs == ["Both are 2."] * 2
    recorded = [
        message.get("tool_call_id") for message in lines(file)[1]["requestBody"]["messages"]
    ]
    assert len({name for name in recorded if name}) == 2


async def test_a_retry(server: Server, file: Path) -> None:
    """The refusal is recorded as well, and given first."""
    script = server.script(
        error(429, "slow down", retry_after_ms="7"), http(json.dumps(completion("Hello!")))
    )
    recorded, _ = both(script, file, max_attempts=2)
    assert (await recorded.call("Hi")).text == "Hello!"
    assert [line["status"] for line in lines(file)] == [429, 200]
    again = model(script.base_url, ReplayTransport(file), max_attempts=2)
    assert (await again.call("Hi")).text == "Hello!"
    once = model(script.base_url, ReplayTransport(file))
    with pytest.raises(RateLimitError, match="slow down") as caught:
        await once.call("Hi")
    assert caught.value.retry_after == 0.007
    assert (await once.call("Hi")).text == "Hello!"


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_compressed_answers(server: Server, file: Path, encoding: str) -> None:
    """They are readable in the file, and come out the same."""
    compress = gzip.compress if encoding == "gzip" else zlib.compress
    answer, stream = json.dumps(completion("Hello!")), "".join(events("a", "b"))
    head = "HTTP/1.1 200 OK\r\ncontent-type: {}\r\n"
    script = server.script(
        packed_step(head.format("application/json"), compress(answer.encode()), encoding),
        packed_step(head.format("text/event-stream"), compress(stream.encode()), encoding),
    )
    recorded, replayed = both(script, file)
    live = await recorded.call("Hi"), await told(recorded)
    whole, streamed = lines(file)
    assert whole["body"] == answer
    assert "".join(streamed["chunks"]) == stream
    assert (whole["headers"], streamed["headers"]) == (
        {"content-type": "application/json"},
        {"content-type": "text/event-stream"},
    )
    assert (await replayed.call("Hi"), await told(replayed)) == live


@pytest.mark.parametrize(("encoding", "words"), [("br", "not asked for"), ("gzip", "cut off")])
async def test_what_cannot_be_decompressed(
    server: Server, file: Path, encoding: str, words: str
) -> None:
    """It fails as it did."""
    body = gzip.compress(json.dumps(completion("Hello!")).encode())[:-9]
    script = server.script(http(body, headers={"content-encoding": encoding}))
    for llm in both(script, file):
        with pytest.raises(ResponseDecodeError, match=words):
            await llm.call("Hi")
    assert lines(file)[0]["error"]["kind"] == "ResponseDecodeError"


async def test_a_stream_that_breaks(server: Server, file: Path) -> None:
    """What came is kept, and how it ended; the exchanges before it are there."""
    half = [*stream_step(*events("a", "b")[:2], end=""), ["close"]]
    script = server.script(http(json.dumps(completion("Hello!"))), half)
    for llm in both(script, file):
        assert (await llm.call("Hi")).text == "Hello!"
        with pytest.raises(StreamError, match="broke off") as caught:
            await told(llm)
        assert isinstance(caught.value.result, OutputResult)
        assert caught.value.result.text == "ab"
    assert [line.get("error", {}).get("kind") for line in lines(file)] == [
        None,
        "RemoteProtocolError",
    ]


async def test_an_answer_that_breaks(server: Server, file: Path) -> None:
    """The same error as then."""
    head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n"
    script = server.script([["send", head + '{"id":'], ["close"]])
    for llm in both(script, file):
        with pytest.raises(TransportError, match="broke: "):
            await llm.call("Hi")
    assert lines(file)[0]["body"] == '{"id":'


async def test_a_stream_that_is_left(server: Server, file: Path) -> None:
    """Its line says where; replayed that far it is the same, and beyond there is an error."""
    script = server.script([*stream_step(*events("a", "b")[:2], end=""), ["stall"]])
    recorded, replayed = both(script, file)
    for llm in (recorded, replayed):
        async with llm.stream("Hi") as stream:
            assert [await anext(stream), await anext(stream)] == [
                TextDelta(text="a"),
                TextDelta(text="b"),
            ]
    (line,) = lines(file)
    assert "".join(line["chunks"]) == "".join(events("a", "b")[:2])
    assert line["error"]["kind"] == "ReadError"
    further = model(script.base_url, ReplayTransport(file))
    with pytest.raises(StreamError, match="left here when it was recorded"):
        await told(further)


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_call_that_is_cancelled(file: Path, streamed: bool) -> None:
    """Half an answer is a whole line, and what was recorded before it is there."""
    arrived = anyio.Event()
    half = events("a")[0] if streamed else '{"id":'

    async def stalling() -> AsyncIterator[bytes]:
        yield half.encode()
        arrived.set()
        await anyio.sleep_forever()

    kind = "text/event-stream" if streamed else "application/json"
    answers = [
        completion("Hello!"),
        ScriptedResponse(headers={"content-type": kind}, chunks=stalling()),
    ]
    llm = model("https://api.example/v1", RecordingTransport(file, ScriptedTransport(answers)))
    await llm.call("Hi")
    async with anyio.create_task_group() as group:
        group.start_soon(told if streamed else llm.call, llm if streamed else "Hi")
        await arrived.wait()
        group.cancel_scope.cancel()
    first, second = lines(file)
    assert json.loads(first["body"]) == completion("Hello!")
    assert second["chunks" if streamed else "body"] == ([half] if streamed else half)
    assert second["error"]["kind"] == "ReadError"


async def test_an_answer_that_is_left_because_its_task_is_cancelled(file: Path) -> None:
    """Its line is written all the same, through any client."""
    wire = RecordingTransport(file, ScriptedTransport([completion("Hello!")]))
    client = httpx.AsyncClient(transport=wire)
    with anyio.CancelScope() as scope:
        async with client.stream("GET", "https://api.example/v1/models"):
            scope.cancel()
    await client.aclose()
    assert [line["error"]["kind"] for line in lines(file)] == ["ReadError"]


async def test_a_compressed_stream_that_breaks(server: Server, file: Path) -> None:
    """What came of it is readable, and the error is the connection's."""
    packed = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    first, second = events("a", "b")[:2]
    body = packed.compress(f"{first}{second}".encode()) + packed.flush(zlib.Z_SYNC_FLUSH)
    head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
    whole, *_ = packed_step(head, body, "gzip")
    cut = base64.b64encode(base64.b64decode(whole[1]).removesuffix(b"0\r\n\r\n")).decode()
    script = server.script([["send64", cut], ["close"]])
    for llm in both(script, file):
        with pytest.raises(StreamError, match="broke off") as caught:
            await told(llm)
        assert isinstance(caught.value.result, OutputResult)
        assert caught.value.result.text == "ab"
    (line,) = lines(file)
    assert "".join(line["chunks"]) == f"{first}{second}"
    assert line["error"]["kind"] == "RemoteProtocolError"


async def test_calls_at_the_same_time(server: Server, file: Path) -> None:
    """Each has its line and finds it again, whoever else is on the way."""
    script = server.script(http(json.dumps(completion("Hello!"))))
    recorded, replayed = both(script, file)
    for llm in (recorded, replayed):
        texts: dict[str, str] = {}

        async def ask(text: str, llm: Llm = llm, texts: dict[str, str] = texts) -> None:
            texts[text] = (await llm.call(text)).text

        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(ask, f"Number {number}")
        assert texts == {f"Number {number}": "Hello!" for number in range(20)}
    asked = [line["requestBody"]["messages"][0]["content"] for line in lines(file)]
    assert sorted(asked) == sorted(f"Number {number}" for number in range(20))
    assert len(script.log) == 20


async def test_there_may_be_no_answer(unused_port: int, file: Path) -> None:
    """Then there is nothing to write down."""
    llm = model(f"http://127.0.0.1:{unused_port}/v1", RecordingTransport(file))
    with pytest.raises(TransportError, match="Check base_url"):
        await llm.call("Hi")
    assert lines(file) == []


async def test_a_recording_is_never_added_to(server: Server, file: Path) -> None:
    """Neither mixed with what is new nor lost; nothing is sent."""
    script = server.script(http(json.dumps(completion("Hello!"))))
    first, _ = both(script, file)
    await first.call("Hi")
    kept = file.read_bytes()
    second, _ = both(script, file)
    with pytest.raises(ConfigurationError, match="delete it to record again"):
        await second.call("Hi")
    assert file.read_bytes() == kept
    await first.call("Hi")
    assert len(lines(file)) == len(script.log) == 2


async def test_a_file_that_cannot_be_written(server: Server, tmp_path: Path) -> None:
    """It is found out before anything is sent."""
    (tmp_path / "taken").write_text("")
    script = server.script(http(json.dumps(completion("Hello!"))))
    llm = model(script.base_url, RecordingTransport(tmp_path / "taken" / "file.jsonl"))
    with pytest.raises(ConfigurationError, match=r"taken/file.jsonl cannot be written: .+\."):
        await llm.call("Hi")
    assert script.log == []


async def test_a_full_disk(file: Path) -> None:
    """There is never half a line."""
    wire = ScriptedTransport(lambda request: completion(request.body["messages"][0]["content"]))
    llm = model("https://api.example/v1", RecordingTransport(file, wire))
    await llm.call("Hi")
    kept = file.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(kept) + 100, hard))
    try:
        with pytest.raises(ConfigurationError, match="cannot be written: File too large"):
            await llm.call("Hello, is there anybody?")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert file.read_bytes() == kept


async def test_it_closes_what_it_sends_through(file: Path) -> None:
    """As a client that is given a transport does with it."""
    closed = []

    class Closing(httpx.MockTransport):
        async def aclose(self) -> None:
            closed.append(1)

    wire = Closing(lambda request: httpx.Response(200, json=completion("Hello!")))
    async with httpx.AsyncClient(transport=RecordingTransport(file, wire)) as client:
        await client.get("https://api.example/v1/models")
    async with httpx.AsyncClient(transport=RecordingTransport(file)):
        """One that has sent nothing has nothing to close."""
    assert closed == [1]
    (line,) = lines(file)
    assert (line["method"], line.get("requestBody")) == ("GET", None)
    async with httpx.AsyncClient(transport=ReplayTransport(file, on_unknown=wire)) as client:
        answer = await client.get("https://api.example/v1/models")
    assert (answer.json(), closed) == (completion("Hello!"), [1, 1])
    async with httpx.AsyncClient(transport=ReplayTransport(file)):
        """Nor has one that answers from a file alone."""


def test_one_transport_in_several_loops(server: Server, file: Path) -> None:
    """It keeps nothing of a loop that has ended."""
    script = server.script(http(json.dumps(completion("Hello!"))))
    for llm in both(script, file):

        async def once(llm: Llm = llm) -> str:
            return (await llm.call("Hi")).text

        texts = [anyio.run(once, backend=name) for name in ("asyncio", "trio", "asyncio")]
        assert texts == ["Hello!"] * 3
    assert len(script.log) == 3
