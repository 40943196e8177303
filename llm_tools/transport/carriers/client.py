"""A whole client: the caller's own, or ours where a proxy or HTTP/2 asks for one."""

from __future__ import annotations

from typing import Any

from ..arrival import Arrival, Progress
from ..head import Head
from .httpx_request import HttpxArrival, tracer, translated

CONNECT_TIME = 10.0


class ClientCarrier:
    """Sends through an `httpx.AsyncClient` or one with its interface; follows no redirect."""

    __slots__ = ("_client",)

    def __init__(self, client: Any) -> None:
        self._client = client

    async def start(self, head: Head, body: bytes, progress: Progress) -> Arrival:
        """Send, and wait for the response head."""
        client = self._client
        try:
            response = await client.send(
                client.build_request(
                    "POST",
                    head.url,
                    headers=dict(head.fields),
                    content=body,
                    timeout=(CONNECT_TIME, None, None, None),
                    extensions={"trace": tracer(progress)},
                ),
                stream=True,
                follow_redirects=False,
            )
            return HttpxArrival(response, head.secrets)
        except Exception as error:
            broken = translated(error, "lost", head.secrets)
        raise broken
