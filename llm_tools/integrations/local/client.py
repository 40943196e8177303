"""The client of a request, watched while it is served."""

from __future__ import annotations

import selectors
import socket


class ClientGone(Exception):  # noqa: N818 - no error: the client has changed its mind
    """The client closed its connection."""


class Client:
    """The other end of a connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._silent = True

    def check(self) -> None:
        """Raise `ClientGone` if nobody is there any more."""
        with selectors.DefaultSelector() as selector:
            self._watch(selector)
            if selector.get_map() and selector.select(0):
                self._listen()

    def wait_for(self, source: socket.socket) -> None:
        """Wait until something can be read from `source`.

        Raises:
            ClientGone: the client left before that.
        """
        with selectors.DefaultSelector() as selector:
            selector.register(source, selectors.EVENT_READ)
            self._watch(selector)
            while True:
                ready = {key.fileobj for key, _ in selector.select()}
                if self._connection in ready:
                    self._listen()
                    if not self._silent:
                        selector.unregister(self._connection)
                if source in ready:
                    return

    def _watch(self, selector: selectors.BaseSelector) -> None:
        if self._silent:
            selector.register(self._connection, selectors.EVENT_READ)

    def _listen(self) -> None:
        try:
            heard = self._connection.recv(1, socket.MSG_PEEK)
        except OSError as error:
            raise ClientGone from error
        if not heard:
            raise ClientGone
        # The next request is already here. It can only be read after this one is answered, so the
        # end of the connection behind it cannot be seen either.
        self._silent = False
