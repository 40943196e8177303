"""Google's OAuth: an access token given, else the application's default credentials."""

from __future__ import annotations

from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from ...errors import ConfigurationError, LlmToolsError, TransportError
from ...spec import GoogleAuth
from ..message import OutgoingRequest
from ..secret import Key
from .extras import load_extra
from .keys import checked, given_key

if TYPE_CHECKING:
    from . import AuthFields

_found: dict[tuple[str, ...], Any] = {}
_lock = Lock()  # held in worker threads only, by whoever finds or refreshes credentials


async def google_fields(request: OutgoingRequest, auth: GoogleAuth) -> AuthFields:
    """The access token as a bearer token.

    Raises:
        ConfigurationError: google-auth is missing, or finds no credentials.
    """
    token = await given_key(request, "access_token")
    if token is None:
        token = _current(auth.scopes) or await to_thread.run_sync(
            _fetch, auth.scopes, request.target.endpoint.key, abandon_on_cancel=True
        )
    return (("authorization", Key(f"Bearer {token}")),)


def _current(scopes: tuple[str, ...]) -> Key | None:
    """The token that is known and valid; google-auth counts one about to expire as expired."""
    credentials = _found.get(scopes)
    return Key(credentials.token) if credentials is not None and credentials.valid else None


def _fetch(scopes: tuple[str, ...], endpoint: str) -> Key:
    """Find credentials and have them fetch a token; waits for the network.

    Raises:
        ConfigurationError: there are none, or they give no token.
        TransportError: the network does not let them.
    """
    load = partial(load_extra, endpoint=endpoint, extra="vertex", instead="pass access_token=…")
    google_auth = load("google.auth")
    requests = load("google.auth.transport.requests")
    failures = load("google.auth.exceptions")
    error: LlmToolsError
    with _lock:
        known = _current(scopes)
        if known is not None:
            return known
        try:
            token = _refresh(scopes, google_auth, requests.Request())
        except failures.TransportError as broken:
            error = TransportError(
                f"google-auth did not reach Google: {_short(broken)}. Try again."
            )
        except failures.GoogleAuthError as refused:
            error = _no_token(endpoint, f"{type(refused).__name__}: {_short(refused)}")
        else:
            if token:
                return token
            error = _no_token(endpoint, "it was empty")
    raise error


def _refresh(scopes: tuple[str, ...], google_auth: Any, request: Any) -> Key | None:
    credentials = _found.get(scopes)
    if credentials is None:
        credentials, _ = google_auth.default(scopes=list(scopes))
    credentials.refresh(request)
    if credentials.token:
        _found[scopes] = credentials
    return checked(Key(credentials.token or "") or None, "google-auth")


def _short(error: Exception) -> str:
    return str(error)[:300]


def _no_token(endpoint: str, reason: str) -> ConfigurationError:
    return ConfigurationError(
        f"google-auth got no token for {endpoint} ({reason}): run 'gcloud auth "
        "application-default login', set GOOGLE_APPLICATION_CREDENTIALS, or pass access_token=…."
    )
