"""Keys stay out of everything that is kept, shown or written down."""

from __future__ import annotations

import copy
import json
import logging
import pickle
import traceback
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from typing import Any

import anyio
import httpx
import msgspec
import pytest
from hypothesis import given, strategies as st
from transport.scripted import KEY, Server, chunk, error, http, make_request, sse_head

from llm_tools import FunctionUseDone, OutputResult, OutputResultFunctionUse, use_llm
from llm_tools.errors import (
    ConfigurationError,
    LlmToolsError,
    ResponseDecodeError,
    ServerError,
    StreamError,
    TransportError,
)
from llm_tools.spec import KeyAuth
from llm_tools.transport import Secret, Transport, TransportSettings
from llm_tools.transport.masking import Address, Needles, mask_error_body, mask_joined
from llm_tools.transport.secret import Key

LOUD = ("llm_tools", "httpx", "httpcore", "hpack", "h2", "httpx2", "httpcore2", "asyncio", "anyio")


def everything_about(failure: BaseException) -> str:
    """All that a handler, a log or a crash reporter would see, locals of every frame included."""
    seen: list[str] = []
    link: BaseException | None = failure
    while link is not None:
        report = traceback.TracebackException.from_exception(link, capture_locals=True)
        seen += [str(link), repr(link), repr(getattr(link, "__dict__", {}))]
        # The tests' own frames know the key, of course.
        seen += [repr(frame.locals) for frame in report.stack if "tests" not in frame.filename]
        link = link.__cause__ or link.__context__
    if isinstance(failure, LlmToolsError):
        seen.append(repr(pickle.loads(pickle.dumps(failure)).__dict__))
    return "\n".join(seen)


