"""Rate limits: so many requests and tokens per minute, first come, first served.

The counts belong to the process: they hold across event loops and threads. The queue belongs to
each loop, so fairness is promised within one.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import anyio
from anyio.lowlevel import RunVar

from ..errors import ConfigurationError
from ..given import check_switch
from .pacing import Pace

MINUTE = 60.0
_SHORTEST_WAIT = 0.001
_DRIFT = 1e-6
_BYTES_PER_TOKEN = 4
_OUTPUT_LIMIT = re.compile(
    rb'"(?:max_tokens|max_completion_tokens|max_output_tokens|maxOutputTokens|maxTokens'
    rb'|num_predict)":\s*(\d{1,7})\b'
)


def create_limiter(
    *,
    requests_per_minute: float | None = None,
    tokens_per_minute: float | None = None,
    adaptive: bool = False,
) -> Limiter:
    """A limiter for one `Llm` or several (`limiter=`), in any number of loops and threads.

    Args:
        requests_per_minute: at most so many requests begin in any 60 seconds.
        tokens_per_minute: likewise for tokens: a quarter of the body's bytes, and what the
            request allows for output.
        adaptive: also learn from the provider: pause when its `x-ratelimit-*` or
            `anthropic-ratelimit-*` headers say that nothing is left, and after a 429; then go on
            slowly, and faster with every success.

    Raises:
        ConfigurationError: there is nothing to limit, a number is none or not above 0, or
            `adaptive` is neither True nor False.
    """
    check_switch("adaptive", adaptive)
    for name, value in (
        ("requests_per_minute", requests_per_minute),
        ("tokens_per_minute", tokens_per_minute),
    ):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (is_number and value > 0):
            raise ConfigurationError(f"{name}={value!r} must be a number above 0.")
    if requests_per_minute is None and tokens_per_minute is None and not adaptive:
        raise ConfigurationError(
            "A limiter needs requests_per_minute, tokens_per_minute or adaptive=True."
        )
    return Limiter(requests_per_minute, tokens_per_minute, adaptive)


class Window:
    """How much of something was used in the last 60 seconds; never more than `limit`."""

    __slots__ = ("_limit", "_used", "_uses")

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._used = 0.0
        self._uses: deque[tuple[float, float]] = deque()

    def wait_for(self, amount: float, now: float) -> float:
        """Seconds until there is room for `amount`; more than the limit is taken as the limit."""
        uses = self._uses
        while uses and uses[0][0] <= now - MINUTE:
            self._used -= uses.popleft()[1]
        if not uses:
            self._used = 0.0  # sums of floats drift
        too_much = self._used + min(amount, self._limit) - self._limit - _DRIFT
        if too_much <= 0:
            return 0.0
        wait = MINUTE
        for since, used in uses:
            too_much -= used
            if too_much <= 0:
                wait = since + MINUTE - now
                break
        return max(wait, _SHORTEST_WAIT)

    def use(self, amount: float, now: float) -> None:
        """Count a use."""
        amount = min(amount, self._limit)
        self._used += amount
        self._uses.append((now, amount))


class Limiter:
    """Made by `create_limiter`."""

    def __init__(
        self,
        requests_per_minute: float | None,
        tokens_per_minute: float | None,
        adaptive: bool,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._arguments = (requests_per_minute, tokens_per_minute, adaptive)
        self._lock = Lock()  # never held while waiting
        self._clock = clock
        self._requests = Window(requests_per_minute) if requests_per_minute else None
        self._tokens = Window(tokens_per_minute) if tokens_per_minute else None
        self._pace = Pace() if adaptive else None

    async def acquire(self, body: bytes) -> None:
        """Wait for this request's turn. A cancelled wait leaves no trace."""
        tokens = estimate_tokens(body) if self._tokens is not None else 0
        queue = _queues().setdefault(self, deque())
        if not queue and self._try(tokens) <= 0:
            return
        turn = anyio.Event()
        queue.append(turn)
        try:
            if queue[0] is not turn:
                await turn.wait()
            while (wait := self._try(tokens)) > 0:  # noqa: ASYNC110 - time, not an event, ends it
                await anyio.sleep(wait)
        finally:
            queue.remove(turn)
            if queue:
                queue[0].set()

    def observe(self, status: int, headers: Mapping[str, str]) -> None:
        """Learn from a response: its status, and its headers (lower-case names)."""
        if self._pace is not None:
            with self._lock:
                self._pace.observe(status, headers, self._clock())

    def _try(self, tokens: float) -> float:
        """Take a turn and return 0; or the seconds after which to try again."""
        with self._lock:
            now = self._clock()
            wait = self._pace.wait(now) if self._pace is not None else 0.0
            if self._requests is not None:
                wait = max(wait, self._requests.wait_for(1, now))
            if self._tokens is not None:
                wait = max(wait, self._tokens.wait_for(tokens, now))
            if wait > 0:
                return wait
            self._use(tokens, now)
            return 0.0

    def _use(self, tokens: float, now: float) -> None:
        if self._requests is not None:
            self._requests.use(1, now)
        if self._tokens is not None:
            self._tokens.use(tokens, now)
        if self._pace is not None:
            self._pace.use(now)

    def __repr__(self) -> str:
        requests, tokens, adaptive = self._arguments
        return (
            f"<Limiter requests_per_minute={requests} tokens_per_minute={tokens} "
            f"adaptive={adaptive}>"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (Limiter, self._arguments)


_queues_of_loop: RunVar[WeakKeyDictionary[Limiter, deque[anyio.Event]]] = RunVar(
    "llm_tools.limiters"
)


def _queues() -> WeakKeyDictionary[Limiter, deque[anyio.Event]]:
    try:
        return _queues_of_loop.get()
    except LookupError:
        queues: WeakKeyDictionary[Limiter, deque[anyio.Event]] = WeakKeyDictionary()
        _queues_of_loop.set(queues)
        return queues


def estimate_tokens(body: bytes) -> int:
    """Roughly what a provider counts for a request: its text, and the output it allows."""
    found = _OUTPUT_LIMIT.search(body)
    return len(body) // _BYTES_PER_TOKEN + (int(found.group(1)) if found else 0)
