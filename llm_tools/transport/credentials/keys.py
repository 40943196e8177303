"""Keys: from the option or the environment into a header."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ...errors import ConfigurationError
from ...spec import Endpoint, KeyAuth
from ..message import OutgoingRequest
from ..secret import Key, Secret

if TYPE_CHECKING:
    from . import AuthFields


async def key_fields(request: OutgoingRequest, auth: KeyAuth) -> AuthFields:
    """The key in its header; or the access token, where one was given."""
    endpoint = request.target.endpoint
    if auth.token_header is not None:
        token = await given_key(request, "access_token")
        if token is not None:
            return ((auth.token_header, Key(f"Bearer {token}")),)
    key = await given_key(request, "api_key") or environment_key(endpoint)
    if key is None:
        if auth.optional:
            return ()
        raise ConfigurationError(missing_key(endpoint))
    return in_headers(auth, key)


def key_at_hand(request: OutgoingRequest, auth: KeyAuth) -> Key | None:
    """What `key_fields` would find, unchecked, by its place; None where a function must be asked.

    It knows headers that were built before; it is in none itself.
    """
    options = request.options
    token = options.get("access_token") if auth.token_header is not None else None
    given = token or options.get("api_key")
    if isinstance(given, Secret):
        key = given.at_hand()
        return Key(f"token {key}") if token and key else key
    if given is not None:
        return None
    for variable in request.target.endpoint.api_key_env:
        value = os.environ.get(variable)
        if value:
            return Key(value)
    return Key()


def in_headers(auth: KeyAuth, key: Key) -> AuthFields:
    """The key behind its prefix, and bare where it is wanted as well."""
    header = (auth.header, Key(f"{auth.prefix}{key}") if auth.prefix else key)
    return (header, *[(name, key) for name in auth.also])


async def given_key(request: OutgoingRequest, option: str) -> Key | None:
    """The key of a where-option, checked."""
    given: Any = request.options.get(option)
    if given is None:
        return None
    secret = given if isinstance(given, Secret) else Secret(given)
    return checked(await secret.reveal(), option)


def environment_key(endpoint: Endpoint) -> Key | None:
    """The key of the first variable that is set, checked."""
    for variable in endpoint.api_key_env:
        value = Key(os.environ.get(variable) or "")
        if value:
            return checked(value, variable)
    return None


def checked(key: Key | None, source: str) -> Key | None:
    """The key, if a header can hold it.

    Raises:
        ConfigurationError: it cannot; the message names where it came from, not the key.
    """
    if key is None or _fits_a_header(key):
        return key
    key = None  # this frame is part of the traceback
    raise ConfigurationError(
        f"The key from {source} cannot stand in a header: it holds a line break, blanks around "
        "it, or characters outside Latin-1. Was it copied whole, and nothing else?"
    )


def _fits_a_header(key: Key) -> bool:
    """Printable Latin-1 without blanks around it; asked at every call, so without a loop."""
    return key.isprintable() and key.strip() == key and (key.isascii() or max(key) <= "\xff")


def missing_key(endpoint: Endpoint) -> str:
    """What to do about a missing key."""
    variables = " or ".join(endpoint.api_key_env)
    where = f"set {variables}, or pass api_key=…" if variables else "pass api_key=…"
    page = f" See {endpoint.docs_url}" if endpoint.docs_url else ""
    return f"{endpoint.key} needs a key: {where}.{page}"
