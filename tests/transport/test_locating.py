"""From options and environment to a URL and headers."""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from transport.scripted import KEY, make_request

from llm_tools import use_llm
from llm_tools.errors import ConfigurationError
from llm_tools.spec import AwsAuth, GoogleAuth, KeyAuth, NoAuth, Place, Setting
from llm_tools.transport import OutgoingRequest, Secret, Transport, TransportSettings, launching


class Recorder:
    """A transport that keeps what it is asked to send."""

    def __init__(self, **settings: Any) -> None:
        self.seen: list[httpx.Request] = []
        mock = httpx.MockTransport(self._answer)
        self.transport = Transport(TransportSettings(transport=mock, max_attempts=1, **settings))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        return httpx.Response(200, json={})

    async def sent(self, request: OutgoingRequest) -> httpx.Request:
        await self.transport.send(request)
        return self.seen[-1]

    async def url_of(self, request: OutgoingRequest) -> str:
        """The URL that is sent to; `locate` says the same."""
        url = str((await self.sent(request)).url)
        assert self.transport.locate(request).url == url
        return url


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


def request_of(**changes: Any) -> OutgoingRequest:
    """A request whose base URL is the endpoint's own affair."""
    made = make_request("", **changes)
    options = {name: value for name, value in made.options.items() if value != ""}
    return OutgoingRequest(
        target=made.target, options=options, path=made.path, headers=made.headers, body=made.body,
        framing=made.framing,
    )  # fmt: skip


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("base_url", "path", "url"),
    [
        ("https://a.example/v1", "/chat", "https://a.example/v1/chat"),
        ("https://a.example/v1/", "/chat", "https://a.example/v1/chat"),
        ("https://a.example", "/x:y?alt=sse", "https://a.example/x:y?alt=sse"),
        ("https://a.example/v1?tenant=t", "/x?alt=sse", "https://a.example/v1/x?tenant=t&alt=sse"),
        ("https://a.example/v1?alt=sse", "/x?alt=sse", "https://a.example/v1/x?alt=sse"),
        ("https://a.example/v1#top", "/x", "https://a.example/v1/x"),
        ("https://a.example:8443", "/m%2Fx:1/y", "https://a.example:8443/m%2Fx:1/y"),
        ("http://[::1]:80", "/x", "http://[::1]/x"),
    ],
)
async def test_urls(recorder: Recorder, base_url: str, path: str, url: str) -> None:
    """A base URL may end with a slash and hold a query; the path is the dialect's."""
    request = make_request(base_url, path=path)
    assert str((await recorder.sent(request)).url) == url


