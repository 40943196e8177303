"""Reading bodies whole, within bounds."""

from __future__ import annotations

from collections.abc import Mapping

from anyio import CancelScope

from ..errors import ResponseDecodeError
from .arrival import Arrival, Attempt, Broken, explained
from .inflating import Inflater

LARGEST_ANSWER = 64_000_000
_ENOUGH_OF_AN_ERROR = 65_536
_LONGEST_FOR_AN_ERROR = 10.0


async def read_answer(arrival: Arrival) -> bytes:
    """The whole body; the connection is given back, or dropped if that did not end well.

    Raises:
        Broken: the connection broke.
        ResponseDecodeError: it is too large, or cannot be decompressed.
    """
    failure = None
    parts: list[bytes] = []
    try:
        inflater = Inflater(arrival.headers, LARGEST_ANSWER)
        read = arrival.open_reader()
        while not arrival.ended:
            try:
                parts.append(inflater.feed(await read()))
                if not parts[-1]:
                    parts.pop()
            except Exception as error:  # noqa: BLE001 - ends as what it means, outside this frame
                failure = explained(arrival, error)
                break
    finally:
        await arrival.aclose()
    if failure is not None:
        parts.clear()  # a key may be in them
        raise failure
    rest = inflater.close()
    return b"".join([*parts, rest]) if rest else b"".join(parts)


async def read_error(arrival: Arrival, attempt: Attempt) -> bytes:
    """As much of an error's body as anyone needs, or as came; its status is known in any case.

    So the attempt's time does not end it as it ends a missing answer: what came by then is taken.
    """
    failure = None
    parts: list[bytes] = []
    size = 0
    try:
        with CancelScope(deadline=attempt.last_call(_LONGEST_FOR_AN_ERROR)):
            inflater = Inflater(arrival.headers, _ENOUGH_OF_AN_ERROR)
            read = arrival.open_reader()
            while size < _ENOUGH_OF_AN_ERROR and not arrival.ended:
                parts.append(inflater.feed(await read()))
                size += len(parts[-1])
    except Exception as error:  # noqa: BLE001 - ends as what it means, outside this frame
        failure = explained(arrival, error)
    finally:
        await arrival.aclose()
    if failure is not None and not isinstance(failure, Broken | ResponseDecodeError):
        raise failure
    return b"".join(parts)


def is_web_page(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether this is HTML, by its header and its first byte."""
    return "html" in headers.get("content-type", "") and body.lstrip()[:1] == b"<"
