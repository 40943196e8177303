"""What is tried again, when, and how often; checked where the requests arrive."""

from __future__ import annotations

import json
import os
from email.utils import formatdate
from pathlib import Path
from typing import Any

import anyio
import pytest
from transport.scripted import OK, Server, chunk, error, http, make_request, sse_head

from llm_tools.errors import (
    BadRequestError,
    ProviderError,
    QuotaExceededError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
    StreamError,
    TransportError,
)
from llm_tools.transport import (
    AttemptFailed,
    RequestSent,
    ResponseArrived,
    Transport,
    TransportSettings,
    add_observer,
)
from llm_tools.transport.retrying import wait_before

pytestmark = pytest.mark.anyio
RESET = [["reset"]]
CLOSE = [["close"]]


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits asked for; a hundredth of them is slept."""
    waits: list[float] = []
    sleep = anyio.sleep

    async def scaled(seconds: float) -> None:
        waits.append(seconds)
        await sleep(seconds / 100)

    monkeypatch.setattr(anyio, "sleep", scaled)
    return waits


def patient(kind: str, **changes: Any) -> Transport:
    return Transport(
        TransportSettings(transport=kind, **{"max_attempts": 3, "timeout": 20.0, **changes})
    )


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 520, 524, 529])
async def test_statuses_that_are_tried_again(
    server: Server, kind: str, slept: list[float], status: int
) -> None:
    """These statuses are tried again, with growing waits, until an answer comes."""
    script = server.script(error(status), error(status), OK)
    assert (await patient(kind).send(script.request())).status == 200
    assert len(script.log) == 3
    assert 0.375 <= slept[0] <= 0.5
    assert 0.75 <= slept[1] <= 1.0


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 413, 422, 424, 501, 505, 302])
async def test_statuses_that_are_not(
    server: Server, kind: str, slept: list[float], status: int
) -> None:
    """These are raised at once."""
    script = server.script(error(status), OK)
    with pytest.raises(ProviderError) as caught:
        await patient(kind).send(script.request())
    assert caught.value.status == status
    assert (len(script.log), slept) == (1, [])


async def test_the_last_error_is_raised(server: Server, kind: str, slept: list[float]) -> None:
    """After `max_attempts` requests the last error is raised; the first counts."""
    script = server.script(error(500), error(503), error(502, "the last"))
    with pytest.raises(ServerError, match="the last"):
        await patient(kind).send(script.request())
    assert len(script.log) == 3
    once = server.script(error(500), OK)
    with pytest.raises(ServerError):
        await patient(kind, max_attempts=1).send(once.request())
    assert len(once.log) == 1


@pytest.mark.parametrize("broken", [RESET, CLOSE])
async def test_connections_that_break_before_the_head(
    server: Server, kind: str, slept: list[float], broken: list[Any]
) -> None:
    """A connection that breaks before the answer begins is tried again."""
    script = server.script(broken, broken, OK)
    assert (await patient(kind).send(script.request())).status == 200
    assert len(script.log) == 3
    lost = server.script(broken)
    with pytest.raises(TransportError):
        await patient(kind).send(lost.request())
    assert len(lost.log) == 3


@pytest.mark.parametrize("broken", [RESET, CLOSE])
async def test_a_reused_connection_that_is_dead(
    server: Server, kind: str, slept: list[float], broken: list[Any]
) -> None:
    """It is replaced at once, even where one attempt is all; the requests stay the limit else."""
    once = patient(kind, max_attempts=1)
    script = server.script(OK, broken, OK)
    for _ in range(2):
        assert (await once.send(script.request())).status == 200
    assert (len(script.log), slept) == (3, [])
    dead = server.script(OK, broken)
    thrice = patient(kind)
    await thrice.send(dead.request())
    with pytest.raises(TransportError):
        await thrice.send(dead.request())
    assert len(dead.log) == 1 + 3


async def test_an_idle_connection_the_server_closed(server: Server, kind: str) -> None:
    """A connection found closed before anything is sent costs no attempt and no request."""
    transport = patient(kind, max_attempts=1)
    script = server.script([*OK, ["sleep", 0.01], ["close"]], OK)
    await transport.send(script.request())
    await anyio.sleep(0.2)
    await transport.send(script.request())
    assert len(script.log) == 2


async def test_nobody_listens_for_a_while(kind: str, slept: list[float], unused_port: int) -> None:
    """Connecting is tried again."""
    request = make_request(f"http://127.0.0.1:{unused_port}")
    with pytest.raises(TransportError, match="Check base_url"):
        await patient(kind).send(request)
    assert len(slept) == 2


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry_after": "2"}, 2.0),
        ({"retry_after": "1.5"}, 1.5),
        ({"retry_after": "0"}, 0.0),
        ({"retry_after_ms": "250", "retry_after": "9"}, 0.25),
        (
            {
                "retry_after": formatdate(1_800_000_007, usegmt=True),
                "date": formatdate(1_800_000_000, usegmt=True),
            },
            7.0,
        ),
    ],
)
async def test_the_provider_says_when(
    server: Server, kind: str, slept: list[float], headers: dict[str, str], wait: float
) -> None:
    """The wait the provider asks for is kept."""
    script = server.script(error(429, **headers), OK)
    await patient(kind).send(script.request())
    assert slept == [wait]
    first, second = script.log
    assert second["time"] - first["time"] >= wait / 100


async def test_a_date_without_the_answers_own(
    server: Server, kind: str, slept: list[float]
) -> None:
    """A `Retry-After` date is measured against our clock where the answer has no date."""
    script = server.script(error(503, retry_after=formatdate(usegmt=True)), OK)
    await patient(kind).send(script.request())
    assert slept == [0.0]


async def test_googles_retry_info(server: Server, kind: str, slept: list[float]) -> None:
    """A wait in the body counts like one in a header."""
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.25s"}]
    body = {
        "error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED", "details": details}
    }
    script = server.script(http(json.dumps(body), status=429), OK)
    await patient(kind).send(script.request())
    assert slept == [1.25]


async def test_a_wait_beyond_the_cap_is_not_slept(
    server: Server, kind: str, slept: list[float]
) -> None:
    """A wait of more than a minute is raised at once, with the seconds on the error."""
    script = server.script(error(429, retry_after="61"), OK)
    with pytest.raises(RateLimitError, match="Wait 61 s") as caught:
        await patient(kind).send(script.request())
    assert caught.value.retry_after == 61.0
    assert (len(script.log), slept) == (1, [])


async def test_the_servers_word_decides(server: Server, kind: str, slept: list[float]) -> None:
    """`x-should-retry` outweighs the status, in both directions."""
    wanted = server.script(error(400, x_should_retry="true"), OK)
    assert (await patient(kind).send(wanted.request())).status == 200
    unwanted = server.script(error(503, x_should_retry="FALSE"), OK)
    with pytest.raises(ServerError):
        await patient(kind).send(unwanted.request())
    unclear = server.script(error(400, x_should_retry="maybe"), OK)
    with pytest.raises(BadRequestError):
        await patient(kind).send(unclear.request())
    assert [len(script.log) for script in (wanted, unwanted, unclear)] == [2, 1, 1]


async def test_a_spent_quota_is_not_tried_again(
    server: Server, kind: str, slept: list[float]
) -> None:
    """Waiting does not fill an account, whatever a header says."""
    spent = error(429, "spent", "insufficient_quota", x_should_retry="true", retry_after="1")
    script = server.script(spent, OK)
    for call in (patient(kind).send, patient(kind).open):
        with pytest.raises(QuotaExceededError, match="spent") as caught:
            await call(script.request())
        assert not caught.value.retryable
        script = server.script(spent, OK)
    assert slept == []


async def test_opening_a_stream_is_tried_again_and_reading_is_not(
    server: Server, kind: str, slept: list[float]
) -> None:
    """Until the head is there a stream is as good as a call; then it is not begun again."""
    broken = [["send", sse_head() + chunk("data: 1\n\n")], ["reset"]]
    script = server.script(error(500), RESET, broken, OK)  # the reset is the second attempt's
    stream = await patient(kind).open(script.request(framing="sse"))
    with pytest.raises(StreamError):
        while await stream.read_frames() is not None:
            pass
    assert (len(script.log), len(slept)) == (3, 2)


async def test_waiting_can_be_cancelled(server: Server, kind: str) -> None:
    """A cancelled wait ends at once, and no other request is made."""
    script = server.script(error(503, retry_after="30"), OK)
    with anyio.move_on_after(0.3) as scope:
        await patient(kind).send(script.request())
    assert scope.cancelled_caught
    assert len(script.log) == 1


async def test_the_deadline_bounds_all_attempts(server: Server, kind: str) -> None:
    """Attempts end with the deadline; a wait that would pass it is not begun."""
    transport = patient(kind, deadline=0.4, max_attempts=50)
    stalled = server.script([["stall"]])
    with pytest.raises(RequestTimeoutError, match=r"deadline=0\.4 s"):
        await transport.send(stalled.request())
    with pytest.raises(RequestTimeoutError, match=r"deadline=0\.4 s"):
        await transport.open(stalled.request(framing="sse"))
    script = server.script(error(503, "busy", retry_after="30"))
    with pytest.raises(ServerError, match="busy") as caught:
        await transport.send(script.request())
    assert caught.value.retry_after == 30.0
    assert len(script.log) == 1


async def test_a_connection_that_takes_too_long_is_tried_again(
    kind: str, slept: list[float], deaf_port: int
) -> None:
    """A timeout while connecting leaves nothing in doubt: it is tried again."""
    transport = patient(kind, timeout=0.2)
    with pytest.raises(RequestTimeoutError, match="No connection to acme"):
        await transport.send(make_request(f"http://127.0.0.1:{deaf_port}"))
    assert len(slept) == 2


def test_waits_grow_to_a_limit_and_differ() -> None:
    """Without a word from the provider: half a second, doubling to eight, up to a quarter less."""
    for attempt, longest in ((1, 0.5), (2, 1.0), (3, 2.0), (5, 8.0), (9, 8.0), (5000, 8.0)):
        waits = {wait_before(attempt, None) for _ in range(50)}
        assert all(longest * 0.75 <= wait <= longest for wait in waits)
        assert len(waits) > 1
    assert wait_before(3, 12.5) == 12.5


async def test_observers_see_every_attempt(
    server: Server, kind: str, slept: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    """An observer is told of requests, retries and answers; its own failure breaks nothing."""
    seen: list[Any] = []

    def failing(event: Any) -> None:
        raise ValueError("oops")

    removers = [add_observer(seen.append), add_observer(failing)]
    script = server.script(error(500, retry_after="2"), OK)
    await patient(kind).send(script.request())
    for remove in removers:
        remove()
    await patient(kind).send(script.request())
    sent, failed, again, arrived = seen
    assert sent == RequestSent(endpoint="acme", model="m-1", attempt=1, size=15, stream=False)
    assert isinstance(failed, AttemptFailed)
    assert (failed.attempt, failed.wait, type(failed.error)) == (1, 2.0, ServerError)
    assert again.attempt == 2
    assert isinstance(arrived, ResponseArrived)
    assert arrived.seconds >= 0
    assert caplog.text.count("An observer of the transport failed.") == 4


async def test_the_log_is_quiet_and_tells_no_content(
    server: Server, kind: str, slept: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    """At INFO there are failures, at DEBUG sizes and times; never a body."""
    script = server.script(error(500, "secret words"), http('{"a":"secret words"}'))
    request = script.request(body=b'{"prompt":"secret words"}')
    await patient(kind).send(request)
    assert caplog.text == ""
    script = server.script(error(500, "secret words"), http('{"a":"secret words"}'))
    with caplog.at_level("DEBUG", "llm_tools"):
        await patient(kind).send(script.request(body=request.body))
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0] == "acme.m-1, attempt 1: sending 25 bytes"
    assert "ServerError after" in lines[1]
    assert "answered in" in lines[3]
    assert caplog.records[1].levelname == "INFO"
    assert "secret words" not in caplog.text


CASES = os.environ.get("LLM_TOOLS_BUG_CASES")


@pytest.mark.skipif(CASES is None, reason="LLM_TOOLS_BUG_CASES is not set")
async def test_reported_errors_are_tried_as_often_as_they_should(
    server: Server, kind: str, slept: list[float]
) -> None:
    """A quota or a bad request is sent once, a rate limit or overload three times; streams too."""
    folder = Path(CASES or "") / "B22"
    expected = json.loads((folder / "expected.json").read_text())[
        "with_max_attempts_3_http_requests"
    ]
    for case in json.loads((folder / "cases.json").read_text()):
        step = http(json.dumps(case["body"]), status=case["status"], headers=case.get("headers"))
        for call in (patient(kind).send, patient(kind).open):
            script = server.script(step)
            with pytest.raises(ProviderError):
                await call(script.request())
            assert len(script.log) == expected[case["name"]], case["name"]


async def test_a_connection_that_is_replaced_is_told_of(
    server: Server, kind: str, slept: list[float]
) -> None:
    """That, too, is a request which is sent once more."""
    seen: list[Any] = []
    script = server.script(OK, CLOSE, OK)
    transport = patient(kind, max_attempts=1)
    await transport.send(script.request())
    remove = add_observer(seen.append)
    await transport.send(script.request())
    remove()
    _, failed, _, arrived = seen
    assert (failed.attempt, failed.wait, type(failed.error)) == (1, 0.0, TransportError)
    assert isinstance(arrived, ResponseArrived)
