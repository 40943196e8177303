"""Non-blocking sockets on either loop, without a stream object of the loop's between."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from typing import Any, TypeAlias

import anyio
from anyio.abc import ByteStream, SocketAttribute

_AT_ONCE = 65536
_HEAD_START = 0.25
"""Seconds an address has before the next is tried beside it (RFC 8305, 5)."""

Address: TypeAlias = tuple[socket.AddressFamily, Any]


class SocketStream(ByteStream):
    """A connected socket. Closing it takes no time and no loop."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock

    async def send(self, item: bytes) -> None:
        """Send it all.

        Raises:
            anyio.BrokenResourceError: the other side is gone.
        """
        sock = self._socket
        try:
            sent = _send_some(sock, item)
            while sent < len(item):
                await anyio.wait_writable(sock)
                sent += _send_some(sock, memoryview(item)[sent:])
        except (OSError, ValueError) as error:
            raise anyio.BrokenResourceError(str(error)) from error

    async def receive(self, max_bytes: int = _AT_ONCE) -> bytes:
        """What has come.

        Raises:
            anyio.EndOfStream: the other side is done.
            anyio.BrokenResourceError: the connection is broken.
        """
        sock = self._socket
        try:
            while True:
                await anyio.wait_readable(sock)
                try:
                    data = sock.recv(max_bytes)
                except BlockingIOError:
                    continue
                break
        except (OSError, ValueError) as error:
            raise anyio.BrokenResourceError(str(error)) from error
        if not data:
            raise anyio.EndOfStream
        return data

    async def send_eof(self) -> None:
        """Say that nothing more will be sent."""
        self._socket.shutdown(socket.SHUT_WR)

    async def aclose(self) -> None:
        """Close it; whoever still waits for it is told."""
        if self._socket.fileno() >= 0:
            anyio.notify_closing(self._socket)
        self.close()

    def close(self) -> None:
        """Close it, from anywhere."""
        self._socket.close()

    def is_quiet(self) -> bool:
        """Whether a connection nobody reads from is still open, and has nothing to say."""
        try:
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except (OSError, ValueError):
            return False
        return False  # closed by the other side, or bytes nobody asked for

    @property
    def extra_attributes(self) -> Mapping[Any, Callable[[], Any]]:
        """The socket, as anyio names it."""
        return {SocketAttribute.raw_socket: lambda: self._socket}


def _send_some(sock: socket.socket, data: bytes | memoryview) -> int:
    """Send what the socket takes without waiting."""
    try:
        return sock.send(data)
    except BlockingIOError:
        return 0


async def connect(host: str, port: int) -> SocketStream:
    """A connection to the first of the host's addresses that takes one.

    Raises:
        OSError: none does, or the host has none; the error of the last tried.
    """
    addresses = await _resolve(host, port)
    if len(addresses) == 1:
        return SocketStream(await _connect(addresses[0]))
    return SocketStream(await _race(addresses))


async def _resolve(host: str, port: int) -> list[Address]:
    try:
        literal = ip_address(host)
    except ValueError:
        found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return [(socket.AddressFamily(family), address) for family, _, _, _, address in found]
    return [(socket.AF_INET6 if literal.version == 6 else socket.AF_INET, (host, port))]


async def _race(addresses: list[Address]) -> socket.socket:
    """The first address to take a connection; each has a head start before the next."""
    won: list[socket.socket] = []
    failures: list[OSError] = []

    async def attempt(address: Address, over: anyio.Event) -> None:
        try:
            won.append(await _connect(address))
            group.cancel_scope.cancel()
        except OSError as error:
            failures.append(error)
        finally:
            over.set()

    try:
        async with anyio.create_task_group() as group:
            for address in addresses:
                over = anyio.Event()
                group.start_soon(attempt, address, over)
                with anyio.move_on_after(_HEAD_START):
                    await over.wait()
    except BaseException:
        _close_all(won)
        raise
    _close_all(won[1:])
    if not won:
        raise failures[-1]
    return won[0]


def _close_all(sockets: list[socket.socket]) -> None:
    for sock in sockets:
        sock.close()


async def _connect(address: Address) -> socket.socket:
    family, where = address
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            sock.connect(where)
        except BlockingIOError:
            await anyio.wait_writable(sock)
            code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if code:
                raise OSError(code, _reason(code)) from None
    except BaseException:
        sock.close()
        raise
    return sock


def _reason(code: int) -> str:
    import os

    return os.strerror(code)
