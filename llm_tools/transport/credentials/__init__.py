"""Who the caller is: how each kind of auth turns options and environment into headers."""

from __future__ import annotations

from ...spec import Auth, AwsAuth, GoogleAuth, KeyAuth
from ..message import OutgoingRequest
from ..secret import Key
from .keys import in_headers, key_at_hand, key_fields

__all__ = ["AuthFields", "auth_fields", "key_at_hand", "launched_fields"]

AuthFields = tuple[tuple[str, Key], ...]


async def auth_fields(request: OutgoingRequest) -> AuthFields:
    """The headers that carry the key; none where it is a signature or no key is needed.

    Raises:
        ConfigurationError: no key, naming the option and the variable; or one no header can hold.
    """
    auth = request.target.endpoint.auth
    match auth:
        case KeyAuth():
            return await key_fields(request, auth)
        case GoogleAuth():
            from .google import google_fields

            return await google_fields(request, auth)
        case AwsAuth():
            from .aws import bearer_fields

            return await bearer_fields(request)
    return ()


def launched_fields(auth: Auth, key: str) -> AuthFields:
    """The headers of a key that a launcher made up for its server."""
    return in_headers(auth, Key(key)) if isinstance(auth, KeyAuth) and key else ()
