"""Rate limits: exact counts, a fair queue, and what an adaptive limiter learns."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import anyio
import httpx
import pytest
from hypothesis import given, settings, strategies as st
from transport.scripted import make_request

from llm_tools.errors import ConfigurationError
from llm_tools.transport import Limiter, Transport, TransportSettings, create_limiter
from llm_tools.transport.limiting import Window, estimate_tokens
from llm_tools.transport.pacing import Pace, until_reset


class Clock:
    """A clock that moves when someone sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Time that passes by sleeping alone."""
    clock = Clock()
    sleep = anyio.sleep

    async def pass_time(seconds: float) -> None:
        until = clock.now + seconds
        await sleep(0)
        clock.now = max(clock.now, until)

    monkeypatch.setattr(anyio, "sleep", pass_time)
    return clock


def limiter_of(
    clock: Clock,
    requests: float | None = None,
    tokens: float | None = None,
    *,
    adaptive: bool = False,
) -> Limiter:
    return Limiter(requests, tokens, adaptive, clock=clock)


@pytest.mark.anyio
async def test_requests_per_minute(clock: Clock) -> None:
    """As many as allowed begin at once; the next when a minute has passed since the first."""
    limiter = limiter_of(clock, requests=3)
    starts = []
    for _ in range(7):
        await limiter.acquire(b"")
        starts.append(clock.now - 1000.0)
        clock.now += 1.0
    assert starts == [0.0, 1.0, 2.0, 60.0, 61.0, 62.0, 120.0]


@pytest.mark.anyio
async def test_tokens_per_minute(clock: Clock) -> None:
    """Tokens are estimated from the body and the output it allows; a giant goes alone."""
    limiter = limiter_of(clock, tokens=100)
    starts = []
    for body in (b"x" * 200, b'{"max_tokens":40}' + b"x" * 3, b"x" * 40, b"x" * 4000, b"x" * 4):
        await limiter.acquire(body)
        starts.append(clock.now - 1000.0)
    assert starts == [0.0, 0.0, 60.0, 120.0, 180.0]


@pytest.mark.parametrize(
    ("body", "tokens"),
    [
        (b"", 0),
        (b"x" * 400, 100),
        (b'{"max_completion_tokens": 50}', 57),
        (b'{"inferenceConfig":{"maxTokens":1000}}', 1009),
        (b'{"max_tokens":99999999999}', 6),
    ],
)
def test_estimates(body: bytes, tokens: int) -> None:
    """A quarter of the bytes, and the output limit of any wire."""
    assert estimate_tokens(body) == tokens


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 5),
    st.lists(st.tuples(st.floats(0, 40), st.floats(0.1, 8)), min_size=1, max_size=40),
)
def test_a_window_is_never_exceeded(limit: int, uses: list[tuple[float, float]]) -> None:
    """Whatever is asked for and when: in any 60 seconds no more than the limit is used."""
    window = Window(limit)
    now = 0.0
    granted: list[tuple[float, float]] = []
    for gap, amount in uses:
        now += gap
        while (wait := window.wait_for(amount, now)) > 0:
            now += wait
        window.use(amount, now)
        granted.append((now, min(amount, limit)))
    for until, _ in granted:
        used = sum(amount for at, amount in granted if until - 60.0 + 1e-6 < at <= until)
        assert used <= limit + 1e-4


@pytest.mark.anyio
async def test_first_come_first_served(clock: Clock) -> None:
    """Waiters get their turns in the order they came, also behind an expensive one."""
    limiter = limiter_of(clock, requests=1, tokens=1000)
    order: list[int] = []

    async def call(number: int, size: int) -> None:
        await limiter.acquire(b"x" * size)
        order.append(number)

    async with anyio.create_task_group() as group:
        for number, size in enumerate((4, 4000, 4, 4)):
            group.start_soon(call, number, size)
            await anyio.lowlevel.checkpoint()
    assert order == [0, 1, 2, 3]


@pytest.mark.anyio
async def test_a_cancelled_waiter_takes_nothing_with_it() -> None:
    """Whether it is first in the queue, in its middle or last: the others go on."""
    limiter = create_limiter(requests_per_minute=1200)
    for _ in range(1200):
        await limiter.acquire(b"")
    limiter._requests = Window(1)
    assert limiter._requests is not None
    limiter._requests.use(1, limiter._clock() - 59.5)
    done: list[int] = []

    async def call(number: int, scope: anyio.CancelScope) -> None:
        with scope:
            await limiter.acquire(b"")
            done.append(number)
            limiter._requests = Window(1)

    scopes = [anyio.CancelScope() for _ in range(5)]
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            for number, scope in enumerate(scopes):
                group.start_soon(call, number, scope)
                await anyio.sleep(0.01)
            for number in (0, 2, 4):
                scopes[number].cancel()
    assert done == [1, 3]
    await limiter.acquire(b"")


@pytest.mark.anyio
async def test_a_cancelled_turn_goes_to_the_next(clock: Clock) -> None:
    """A waiter that is cancelled as its turn comes leaves the turn to the next."""
    limiter = limiter_of(clock, requests=1)
    await limiter.acquire(b"")
    with anyio.move_on_after(0.01):
        await anyio.lowlevel.checkpoint()
    with anyio.CancelScope() as scope:
        scope.cancel()
        await limiter.acquire(b"")
    with anyio.fail_after(5):
        await limiter.acquire(b"")
    assert clock.now == 1060.0


def test_one_limiter_in_several_loops(clock: Clock) -> None:
    """The counts hold across loops of both kinds, one after another."""
    limiter = limiter_of(clock, requests=2)
    anyio.run(limiter.acquire, b"", backend="asyncio")
    anyio.run(limiter.acquire, b"", backend="trio")
    assert clock.now == 1000.0
    anyio.run(limiter.acquire, b"", backend="asyncio")
    assert clock.now == 1060.0


def test_one_limiter_in_loops_side_by_side() -> None:
    """Threads with loops of their own share the count and do not block each other."""
    limiter = create_limiter(requests_per_minute=40)
    got: list[int] = []

    async def take(number: int) -> None:
        for _ in range(20):
            with anyio.move_on_after(0.2):
                await limiter.acquire(b"")
                got.append(number)

    threads = [
        threading.Thread(
            target=anyio.run, args=(take, n), kwargs={"backend": ("asyncio", "trio")[n % 2]}
        )
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(got) == 40


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "needs requests_per_minute"),
        ({"requests_per_minute": 0}, "above 0"),
        ({"tokens_per_minute": -5}, "above 0"),
        ({"requests_per_minute": float("nan")}, "above 0"),
        ({"requests_per_minute": "no"}, "requests_per_minute='no' must be a number above 0"),
        ({"requests_per_minute": True}, "requests_per_minute=True must be a number above 0"),
        ({"tokens_per_minute": []}, r"tokens_per_minute=\[\] must be a number above 0"),
        ({"adaptive": "no"}, "adaptive must be True or False, got 'no'"),
    ],
)
def test_limits_that_limit_nothing(arguments: dict[str, Any], message: str) -> None:
    """They are refused when the limiter is made."""
    with pytest.raises(ConfigurationError, match=message):
        create_limiter(**arguments)


def test_a_limiter_travels_as_its_numbers() -> None:
    """A pickled limiter limits alike, and begins anew."""
    limiter = create_limiter(requests_per_minute=5, adaptive=True)
    copy = pickle.loads(pickle.dumps(limiter))
    assert (
        repr(copy)
        == repr(limiter)
        == "<Limiter requests_per_minute=5 tokens_per_minute=None adaptive=True>"
    )


# ---------------------------------------------------------------- adaptive


@pytest.mark.parametrize(
    ("reset", "date", "seconds"),
    [
        ("17ms", "", 0.017),
        ("6m0s", "", 360.0),
        ("1h2m3.5s", "", 3723.5),
        ("1.5", "", 1.5),
        ("0", "", 0.0),
        ("-4", "", 0.0),
        ("2026-11-28T19:17:33Z", "Sat, 28 Nov 2026 19:17:03 GMT", 30.0),
        ("2026-11-28T19:17:33", "Sat, 28 Nov 2026 19:17:03", 30.0),
        ("2026-11-28T19:17:00Z", "Sat, 28 Nov 2026 19:17:03 GMT", 0.0),
        ("1795893453000", "Sat, 28 Nov 2026 19:17:03 GMT", 30.0),
        ("1795893453", "Sat, 28 Nov 2026 19:17:03 GMT", 30.0),
        ("9e99", "", 1.0),
        ("nan", "", 1.0),
        ("soon", "", 1.0),
        ("", "", 1.0),
        ("2000-01-01T00:00:00Z", "no date", 0.0),
    ],
)
def test_when_a_limit_is_reset(reset: str, date: str, seconds: float) -> None:
    """Every spelling of a reset, and a second where it is none."""
    assert until_reset(reset, date) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "headers",
    [
        {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "30s"},
        {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "30s"},
        {"anthropic-ratelimit-input-tokens-remaining": "0", "anthropic-ratelimit-input-tokens-reset": "2026-11-28T19:17:33Z", "date": "Sat, 28 Nov 2026 19:17:03 GMT"},
        {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "30"},
    ],
)  # fmt: skip
def test_a_pause_when_nothing_is_left(headers: dict[str, str]) -> None:
    """A header that says nothing is left pauses until its reset."""
    pace = Pace()
    pace.observe(200, headers, 0.0)
    assert pace.wait(0.0) == pytest.approx(30.0)
    assert pace.wait(30.0) == 0.0


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-ratelimit-remaining-requests": "5", "x-ratelimit-reset-requests": "30s"},
        {"x-ratelimit-remaining-requests": "many"},
    ],
)
def test_no_pause_while_something_is_left(headers: dict[str, str]) -> None:
    """Other answers change nothing."""
    pace = Pace()
    pace.observe(200, headers, 0.0)
    pace.use(0.0)
    assert pace.wait(0.0) == 0.0


def test_slower_after_refusals_and_faster_again() -> None:
    """A refusal pauses and widens the gap between requests; every success narrows it."""
    pace = Pace()
    pace.observe(429, {"retry-after": "7"}, 0.0)
    assert pace.wait(0.0) == 7.0
    pace.use(7.0)
    assert pace.wait(7.0) == pytest.approx(0.1)
    pace.observe(429, {}, 8.0)
    assert pace.wait(8.0) == 2.0
    pace.use(10.0)
    assert pace.wait(10.0) == pytest.approx(0.2)
    pace.observe(200, {}, 11.0)
    pace.use(11.0)
    assert pace.wait(11.0) == pytest.approx(0.18)
    for _ in range(40):
        pace.observe(200, {}, 12.0)
    pace.use(12.0)
    assert pace.wait(12.0) == 0.0
    now = 20.0
    for _ in range(20):
        pace.observe(529, {}, now)
        now += pace.wait(now)
    pace.observe(529, {}, now)
    assert pace.wait(now) == 60.0
    pace.use(now + 60.0)
    assert pace.wait(now + 60.0) == 10.0


def test_many_refusals_at_once_count_as_one() -> None:
    """All that were in flight are refused: they say the same thing, the longest wait of them."""
    pace = Pace()
    pace.observe(429, {}, 0.0)
    for _ in range(50):
        pace.observe(429, {}, 0.5)
    pace.observe(200, {}, 0.5)
    assert pace.wait(0.5) == 0.5
    pace.use(1.0)
    assert pace.wait(1.0) == pytest.approx(0.1)
    pace.observe(429, {"retry-after": "3"}, 1.0)
    pace.observe(429, {"retry-after": "5"}, 1.1)
    pace.observe(429, {"retry-after": "2"}, 1.2)
    assert pace.wait(1.2) == pytest.approx(4.9)
    pace.use(6.1)
    assert pace.wait(6.1) == pytest.approx(0.2)
    pace.observe(429, {}, 7.0)
    assert pace.wait(7.0) == 4.0


@pytest.mark.anyio
@pytest.mark.parametrize("remaining", [0, 3])
async def test_a_storm(clock: Clock, remaining: int) -> None:
    """Fifty calls at once, three a second: all get through, though some waiters are cancelled."""
    left = {"at": 0.0, "count": 3}

    def answer(request: httpx.Request) -> httpx.Response:
        second = clock.now // 1
        if left["at"] != second:
            left.update(at=second, count=3)
        left["count"] -= 1
        told = {"x-ratelimit-remaining-requests": str(max(left["count"], 0))} if remaining else {}
        return httpx.Response(429 if left["count"] < 0 else 200, json={}, headers=told)

    limiter = limiter_of(clock, adaptive=True)
    wire = httpx.MockTransport(answer)
    transport = Transport(TransportSettings(transport=wire, limiter=limiter, max_attempts=50))
    done: list[int] = []
    scopes = [anyio.CancelScope() for _ in range(50)]

    async def call(number: int) -> None:
        with scopes[number]:
            await transport.send(make_request("https://a.example"))
            done.append(number)

    async with anyio.create_task_group() as group:
        for number in range(50):
            group.start_soon(call, number)
        await anyio.lowlevel.checkpoint()
        for number in range(10, 50, 10):
            scopes[number].cancel()
    assert sorted({*done, 10, 20, 30, 40}) == list(
        range(50)
    )  # some were done before they were cancelled
    assert len(done) == len(set(done))
    await limiter.acquire(b"")


@pytest.mark.anyio
async def test_a_transport_waits_and_reports(clock: Clock) -> None:
    """Every attempt takes a turn, and every response is learned from."""
    answers = [
        httpx.Response(429, headers={"retry-after": "9"}),
        httpx.Response(200, json={}, headers={"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "20s"}),
        httpx.Response(200, json={}),
    ]  # fmt: skip
    times: list[float] = []

    def answer(request: httpx.Request) -> httpx.Response:
        times.append(clock.now - 1000.0)
        return answers[len(times) - 1]

    limiter = limiter_of(clock, adaptive=True)
    transport = Transport(TransportSettings(transport=httpx.MockTransport(answer), limiter=limiter))
    request = make_request("https://a.example")
    await transport.send(request)
    await transport.send(request)
    assert times == [0.0, 9.0, 29.0]


@pytest.mark.anyio
async def test_waiting_for_a_turn_is_bounded_by_the_deadline() -> None:
    """The deadline counts the queue, the timeout does not."""
    limiter = create_limiter(requests_per_minute=1)
    mock = httpx.MockTransport(lambda request: httpx.Response(200, json={}))
    transport = Transport(TransportSettings(transport=mock, limiter=limiter, deadline=0.2))
    await transport.send(make_request("https://a.example"))
    with pytest.raises(Exception, match=r"deadline=0\.2 s"):
        await transport.send(make_request("https://a.example"))
