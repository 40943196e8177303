"""The floor that ratios are to: one `httpx.AsyncClient`, and a typed decode of what it brings.

Its connection pool is bistable: with some tens of calls in flight the same code takes a multiple of
its CPU time in one run or the other, depending on how many connections happen to be open. Where
that matters, ratios to `socket_floor` stand beside those to this.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import agent_work
import httpx
from floor import Floor


class HttpxClient(Floor):
    """Bare httpx, without a limit on connections.

    Args:
        base_url: everything before `/chat/completions`.
        messages: the history, as OpenAI's chat messages.
        tools: as OpenAI's tools.
        idle: seconds an idle connection is kept; httpx's own default.
    """

    def __init__(
        self,
        base_url: str,
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]],
        *,
        idle: float = 5.0,
    ) -> None:
        super().__init__(base_url, messages, tools)
        self._client = httpx.AsyncClient(
            headers={
                "authorization": f"Bearer {agent_work.KEY}",
                "content-type": "application/json",
            },
            timeout=600,
            limits=httpx.Limits(
                max_connections=None, max_keepalive_connections=None, keepalive_expiry=idle
            ),
        )

    async def aclose(self) -> None:
        await self._client.aclose()

    def _aim_at(self, base_url: str) -> None:
        self._url = f"{base_url}/chat/completions"

    async def _post(self, body: bytes) -> bytes:
        response = await self._client.post(self._url, content=body)
        assert response.status_code == 200
        return response.content

    async def _receive(self, body: bytes) -> AsyncIterator[bytes]:
        async with self._client.stream("POST", self._url, content=body) as response:
            assert response.status_code == 200
            async for data in response.aiter_bytes():
                yield data