@pytest.fixture
def loud(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    for name in LOUD:
        caplog.set_level(logging.DEBUG, name)
    return caplog


# how the server fails
FAILURES: dict[str, list[Any]] = {
    "refused with the key in the body": error(401, f"bad key {KEY}", x_request_id=KEY),
    "refused with the key in a long body": http(f"{'x' * 1990}{KEY}", status=500),
    "redirect to the key": http(
        "", status=302, headers={"location": f"https://{KEY}.example/{KEY}"}
    ),
    "a page with the key": http(f"<html>{KEY}</html>", headers={"content-type": "text/html"}),
    "closed": [["close"]],
    "reset": [["reset"]],
    "stalled": [["stall"]],
    "no http": [["send", f"{KEY}\r\n\r\n"], ["close"]],
    "cut short": [["send", f"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{KEY}"], ["close"]],
    "an encoding nobody asked for": http("x", headers={"content-encoding": KEY}),
    "damaged compression": http("x", headers={"content-encoding": "gzip"}),
}


@pytest.mark.anyio
@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
async def test_no_failure_tells_the_key(
    server: Server, kind: str, failure: list[Any], loud: pytest.LogCaptureFixture
) -> None:
    """Message, repr, cause, pickle, traceback with locals, and logs at DEBUG: none holds the key."""
    patience = 0.3 if failure == FAILURES["stalled"] else 20.0
    transport = Transport(TransportSettings(transport=kind, timeout=patience, max_attempts=1))
    script = server.script(failure)
    for header, prefix in (("authorization", "Bearer "), ("x-api-key", ""), ("api-key", "")):
        request = script.request(endpoint={"auth": KeyAuth(header=header, prefix=prefix)})
        with pytest.raises(LlmToolsError) as caught:
            await transport.send(request)
        assert KEY not in everything_about(caught.value)
        assert KEY in json.dumps(script.log[-1]["headers"])
    assert KEY not in loud.text
    for record in loud.records:
        assert KEY not in repr(record.__dict__)


@pytest.mark.anyio
async def test_no_failure_to_connect_tells_the_key(
    kind: str, unused_port: int, loud: pytest.LogCaptureFixture
) -> None:
    """A refused connection, and a host that does not exist."""
    transport = Transport(TransportSettings(transport=kind, timeout=2.0, max_attempts=1))
    for base_url in (f"http://127.0.0.1:{unused_port}", "https://nowhere.invalid/v1"):
        with pytest.raises(LlmToolsError) as caught:
            await transport.send(make_request(base_url))
        assert KEY not in everything_about(caught.value)
    assert KEY not in loud.text


@pytest.mark.anyio
async def test_no_broken_stream_tells_the_key(server: Server, kind: str) -> None:
    """A stream that echoes the key and breaks."""
    transport = Transport(TransportSettings(transport=kind))
    script = server.script([["send", sse_head() + chunk(f"data: {KEY}\n\n")], ["close"]])
    stream = await transport.open(script.request(framing="sse"))
    frames = await stream.read_frames()
    assert frames is not None
    assert frames[0].data == b"***"
    with pytest.raises(StreamError) as caught:
        await stream.read_frames()
    assert KEY not in everything_about(caught.value)


ECHOES = {
    "an error": 'data: {"error": {"message": "bad key %s", "code": 401}}\n\n',
    "an error event": 'event: error\ndata: {"error": {"message": "%s"}}\n\n',
    "no JSON": 'data: {"choices": %s\n\n',
    "no chunk": 'data: {"choices": "%s"}\n\n',
    "a comment before the end": ": %s\n\ndata: [DONE]\n\n",
    "one JSON body": '{"error": {"message": "%s"}}',
    "an end in the middle": "data: %s",
}
"""What of a stream may hold the key and fails to be read."""


@pytest.mark.anyio
@pytest.mark.parametrize("echo", ECHOES)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "no gzip"])
async def test_no_stream_that_cannot_be_read_tells_the_key(
    server: Server, kind: str, echo: str, packed: bool
) -> None:
    """Neither by its words nor by what the frames it passed still hold."""
    head = sse_head(**{"content-encoding": "gzip"}) if packed else sse_head()
    body = chunk(ECHOES[echo] % KEY) + "0\r\n\r\n"
    script = server.script([["send", head + body]])
    llm = use_llm(
        "openai.gpt-4o-mini", api_key=KEY, base_url=script.base_url, transport=kind, max_attempts=1
    )
    with pytest.raises(LlmToolsError) as caught:
        async with llm.stream("Hi") as events:
            async for _ in events:
                pass
    assert KEY not in everything_about(caught.value)


