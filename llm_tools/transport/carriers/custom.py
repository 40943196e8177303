"""The caller's own transport, such as a mock, below any client."""

from __future__ import annotations

from typing import Any

from ..arrival import Arrival, Attempt
from ..head import Head
from .httpx_request import HttpxArrival, translated


class CustomCarrier:
    """Hands each request to an `httpx.AsyncBaseTransport`; its connections are its own affair."""

    __slots__ = ("_transport",)

    def __init__(self, transport: Any) -> None:
        self._transport = transport

    async def start(self, head: Head, body: bytes, attempt: Attempt) -> Arrival:
        """Send, and wait for the response head."""
        import httpx

        request = httpx.Request("POST", head.url, headers=list(head.fields), content=body)
        try:
            return HttpxArrival(await self._transport.handle_async_request(request), head.secrets)
        except Exception as error:  # noqa: BLE001 - ends as Broken, outside this frame
            broken = translated(error, "lost", head.secrets)
        raise broken
