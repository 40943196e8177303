"""A whole client: the caller's own, or ours where a proxy or HTTP/2 asks for one."""

from __future__ import annotations

from typing import Any

from ...errors import ConfigurationError
from ..arrival import CONNECT_TIME, Arrival, Attempt
from ..head import Head
from ..quiet import KeysInHand
from ..tls import shared_context
from .connections import KEEP_ALIVE
from .httpx_request import HttpxArrival, close_half_open, tracer, translated


class ClientCarrier:
    """Sends through an `httpx.AsyncClient` or one with its interface; follows no redirect."""

    __slots__ = ("_client",)

    def __init__(self, client: Any) -> None:
        self._client = client

    async def start(self, head: Head, body: bytes, attempt: Attempt) -> Arrival:
        """Send, and wait for the response head.

        Raises:
            ConfigurationError: the client has been closed.
        """
        client = self._client
        if getattr(client, "is_closed", False):
            raise ConfigurationError("client= has been closed: give one that is open.")
        try:
            with KeysInHand(head.secrets):
                response = await client.send(
                    client.build_request(
                        "POST",
                        head.url,
                        headers=dict(head.fields),
                        content=body,
                        timeout=(CONNECT_TIME, None, None, None),
                        extensions={"trace": tracer(attempt)},
                    ),
                    stream=True,
                    follow_redirects=False,
                )
            return HttpxArrival(response, head.secrets)
        except Exception as error:  # noqa: BLE001 - ends as Broken, outside this frame
            broken = translated(error, "lost", head.secrets)
        except BaseException:
            await close_half_open(attempt)
            raise
        raise broken


class ClientPool(ClientCarrier):
    """A client of our own, with the proxies of the environment."""

    __slots__ = ()

    def __init__(self, scheme: str, *, http2: bool) -> None:
        import httpx

        try:
            client = httpx.AsyncClient(
                verify=shared_context(scheme, http2=http2),
                http2=http2,
                limits=httpx.Limits(keepalive_expiry=KEEP_ALIVE),
            )
        except ImportError as missing:
            raise ConfigurationError(
                f"A package is missing ({missing}): pip install 'llm-tools[http2]' for http2=True, "
                "or 'httpx[socks]' for a SOCKS proxy."
            ) from None
        super().__init__(client)

    async def aclose(self) -> None:
        """Close all its connections."""
        await self._client.aclose()
