"""Reading bodies whole, within bounds."""

from __future__ import annotations

from collections.abc import Mapping

from anyio import CancelScope

from ..errors import ResponseDecodeError
from .arrival import Arrival, Attempt, Broken
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
    try:
        inflater = Inflater(arrival.headers, LARGEST_ANSWER)
        body = inflater.feed(await arrival.read())
        if not arrival.ended and (chunk := await arrival.read()):
            parts = [body]
            while chunk:
                parts.append(inflater.feed(chunk))
                chunk = await arrival.read()
            body = b"".join(parts)
        return body + inflater.close()
    finally:
        await arrival.aclose()


async def read_error(arrival: Arrival, attempt: Attempt) -> bytes:
    """As much of an error's body as anyone needs, or as came; its status is known in any case.

    So the attempt's time does not end it as it ends a missing answer: what came by then is taken.
    """
    parts: list[bytes] = []
    size = 0
    try:
        with CancelScope(deadline=attempt.last_call(_LONGEST_FOR_AN_ERROR)):
            inflater = Inflater(arrival.headers, _ENOUGH_OF_AN_ERROR)
            while size < _ENOUGH_OF_AN_ERROR and (chunk := await arrival.read()):
                parts.append(inflater.feed(chunk))
                size += len(parts[-1])
    except (Broken, ResponseDecodeError):
        pass
    finally:
        await arrival.aclose()
    return b"".join(parts)


def is_web_page(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether this is HTML, by its header and its first byte."""
    return "html" in headers.get("content-type", "") and body.lstrip()[:1] == b"<"