@pytest.mark.anyio
async def test_where_the_base_url_comes_from(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The option, else the first variable that is set, else the record; read at each call."""
    endpoint = {"base_url": "https://record.example", "base_url_env": ("ACME_URL", "ACME_HOST")}
    request = request_of(endpoint=endpoint, path="/p")
    assert await recorder.url_of(request) == "https://record.example/p"
    monkeypatch.setenv("ACME_HOST", "https://host.example")
    assert await recorder.url_of(request) == "https://host.example/p"
    monkeypatch.setenv("ACME_URL", "https://url.example")
    assert await recorder.url_of(request) == "https://url.example/p"
    monkeypatch.setenv("ACME_URL", "")
    assert await recorder.url_of(request) == "https://host.example/p"
    given = make_request("https://option.example", endpoint=endpoint, path="/p")
    assert await recorder.url_of(given) == "https://option.example/p"


@pytest.mark.anyio
async def test_where_a_place_is_made(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings by option, variable or default; the place makes URL and query of them."""
    asked: list[Mapping[str, str]] = []

    def place(values: Mapping[str, str], model: str) -> Place:
        asked.append(values)
        return Place(f"https://{values['region']}.example/{model}", "api-version=1")

    settings = (
        Setting("region", env=("ACME_REGION",), required=True),
        Setting("zone", default="z"),
        Setting("tenant"),
    )
    request = request_of(endpoint={"place": place, "settings": settings}, path="/p?a=b")
    with pytest.raises(
        ConfigurationError, match=r"acme needs region=… or the environment variable ACME_REGION"
    ):
        await recorder.transport.send(request)
    with pytest.raises(ConfigurationError, match="acme needs region"):
        recorder.transport.locate(request)
    monkeypatch.setenv("ACME_REGION", "eu")
    assert await recorder.url_of(request) == "https://eu.example/m-1/p?api-version=1&a=b"
    assert asked[-1] == {"region": "eu", "zone": "z"}
    given = request_of(
        endpoint={"place": place, "settings": settings}, path="/p",
        options={"region": "us", "tenant": "t", "base_url": "https://x", "api_key": Secret(KEY)},
    )  # fmt: skip
    assert await recorder.url_of(given) == "https://us.example/m-1/p?api-version=1"
    assert asked[-1] == {"region": "us", "zone": "z", "tenant": "t", "base_url": "https://x"}


def test_nowhere_to_go(recorder: Recorder) -> None:
    """Without a base URL the error says how to give one."""
    with pytest.raises(ConfigurationError, match=r"acme needs base_url=….$"):
        recorder.transport.locate(request_of())
    with pytest.raises(ConfigurationError, match="or the environment variable ACME_URL or A_URL"):
        recorder.transport.locate(request_of(endpoint={"base_url_env": ("ACME_URL", "A_URL")}))


@pytest.mark.parametrize(
    ("base_url", "reason"),
    [
        ("api.example/v1", "begin with https"),
        ("ftp://api.example", "begin with https"),
        ("https://", "names no host"),
        ("https://user:pass@api.example", "use api_key"),
        ("https://api.example/a b", "spaces"),
        ("https://api.example/\n", "spaces"),
        ("https://api.exämple", "outside ASCII"),
        ("https://[oops", "no URL"),
        ("https://api.example:99999", "no URL"),
    ],
)
def test_base_urls_nothing_can_be_sent_to(recorder: Recorder, base_url: str, reason: str) -> None:
    """They are refused, saying why, before anything is sent."""
    with pytest.raises(ConfigurationError, match=reason) as caught:
        recorder.transport.locate(make_request(base_url))
    assert "pass@" not in str(caught.value)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("auth", "headers"),
    [
        (KeyAuth(), {"authorization": f"Bearer {KEY}"}),
        (KeyAuth(header="x-api-key", prefix=""), {"x-api-key": KEY}),
        (KeyAuth(header="X-Key", prefix="", also=("api-key",)), {"x-key": KEY, "api-key": KEY}),
        (NoAuth(), {}),
    ],
)
async def test_how_a_key_travels(recorder: Recorder, auth: Any, headers: dict[str, str]) -> None:
    """In its header, behind its prefix; `locate` shows the same headers masked."""
    request = make_request("https://a.example", endpoint={"auth": auth})
    sent = await recorder.sent(request)
    names = {"authorization", "x-api-key", "x-key", "api-key"}
    assert {name: value for name, value in sent.headers.items() if name in names} == headers
    shown = recorder.transport.locate(request).headers
    assert {name.lower() for name in shown} >= set(headers)
    assert KEY not in str(shown)


@pytest.mark.anyio
async def test_headers_are_layered(recorder: Recorder) -> None:
    """The endpoint's constant headers, the dialect's over them, names without regard to case."""
    endpoint = {"headers": {"X-Version": "1", "X-Kept": "k", "User-Agent": "mine"}}
    request = make_request("https://a.example", endpoint=endpoint, headers={"x-version": "2"})
    sent = await recorder.sent(request)
    assert (sent.headers["x-version"], sent.headers["x-kept"], sent.headers["user-agent"]) == (
        "2",
        "k",
        "mine",
    )
    assert recorder.transport.locate(request).headers["x-version"] == "2"


