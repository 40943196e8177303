"""The heads of requests, built once per set of values they depend on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import ConfigurationError
from ..spec import AwsAuth, Endpoint, KeyAuth
from .credentials import AuthFields, auth_fields, key_at_hand, launched_fields
from .head import Head
from .launching import launch
from .locating import base_fields, find_url, read_inputs
from .message import OutgoingRequest
from .proxies import find_proxy
from .secret import Key

_MOST = 256
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9a-zA-Z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_LOOPBACK = ("localhost", "::1", "0.0.0.0")  # noqa: S104 - compared with, never bound to


class Heads:
    """Finds a request's address and key; what does not change between calls is looked up."""

    __slots__ = ("_allow_http", "_at_hand", "_built", "_proxied")

    def __init__(self, *, allow_http: bool, proxied: bool = True) -> None:
        """Make a finder.

        Args:
            allow_http: a key may go over plain http to another machine.
            proxied: requests go through the proxies of the environment.
        """
        self._allow_http = allow_http
        self._proxied = proxied
        self._built: dict[tuple[Any, ...], tuple[Any, Head]] = {}
        self._at_hand: dict[tuple[Any, ...], tuple[Any, Head]] = {}

    def __repr__(self) -> str:
        return f"<{len(self._built)} request heads>"

    async def find(self, request: OutgoingRequest) -> Head:
        """Where this request goes and with which headers.

        Raises:
            ConfigurationError: address or key are missing or impossible; nothing was sent.
        """
        endpoint = request.target.endpoint
        inputs = read_inputs(endpoint, request.options)
        if type(endpoint.auth) is not KeyAuth or endpoint.launcher is not None:
            return await self._look_up(request, inputs)
        key = key_at_hand(request, endpoint.auth)
        if key is None:
            return await self._look_up(request, inputs)
        known_by = (*_known_by(request, inputs), key)
        known = self._at_hand.get(known_by)
        if known is not None:
            return known[1]
        head = await self._look_up(request, inputs)
        _remember(self._at_hand, known_by, endpoint, head)
        return head

    async def _look_up(self, request: OutgoingRequest, inputs: tuple[str | None, ...]) -> Head:
        endpoint = request.target.endpoint
        if endpoint.launcher is not None and inputs[0] is None:
            base_url, key = await launch(endpoint)
            inputs = (base_url, *inputs[1:])
            auth: AuthFields = launched_fields(endpoint.auth, key)
        else:
            auth = await auth_fields(request)
        known_by = (*_known_by(request, inputs), auth)
        known = self._built.get(known_by)
        if known is not None:
            head = known[1]
        else:
            head = self._build(request, inputs, auth)
            _remember(self._built, known_by, endpoint, head)
        if isinstance(endpoint.auth, AwsAuth) and not auth:
            from .credentials.aws import signed

            return await signed(head, request)
        return head

    def _build(
        self, request: OutgoingRequest, inputs: tuple[str | None, ...], auth: AuthFields
    ) -> Head:
        endpoint = request.target.endpoint
        fields = base_fields(request)
        for name, value in auth:
            fields[name.lower()] = value
        check_fields(fields, endpoint.key)
        head = Head(find_url(request, inputs), tuple(fields.items()), _secrets(auth))
        if (head.secrets or isinstance(endpoint.auth, AwsAuth)) and not self._allow_http:
            check_encrypted(head, endpoint.key, proxied=self._proxied)
        return head


def _known_by(request: OutgoingRequest, inputs: tuple[str | None, ...]) -> tuple[Any, ...]:
    """What a head depends on, but for the key."""
    target = request.target
    headers = tuple(request.headers.items()) if request.headers else ()
    return id(target.endpoint), target.model, request.path, request.framing, inputs, headers


def _remember(
    built: dict[tuple[Any, ...], tuple[Any, Head]],
    known_by: tuple[Any, ...],
    endpoint: Endpoint,
    head: Head,
) -> None:
    """Keep a head, and its endpoint with it, whose id so stays its own."""
    if len(built) >= _MOST:
        built.clear()
    built[known_by] = endpoint, head


def check_fields(fields: Mapping[str, str], endpoint: str) -> None:
    """Refuse headers that would end, or begin another; of a key this was looked at before.

    Raises:
        ConfigurationError: naming the header.
    """
    for name, value in fields.items():
        if not (_NAME.fullmatch(name) and _VALUE.fullmatch(value)):
            raise ConfigurationError(
                f"The header {name!r} of {endpoint} cannot be sent: it holds a line break, another "
                "control character, or characters outside Latin-1. Look at the option it is from."
            )


def check_encrypted(head: Head, endpoint: str, *, proxied: bool) -> None:
    """Refuse to send a key in the clear to another machine.

    Raises:
        ConfigurationError: plain http to a host that is not this one.
    """
    if head.scheme == "https":
        return
    place = head.host
    if is_this_machine(place):
        place = find_proxy(head.scheme, place) if proxied else ""
        if not place or is_this_machine(place):
            return
        place = f"the proxy {place}; name {head.host} in NO_PROXY"
    raise ConfigurationError(
        f"{endpoint} would send a key over plain http to {place}. Use https, or pass "
        "allow_http=True if the way there is safe."
    )


def is_this_machine(host: str) -> bool:
    """Whether a host is the one this runs on."""
    if host in _LOOPBACK or host.endswith(".localhost"):
        return True
    return host.startswith("127.") and host.replace(".", "").isdecimal()


def _secrets(auth: AuthFields) -> tuple[Key, ...]:
    return tuple(dict.fromkeys(Key(value.rpartition(" ")[2]) for _, value in auth))
