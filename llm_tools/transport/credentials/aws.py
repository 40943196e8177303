"""AWS: a bearer token, else signature version 4 by botocore with its chain of credentials."""

from __future__ import annotations

import os
import sys
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from ...errors import ConfigurationError
from ...spec import AwsAuth
from ..head import Head
from ..locating import first_set
from ..message import OutgoingRequest
from ..quiet import KeysInHand, find_loggers
from ..secret import Key
from .extras import load_extra
from .keys import checked, given_key

if TYPE_CHECKING:
    from . import AuthFields

BEARER = "AWS_BEARER_TOKEN_BEDROCK"
_REGION = ("AWS_REGION", "AWS_DEFAULT_REGION")
_UNSIGNED = frozenset({"accept-encoding", "user-agent", "connection"})
"""Headers a proxy may change on the way; signing them would break the signature."""


async def bearer_fields(request: OutgoingRequest) -> AuthFields:
    """The bearer token, given or in the environment; none where the request is to be signed.

    Raises:
        ConfigurationError: both a token and an access key were given.
    """
    endpoint = request.target.endpoint
    token = await given_key(request, "api_key")
    if token is not None and request.options.get("access_key_id"):
        raise ConfigurationError(
            f"{endpoint.key} was given api_key and access_key_id: leave one of them out."
        )
    if token is None and not request.options.get("access_key_id"):
        for variable in endpoint.api_key_env or (BEARER,):
            token = checked(Key(os.environ.get(variable) or "") or None, variable)
            if token is not None:
                break
    return (("authorization", Key(f"Bearer {token}")),) if token else ()


async def signed(head: Head, request: OutgoingRequest) -> Head:
    """The head with the signature's headers; made anew for every attempt, for it holds the time.

    Raises:
        ConfigurationError: botocore is missing or finds no credentials, or the region is unknown.
    """
    endpoint = request.target.endpoint
    auth = endpoint.auth
    assert isinstance(auth, AwsAuth)  # noqa: S101 - the caller looked
    region = first_set(request.options, "region", _REGION) or _region_of(head.host)
    if region is None:
        raise ConfigurationError(
            f"{endpoint.key} needs region=… or the environment variable {' or '.join(_REGION)}."
        )
    credentials = await _credentials(request)
    return _sign(head, request.body, credentials, auth.service, region)


def _sign(head: Head, body: bytes, credentials: Any, service: str, region: str) -> Head:
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest

    fields = dict(head.fields)
    unsigned = {name: fields.pop(name) for name in _UNSIGNED if name in fields}
    to_sign = AWSRequest(method="POST", url=head.url, headers=fields, data=body)
    secrets = (
        Key(credentials.secret_key),
        *([Key(credentials.token)] if credentials.token else []),
    )
    with KeysInHand(secrets, find_loggers(("botocore.auth",))):
        SigV4Auth(credentials, service, region).add_auth(to_sign)
    both = {name.lower(): value for name, value in to_sign.headers.items()} | unsigned
    return Head(head.url, tuple(both.items()), secrets)


async def _credentials(request: OutgoingRequest) -> Any:
    """Frozen credentials: those given, else those of botocore's chain."""
    endpoint = request.target.endpoint.key
    if "botocore.auth" not in sys.modules:
        await to_thread.run_sync(
            partial(
                load_extra,
                "botocore.auth",
                endpoint=endpoint,
                extra="bedrock",
                instead=f"set a bearer token in {BEARER}",
            )
        )
    access_key = request.options.get("access_key_id")
    if access_key:
        secret_key = await given_key(request, "secret_access_key")
        if secret_key is None:
            raise ConfigurationError(
                f"{endpoint} was given access_key_id: pass secret_access_key=…."
            )
        from botocore.credentials import ReadOnlyCredentials

        token = await given_key(request, "session_token")
        return ReadOnlyCredentials(str(access_key), secret_key, token)
    found = await _ask_chain(endpoint)
    if found is None:
        raise ConfigurationError(
            f"botocore found no credentials for {endpoint}: set AWS_ACCESS_KEY_ID and "
            f"AWS_SECRET_ACCESS_KEY, a profile, or {BEARER}; or pass api_key=…, or access_key_id=… "
            "and secret_access_key=…."
        )
    return found


async def _ask_chain(endpoint: str) -> Any:
    """What botocore's chain finds; its failures, whose frames hold keys, as an error of ours."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return await to_thread.run_sync(_from_chain, _chain_inputs(), abandon_on_cancel=True)
    except (BotoCoreError, ClientError) as error:
        failure = ConfigurationError(
            f"botocore could not get credentials for {endpoint}: {error}. Mend that, or pass "
            "api_key=…, or access_key_id=… and secret_access_key=…."
        )
        failure.__cause__ = OSError(f"{type(error).__name__}: {error}")
    raise failure


def _chain_inputs() -> tuple[tuple[str, str], ...]:
    """What botocore's chain reads of the environment: with other values it is asked anew."""
    return tuple((name, value) for name, value in os.environ.items() if name.startswith("AWS_"))


def _from_chain(inputs: tuple[tuple[str, str], ...]) -> Any:
    """Frozen credentials, refreshed if need be; may wait for the network."""
    credentials = _chain(hash(inputs))
    return None if credentials is None else credentials.get_frozen_credentials()


@lru_cache(maxsize=8)
def _chain(inputs: int) -> Any:
    from botocore.session import Session

    return Session().get_credentials()


def _region_of(host: str) -> str | None:
    """The region an AWS host is named after."""
    parts = host.split(".")
    named = (len(parts) >= 4 and "amazonaws" in parts) or "api" in parts[2:3]
    return parts[1] if named else None