@pytest.mark.anyio
@pytest.mark.parametrize("whole", [False, True])
async def test_no_failure_of_a_mock_tells_the_key(whole: bool) -> None:
    """A body that holds the key, and then an exception that is none of ours."""

    class Broken(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield f": {KEY}\n".encode()
            raise AssertionError("the mock's own")

    wire = httpx.MockTransport(lambda request: httpx.Response(200, stream=Broken()))
    llm = use_llm("openai.gpt-4o-mini", api_key=KEY, transport=wire, max_attempts=1)
    with pytest.raises(AssertionError) as caught:
        if whole:
            await llm.call("Hi")
        else:
            async with llm.stream("Hi") as events:
                await anext(events)
    assert KEY not in everything_about(caught.value)


@pytest.mark.anyio
@pytest.mark.parametrize("cut", [1, len(KEY) // 2, len(KEY) - 1])
async def test_a_key_that_comes_in_two_pieces(cut: int) -> None:
    """It is masked in the frame, wherever the network cut it, and at the end of the stream."""

    class Pieces(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            for _ in range(2):
                yield b"data: " + KEY[:cut].encode()
                yield KEY[cut:].encode() + b"\n\n"
            yield b"data: " + KEY[:cut].encode()
            yield KEY[cut:].encode()

    wire = httpx.MockTransport(lambda request: httpx.Response(200, stream=Pieces()))
    transport = Transport(TransportSettings(transport=wire))
    stream = await transport.open(make_request("https://api.example", framing="sse"))
    seen = []
    while (frames := await stream.read_frames()) is not None:
        seen += [frame.data for frame in frames]
    assert set(seen) == {b"***"}


def chat_event(delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'id': 'c', 'model': 'm', 'choices': [choice]})}\n\n"


def call_event(index: int, arguments: str, **more: Any) -> str:
    call = {"index": index, **more, "function": {"name": "f", "arguments": arguments}}
    return chat_event({"tool_calls": [call]})


SPLIT = [
    chat_event({"content": f"It is {KEY[:7]}"}),
    chat_event({"content": f"{KEY[7:]}."}),
    call_event(0, f'{{"key": "{KEY[:9]}', id="call_1"),
    call_event(0, f'{KEY[9:]}"}}'),
    call_event(1, "{}", id="call_2"),
]
"""Events none of which holds the key: text, a call with it, and another call."""


@pytest.mark.anyio
@pytest.mark.parametrize("ending", ["whole", "broken off", "left"])
async def test_a_key_split_between_events(server: Server, kind: str, ending: str) -> None:
    """What is joined from them, text, calls and result, does not hold it, whole or not."""
    sent = [*SPLIT]
    if ending == "whole":
        sent += [chat_event({}, "tool_calls"), "data: [DONE]\n\n"]
    script = server.script([["send", sse_head() + "".join(map(chunk, sent))], ["close"]])
    llm = use_llm(
        "openai.chat.v1", model="m", api_key=KEY, base_url=script.base_url, transport=kind
    )
    done: list[FunctionUseDone] = []
    failure: StreamError | None = None
    functions = [{"name": "f", "parameters": {"type": "object"}}]
    async with llm.stream("Hi", functions=functions) as events:
        try:
            async for event in events:
                done += [event] if isinstance(event, FunctionUseDone) else []
                if done and ending == "left":
                    break
        except StreamError as broken:
            failure = broken
    if ending == "left":
        with pytest.raises(StreamError) as caught:
            _ = events.result
        failure = caught.value
    result = events.result if ending == "whole" else failure and failure.result
    assert isinstance(result, OutputResult)
    assert result.text == "It is ***."
    call = result.function_calls[0]
    assert call.input == {"key": "***"} or call.raw_input == '{"key": "***"}'
    assert done[0].function_use.input == {"key": "***"}
    assert KEY not in repr(result)


@pytest.mark.anyio
@pytest.mark.parametrize("whole", [True, False])
async def test_an_answer_that_cannot_be_searched_for_the_key(
    server: Server, kind: str, whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that is nested too deeply for it: an error of ours, without what had come."""

    def too_deep(*_: Any) -> None:
        raise RecursionError("maximum recursion depth exceeded")

    monkeypatch.setattr("llm_tools.transport.masking.mask_answer", too_deep)
    sent = [SPLIT[0], SPLIT[1], *([chat_event({}, "stop"), "data: [DONE]\n\n"] if whole else ())]
    script = server.script([["send", sse_head() + "".join(map(chunk, sent))], ["close"]])
    llm = use_llm(
        "openai.chat.v1", model="m", api_key=KEY, base_url=script.base_url, transport=kind
    )
    seen = 0
    failure: LlmToolsError | None = None
    async with llm.stream("Hi") as events:
        try:
            async for _ in events:
                seen += 1
        except (ResponseDecodeError, StreamError) as caught:
            failure = caught
    assert seen == 2
    assert isinstance(failure, ResponseDecodeError if whole else StreamError)
    assert failure.result is None
    assert KEY not in everything_about(failure)
    with pytest.raises(StreamError) as left:
        _ = events.result
    assert left.value.result is None


def test_what_cannot_be_searched_for_a_key() -> None:
    """Nested too deeply, a lone surrogate, and JSON that is none without the key."""
    deep: Any = {}
    for _ in range(5000):
        deep = {"a": deep}
    for key, value in ((KEY, deep), (KEY, {"a": "\ud800"}), ("0" * 16, {"a": int("1" + "0" * 16)})):
        call = OutputResultFunctionUse(name="f", input=value, function_id="1")
        with pytest.raises(ResponseDecodeError, match="could not be searched for the key"):
            mask_joined(call, Needles([Key(key)]))
    assert mask_joined(call, Needles([])) is call


@pytest.mark.anyio
async def test_an_answer_that_echoes_the_key(server: Server, kind: str) -> None:
    """The key is masked in an answer, too; a stand-in that is a common word is left alone."""
    transport = Transport(TransportSettings(transport=kind))
    script = server.script(http(json.dumps({"you said": f"Bearer {KEY}"})))
    assert (await transport.send(script.request())).body == b'{"you said": "Bearer ***"}'
    script = server.script(http("{}", headers={"x-request-id": f"r-{KEY}"}))
    assert (await transport.send(script.request())).headers["x-request-id"] == "r-***"
    script = server.script([["send", sse_head().replace("\r\n", f"\r\nx-id: {KEY}\r\n", 1)]])
    stream = await transport.open(script.request(framing="sse"))
    assert stream.headers["x-id"] == "***"
    await stream.aclose()
    script = server.script(http('{"a":"lm-studio"}'))
    request = script.request(options={"api_key": Secret("lm-studio")})
    assert (await transport.send(request)).body == b'{"a":"lm-studio"}'


@pytest.mark.anyio
async def test_a_key_in_the_base_url(
    server: Server, kind: str, loud: pytest.LogCaptureFixture
) -> None:
    """A key a proxy wants in the query is sent, and masked in all that is shown; the rest is not."""
    script = server.script(error(500, f"failed for {KEY}"))
    request = make_request(
        f"{script.base_url}?key={KEY}&alt=sse",
        endpoint={"auth": KeyAuth(optional=True)},
        options={},
    )
    for transport in (
        Transport(TransportSettings(transport=kind, max_attempts=1)),
        Transport(TransportSettings(client=httpx.AsyncClient(), max_attempts=1)),
    ):
        location = transport.locate(request)
        assert location.url == f"{script.base_url}/chat/completions?key=***&alt=sse"
        with pytest.raises(LlmToolsError) as caught:
            await transport.send(request)
        assert KEY not in everything_about(caught.value)
        assert script.log[-1]["path"].endswith(f"/v1/chat/completions?key={KEY}&alt=sse")
    assert KEY not in loud.text
    assert "key=***&alt=sse" in loud.text  # httpx's own line about the request
    await transport.settings.client.aclose()


@pytest.mark.anyio
@pytest.mark.parametrize("make", [httpx.AsyncClient, None], ids=["client", "http2"])
async def test_whole_clients_do_not_log_the_key(
    server: Server, make: Callable[[], Any] | None, loud: pytest.LogCaptureFixture
) -> None:
    """What a whole client and HTTP/2 write at DEBUG holds no key either."""
    client = make() if make else None
    transport = Transport(TransportSettings(client=client, http2=make is None, max_attempts=1))
    script = server.script(http("{}", headers={"x-echo": KEY}), error(500, KEY, x_echo=KEY))
    await transport.send(script.request())
    with pytest.raises(LlmToolsError) as caught:
        await transport.send(script.request())
    assert KEY not in everything_about(caught.value)
    assert loud.records
    assert KEY not in loud.text
    if client is not None:
        await client.aclose()


def test_hpack_does_not_log_the_key(loud: pytest.LogCaptureFixture) -> None:
    """hpack writes header values at DEBUG; while a request is in hand its key is masked there."""
    import hpack

    from llm_tools.transport.quiet import KeysInHand
    from llm_tools.transport.secret import Key

    with KeysInHand((Key(KEY),)):
        hpack.Encoder().encode([("authorization", f"Bearer {KEY}")])
    assert "authorization" in loud.text
    assert KEY not in loud.text


def test_a_secret_shows_nothing() -> None:
    """repr, str, format, vars, msgspec, copies and pickles of a secret."""
    secret = Secret(KEY)
    assert f"{secret} {secret!r} {[secret]}" == "*** *** [***]"
    assert bool(secret)
    assert not Secret(None)
    with pytest.raises(TypeError):
        vars(secret)
    with pytest.raises(TypeError, match="unsupported"):
        msgspec.json.encode(secret)
    for name in dir(secret):
        assert KEY not in repr(getattr(secret, name))
    assert copy.copy(secret) is copy.deepcopy(secret) is secret
    pickled = pickle.dumps(secret)
    assert KEY.encode() not in pickled
    assert anyio.run(pickle.loads(pickled).reveal) is None
    assert anyio.run(secret.reveal) == KEY


def test_settings_and_requests_show_nothing() -> None:
    """A request with a key in it, and a transport that has sent one."""
    request = make_request("https://api.example/v1")
    assert KEY not in repr(request)
    assert KEY.encode() not in pickle.dumps(TransportSettings())
    location = Transport(TransportSettings()).locate(request)
    assert location.headers["authorization"] == "Bearer ***"
    assert location.url == "https://api.example/v1/chat/completions"


@pytest.mark.anyio
async def test_what_a_transport_keeps_shows_nothing(server: Server, kind: str) -> None:
    """The heads kept between calls do not show the key in any repr."""
    script = server.script(http("{}"))
    transport = Transport(TransportSettings(transport=kind))
    await transport.send(script.request())
    kept = [getattr(transport, name) for name in Transport.__slots__]
    assert KEY not in repr([transport, *kept])
    (entry,) = transport._heads._built.items()
    assert KEY not in repr(entry)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "key", [f"{KEY}\n", f" {KEY}", f"{KEY}\r\nx-evil: 1", f"{KEY}é€", f"{KEY}\x00", f"{KEY}\x7f"]
)
async def test_keys_no_header_can_hold(
    key: str, monkeypatch: pytest.MonkeyPatch, server: Server
) -> None:
    """A key with a line break or the like is refused before anything is sent, and not shown."""
    transport = Transport(TransportSettings())
    script = server.script(http("{}"))
    with pytest.raises(ConfigurationError, match="The key from api_key cannot stand") as caught:
        await transport.send(script.request(options={"api_key": Secret(key)}))
    assert KEY not in everything_about(caught.value)
    if "\x00" not in key:
        monkeypatch.setenv("ACME_API_KEY", key)
        with pytest.raises(ConfigurationError, match="The key from ACME_API_KEY cannot") as caught:
            await transport.send(script.request(options={}))
        assert KEY not in everything_about(caught.value)
    assert script.log == []


@pytest.mark.anyio
async def test_a_failing_key_function_is_the_callers(server: Server) -> None:
    """What a function for the key raises comes out as it is; what is no string is refused."""

    def fail() -> str:
        raise LookupError("no vault")

    transport = Transport(TransportSettings())
    script = server.script(http("{}"))
    with pytest.raises(LookupError, match="no vault"):
        await transport.send(script.request(options={"api_key": Secret(fail)}))
    for value in (None, 7, ""):
        with pytest.raises(ConfigurationError, match="must return a string"):
            await transport.send(script.request(options={"api_key": Secret(lambda v=value: v)}))
    with pytest.raises(ConfigurationError, match="must be a string"):
        await transport.send(script.request(options={"api_key": Secret(7)}))  # type: ignore[arg-type]
    assert script.log == []


@pytest.mark.anyio
async def test_plain_http_to_another_machine(kind: str) -> None:
    """A key does not travel in the clear, unless the caller says so; without one there is no harm."""
    transport = Transport(TransportSettings(transport=kind, max_attempts=1))
    for base_url in ("http://10.0.0.1/v1", "http://example.com", "http://127.0.0.1.evil.example"):
        with pytest.raises(ConfigurationError, match="allow_http=True"):
            await transport.send(make_request(base_url))
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, json={})

    mock = httpx.MockTransport(answer)
    allowed = Transport(TransportSettings(transport=mock, allow_http=True))
    await allowed.send(make_request("http://10.0.0.1/v1"))
    keyless = Transport(TransportSettings(transport=mock))
    free = {"auth": KeyAuth(optional=True)}
    await keyless.send(make_request("http://10.0.0.1/v1", endpoint=free, options={}))
    for host in ("localhost:1", "127.1.2.3", "[::1]:80", "x.localhost", "0.0.0.0:99"):
        await keyless.send(make_request(f"http://{host}/v1"))
    assert len(sent) == 7


def test_an_address_masks_its_query() -> None:
    """A base URL among the locals of a frame shows everything but its key."""
    address = Address(f"https://a.example/v1?key={KEY}&alt=sse")
    assert repr(address) == "'https://a.example/v1?key=***&alt=sse'"
    assert address.endswith("&alt=sse")


@pytest.mark.anyio
async def test_failures_without_a_key(server: Server, kind: str) -> None:
    """Where there is no key there is nothing to mask, and errors are what they are."""
    transport = Transport(TransportSettings(transport=kind, max_attempts=1))
    script = server.script(error(500, "plain", x_request_id="r"))
    request = script.request(endpoint={"auth": KeyAuth(optional=True)}, options={})
    with pytest.raises(LlmToolsError, match="plain") as caught:
        await transport.send(request)
    assert caught.value.request_id == "r"  # type: ignore[attr-defined]


TRICKY = 'ab/C+d=="é&<k-_XYZ'


def spellings(char: str) -> list[bytes]:
    """What a character may become in JSON, JSON in JSON, a URL or HTML."""
    plain = char.encode()
    spelled = [
        plain,
        b"\\u%04x" % ord(char),
        b"\\\\u%04X" % ord(char),
        b"".join(b"%%%02X" % byte for byte in plain),
        b"&#%d;" % ord(char),
        b"&#x%02x;" % ord(char),
    ]
    return [*spelled, b"\\" + plain] if char in '/"' else spelled


@given(st.tuples(*[st.sampled_from(spellings(char)) for char in TRICKY]))
def test_a_key_in_any_spelling(pieces: tuple[bytes, ...]) -> None:
    """An error that echoes it with escapes holds it neither as it came nor when it is decoded."""
    body = b"".join([b'{"m":"no ', *pieces, b' x"}'])
    assert mask_error_body(body, (Key(TRICKY),)) == b'{"m":"no *** x"}'


def test_what_only_looks_like_a_key() -> None:
    """Other escapes stay as they are, and so do words that begin like the key."""
    body = rb'{"m":"\u0041 %41 sk-test \/ &#65;"}'
    assert mask_error_body(body, (Key(KEY),)) == body
    assert Needles((Key(KEY),)).mask(body) == body


@pytest.mark.parametrize("length", [8, 20, len(KEY) - 1])
def test_a_key_that_is_cut_off(length: int) -> None:
    """What is left of it at the end of a body that broke off is masked as well."""
    body = b"bad key " + KEY[:length].encode()
    assert mask_error_body(body, (Key(KEY),)) == b"bad key ***"


@pytest.mark.anyio
async def test_a_key_where_a_page_is_cut(server: Server, kind: str) -> None:
    """The piece of a web page that an error keeps ends in no piece of the key."""
    transport = Transport(TransportSettings(transport=kind, max_attempts=1))
    page = http(f"<html>{'x' * 480}{KEY}", headers={"content-type": "text/html"})
    for framing in (None, "sse"):
        with pytest.raises(LlmToolsError) as caught:
            await transport.send(server.script(page).request(framing=framing))
        assert KEY[:8] not in everything_about(caught.value)


@pytest.mark.anyio
async def test_an_answer_that_echoes_the_key_with_escapes(server: Server, kind: str) -> None:
    """The key is masked in a whole answer and in a stream, however JSON spells it."""
    transport = Transport(TransportSettings(transport=kind))
    key = "abc/DEF+0123456789=="
    for spelled in (key.replace("/", "\\/"), key.replace("+", "\\u002B").replace("=", "\\u003d")):
        body = f'{{"é":"\\u00e9 {spelled}"}}'
        options = {"api_key": Secret(key)}
        answer = await transport.send(server.script(http(body)).request(options=options))
        assert answer.body == '{"é":"\\u00e9 ***"}'.encode()
        step = [["send", sse_head() + chunk(f"data: {body}\n\n")]]
        request = server.script(step).request(options=options, framing="sse")
        stream = await transport.open(request)
        frames = await stream.read_frames()
        assert frames is not None
        assert frames[0].data == answer.body
        await stream.aclose()


@pytest.mark.anyio
async def test_a_key_in_the_name_of_a_host(server: Server, kind: str) -> None:
    """Names of hosts are written small."""
    transport = Transport(TransportSettings(transport=kind, max_attempts=1))
    location = {"location": f"https://{KEY.lower()}.example/"}
    with pytest.raises(LlmToolsError) as caught:
        await transport.send(server.script(http("", status=302, headers=location)).request())
    assert KEY.lower() not in everything_about(caught.value)


@pytest.mark.anyio
async def test_a_body_that_cannot_be_read_is_not_logged_with_the_key(
    server: Server, loud: pytest.LogCaptureFixture
) -> None:
    """httpcore logs what in a body was no chunk, as it is read."""
    head = "HTTP/1.1 {} x\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n"
    client = httpx.AsyncClient()
    for settings in ({}, {"client": client}):
        transport = Transport(TransportSettings(max_attempts=1, **settings))
        for status in (200, 401):
            step = [["send", head.format(status)], ["sleep", 0.01], ["send", f"zz{KEY}\r\n"]]
            with pytest.raises(LlmToolsError):
                await transport.send(server.script(step).request())
    assert "illegal chunk header" in loud.text
    assert KEY not in loud.text
    await client.aclose()


@pytest.mark.anyio
async def test_keys_that_are_no_strings(server: Server, kind: str) -> None:
    """A key given as bytes is refused without being shown."""
    transport = Transport(TransportSettings(transport=kind))
    raw: Any = KEY.encode()
    for source in (raw, lambda: raw):
        request = make_request("https://api.example", options={"api_key": Secret(source)})
        with pytest.raises(ConfigurationError) as caught:
            await transport.send(request)
        assert KEY not in everything_about(caught.value)


@pytest.mark.anyio
async def test_a_key_in_the_address_does_not_travel_in_the_clear(kind: str) -> None:
    """It needs https as one in a header does."""
    transport = Transport(TransportSettings(transport=kind))
    keyless = {"auth": KeyAuth(optional=True)}
    request = make_request(f"http://10.0.0.1/v1?key={KEY}", endpoint=keyless, options={})
    with pytest.raises(ConfigurationError, match="allow_http=True") as caught:
        await transport.send(request)
    assert KEY not in everything_about(caught.value)


@pytest.mark.anyio
async def test_a_proxy_on_another_machine(
    server: Server, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What goes to this machine by way of another is in the clear on that way, too."""
    script = server.script(error(500))
    transport = Transport(TransportSettings(transport=kind, max_attempts=1))
    for proxy in ("http://10.0.0.1:3128", "10.0.0.1:3128"):
        monkeypatch.setenv("HTTP_PROXY", proxy)
        with pytest.raises(
            ConfigurationError, match=r"the proxy 10\.0\.0\.1; name 127\.0\.0\.1 in NO"
        ):
            await transport.send(script.request())
    async with httpx.AsyncClient(trust_env=False) as client:
        own = Transport(TransportSettings(client=client, max_attempts=1))
        with pytest.raises(ServerError):
            await own.send(script.request())
    monkeypatch.setenv("HTTP_PROXY", "http://localhost:1")
    nearby = Transport(TransportSettings(max_attempts=1))
    with pytest.raises(TransportError):
        await nearby.send(script.request())


def options_with(**wrong: Any) -> list[Callable[[], Any]]:
    return [
        lambda: use_llm("openai.gpt-4o", api_key=KEY, **wrong),
        lambda: use_llm(["openai.gpt-4o", "nowhere.x"], api_key=KEY),
        lambda: use_llm("nowhere.x", api_key=KEY),
        lambda: use_llm("openai.gpt-4o").with_options(api_key=KEY, **wrong),
        lambda: use_llm("amazon.nova-pro-v1:0", secret_access_key=KEY, **wrong),
    ]


@pytest.mark.parametrize("make", options_with(tempratur=1) + options_with(timeout=-1))
def test_options_that_are_refused_show_no_key(make: Callable[[], Any]) -> None:
    """Nor do the frames the error came through, and whoever prints them can."""
    with pytest.raises(ConfigurationError) as caught:
        make()
    assert KEY not in everything_about(caught.value)


@pytest.mark.parametrize("base_url", [f"ftp://x/?key={KEY}", f"https://me:{KEY}@x/v1"])
def test_addresses_that_are_refused_show_no_key(base_url: str) -> None:
    """A key in a query, and a password."""
    for make in (
        lambda: use_llm("openai.gpt-4o", base_url=base_url).build_request("x"),
        lambda: Transport(TransportSettings()).locate(make_request(base_url)),
    ):
        with pytest.raises(ConfigurationError) as caught:
            make()
        assert KEY not in everything_about(caught.value)


class Interrupted(BaseException):
    """What a signal, or a framework of the caller's, may raise at any await."""


class InterruptedAt:
    """Awaits a coroutine and interrupts it as it goes on after its n-th wait."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], number: int) -> None:
        self.coroutine = coroutine
        self.number = number
        self.waits = 0

    def __await__(self) -> Generator[Any, Any, Any]:
        failure: BaseException | None = None
        value: Any = None
        while True:
            try:
                step = self.coroutine.throw(failure) if failure else self.coroutine.send(value)
            except StopIteration as end:
                return end.value
            self.waits += 1
            failure = None
            try:
                value = yield step
            except BaseException as raised:
                failure = raised
            if self.waits == self.number:
                failure = failure or Interrupted()


@pytest.mark.anyio
@pytest.mark.parametrize("way", ["httpx", "fast", "client"])
async def test_no_interruption_tells_the_key(server: Server, way: str) -> None:
    """At every await of a call and of a stream: no frame it came through holds the key."""
    step = [
        ["send", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n"],
        ["sleep", 0.01],
        ["send", "{}"],
    ]
    script = server.script(step)
    auth = {"auth": KeyAuth(header="x-api-key", prefix="")}
    interrupted = 0
    for number in range(1, 40):
        async with httpx.AsyncClient() as client:
            changes: dict[str, Any] = {"client": client} if way == "client" else {"transport": way}
            async with Transport(TransportSettings(max_attempts=1, **changes)) as transport:
                call = InterruptedAt(transport.send(script.request(endpoint=auth)), number)
                seen = ""
                try:
                    await call
                except (Interrupted, BaseExceptionGroup) as failure:  # a nursery's
                    interrupted += 1
                    seen = everything_about(failure)
                assert KEY not in seen
        if call.waits < number:
            break
    assert interrupted > 2


@pytest.mark.anyio
@pytest.mark.parametrize("own", [True, False])
async def test_a_fault_of_a_library_does_not_tell_the_key(
    server: Server, own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes as it is, without the library's frames."""

    async def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("the handler is closed")

    for stream in ("anyio.AnyIOStream", "trio.TrioStream"):
        monkeypatch.setattr(f"httpcore._backends.{stream}.write", fail)
    client = httpx.AsyncClient() if own else None
    transport = Transport(TransportSettings(client=client, max_attempts=1))
    request = server.script(error(500)).request(endpoint={"auth": KeyAuth(header="x-api-key")})
    with pytest.raises(RuntimeError, match="the handler is closed") as caught:
        await transport.send(request)
    assert KEY not in everything_about(caught.value)
    assert caught.traceback[-1].name == "fail"
    if client is not None:
        await client.aclose()