@pytest.mark.anyio
async def test_where_a_key_comes_from(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The option (a string, a function, a coroutine function), else the variables; at each call."""
    endpoint = {"api_key_env": ("ACME_API_KEY", "ACME_KEY")}
    environment = make_request("https://a.example", endpoint=endpoint, options={})
    with pytest.raises(
        ConfigurationError, match=r"set ACME_API_KEY or ACME_KEY, or pass api_key=…"
    ):
        await recorder.transport.send(environment)
    recorder.transport.locate(environment)
    for variable, key in (
        ("ACME_KEY", "second"),
        ("ACME_API_KEY", "first"),
        ("ACME_API_KEY", "new"),
    ):
        monkeypatch.setenv(variable, key)
        assert (await recorder.sent(environment)).headers["authorization"] == f"Bearer {key}"
    turns = iter(["one", "two"])

    async def later() -> str:
        return next(turns)

    for source, key in (
        (lambda: "called", "called"),
        (later, "one"),
        (later, "two"),
        ("plain", "plain"),
    ):
        for wrapped in (Secret(source),):
            request = make_request(
                "https://a.example", endpoint=endpoint, options={"api_key": wrapped}
            )
            assert (await recorder.sent(request)).headers["authorization"] == f"Bearer {key}"
    bare = make_request("https://a.example", options={"api_key": "unwrapped"})
    assert (await recorder.sent(bare)).headers["authorization"] == "Bearer unwrapped"
    empty = make_request("https://a.example", endpoint=endpoint, options={"api_key": Secret(None)})
    assert (await recorder.sent(empty)).headers["authorization"] == "Bearer new"


@pytest.mark.anyio
async def test_a_missing_key_names_the_page(recorder: Recorder) -> None:
    """A record without variables, and one with a page about keys."""
    endpoint = {"api_key_env": (), "docs_url": "https://docs.example/keys"}
    with pytest.raises(
        ConfigurationError, match=r"acme needs a key: pass api_key=…. See https://docs"
    ):
        await recorder.transport.send(
            make_request("https://a.example", endpoint=endpoint, options={})
        )
    assert recorder.seen == []


@pytest.mark.anyio
async def test_a_key_that_may_be_missing(recorder: Recorder) -> None:
    """A local server gets a key when there is one."""
    endpoint = {"auth": KeyAuth(optional=True)}
    without = make_request("http://127.0.0.1:1", endpoint=endpoint, options={})
    assert "authorization" not in (await recorder.sent(without)).headers
    with_key = make_request("http://127.0.0.1:1", endpoint=endpoint)
    assert (await recorder.sent(with_key)).headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.anyio
async def test_an_access_token_in_place_of_a_key(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Azure's Entra tokens go as bearer tokens, and win over a key of the environment."""
    monkeypatch.setenv("ACME_API_KEY", KEY)
    endpoint = {"auth": KeyAuth(header="api-key", prefix="", token_header="authorization")}
    request = make_request(
        "https://a.example", endpoint=endpoint, options={"access_token": Secret(lambda: "tok")}
    )
    sent = await recorder.sent(request)
    assert sent.headers["authorization"] == "Bearer tok"
    assert "api-key" not in sent.headers
    plain = await recorder.sent(make_request("https://a.example", endpoint=endpoint, options={}))
    assert plain.headers["api-key"] == KEY


@pytest.mark.anyio
async def test_a_launcher(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found and asked when something is sent, not before; a base URL makes it unneeded."""
    launching._launcher.cache_clear()
    launched: list[int] = []

    async def launch() -> tuple[str, str]:
        launched.append(1)
        return "http://127.0.0.1:1234/v1", KEY

    module = types.ModuleType("acme_launching")
    module.launch = launch  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "acme_launching", module)
    endpoint = {"launcher": "acme_launching:launch", "auth": KeyAuth(optional=True)}
    request = request_of(endpoint=endpoint, options={})
    assert recorder.transport.locate(request).url == "http://127.0.0.1/chat/completions"
    assert launched == []
    sent = await recorder.sent(request)
    assert str(sent.url) == "http://127.0.0.1:1234/v1/chat/completions"
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    elsewhere = make_request("http://127.0.0.1:9", endpoint=endpoint, options={})
    assert "authorization" not in (await recorder.sent(elsewhere)).headers
    assert launched == [1]
    keyless = request_of(endpoint={**endpoint, "auth": NoAuth()}, options={})
    assert "authorization" not in (await recorder.sent(keyless)).headers


@pytest.mark.anyio
@pytest.mark.parametrize("launcher", ["no_such_module:launch", "sys:no_such_name", "sys"])
async def test_a_launcher_that_is_not_there(recorder: Recorder, launcher: str) -> None:
    """It is a `ConfigurationError` that names it."""
    with pytest.raises(ConfigurationError, match=f"launcher '{launcher}' of acme"):
        await recorder.transport.send(request_of(endpoint={"launcher": launcher}))


@pytest.mark.anyio
async def test_heads_are_built_once(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same values give the same head; the number of heads kept is bounded."""
    monkeypatch.setattr("llm_tools.transport.heads._MOST", 3)
    heads = recorder.transport._heads
    request = make_request("https://a.example")
    assert await heads.find(request) is await heads.find(request)
    for number in range(10):
        await heads.find(make_request(f"https://a{number}.example", endpoint={"key": str(number)}))
    assert len(heads._built) <= 3


def test_importing_the_room_loads_nothing_heavy() -> None:
    """Neither httpx nor ssl nor a parser is imported before the first request."""
    import subprocess

    code = (
        "import sys, llm_tools.transport as t; t.Secret, t.TransportSettings; "
        "print([m for m in ('httpx', 'ssl', 'httptools', 'h11', 'certifi', 'logging') if m in sys.modules])"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert output.stdout.strip() == "[]"


def test_auth_that_is_masked_without_a_key(recorder: Recorder) -> None:
    """Google's and Amazon's headers are shown masked, though nobody was asked for a token."""
    for auth in (GoogleAuth(), AwsAuth()):
        request = make_request("https://a.example", endpoint={"auth": auth}, options={})
        assert recorder.transport.locate(request).headers["authorization"] == "***"


def test_names_the_room_does_not_have() -> None:
    """An unknown name is an `AttributeError`."""
    import llm_tools.transport

    with pytest.raises(AttributeError, match="no_such_name"):
        _ = llm_tools.transport.no_such_name
    assert set(llm_tools.transport.__all__) == {
        name for name in llm_tools.transport.__all__ if getattr(llm_tools.transport, name)
    }


@pytest.mark.anyio
@pytest.mark.parametrize(
    "field", [("x-v", "1\r\nx-evil: 1"), ("x-v", "1\n"), ("x-v", "a\0b"), ("x-v", "☃"), ("x v", "1"), ("x:v", "1"), ("", "1")]
)  # fmt: skip
async def test_headers_that_cannot_be_sent(kind: str, field: tuple[str, str]) -> None:
    """They are refused by name, whoever put them there, before anything is sent."""
    transport = Transport(TransportSettings(transport=kind))
    headers = dict([field])
    for request in (
        make_request("https://a.example", headers=headers),
        make_request("https://a.example", endpoint={"headers": headers}),
    ):
        with pytest.raises(ConfigurationError, match=r"The header .* cannot be sent"):
            await transport.send(request)


@pytest.mark.anyio
async def test_an_option_that_ends_its_header(kind: str) -> None:
    """An option out of the environment may hold anything."""
    llm = use_llm("anthropic.claude-x", api_key=KEY, api_version="1\r\nx: y", transport=kind)
    with pytest.raises(ConfigurationError, match="'anthropic-version' of anthropic cannot be sent"):
        await llm.call("Hi")
