"""From an endpoint, options and the environment to a URL. No I/O."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..errors import ConfigurationError
from ..spec import AwsAuth, Endpoint, GoogleAuth, KeyAuth, Place, Target
from .head import check_url
from .masking import Address, mask_url
from .message import Location, OutgoingRequest
from .secret import MASK

LAUNCHED_LATER = "http://127.0.0.1"
"""Stands for the address of a server that a launcher starts with the first send."""


def first_set(options: Mapping[str, Any], name: str, variables: tuple[str, ...]) -> str | None:
    """An option's value, else that of the first environment variable that is set."""
    given = options.get(name)
    if given:
        return str(given)
    for variable in variables:
        value = os.environ.get(variable)
        if value:
            return value
    return None


def read_inputs(endpoint: Endpoint, options: Mapping[str, Any]) -> tuple[str | None, ...]:
    """What the URL depends on besides the model and the path: base URL, then the settings."""
    base_url = first_set(options, "base_url", endpoint.base_url_env)
    if base_url is not None and ("?" in base_url or "@" in base_url):
        base_url = Address(base_url)
    if not endpoint.settings:
        return (base_url,)
    return (
        base_url,
        *[
            None if setting.secret else first_set(options, setting.name, setting.env)
            for setting in endpoint.settings
        ],
    )


def find_place(target: Target[Any], inputs: tuple[str | None, ...]) -> Place:
    """Where the endpoint lives, by what `read_inputs` found.

    Raises:
        ConfigurationError: a value it needs is missing; the message names option and variable.
    """
    endpoint = target.endpoint
    base_url, *found = inputs
    values = _settings(endpoint, found)
    if endpoint.place is not None:
        if base_url is not None:
            values["base_url"] = base_url
        return endpoint.place(values, target.model)
    base_url = base_url or endpoint.base_url
    if base_url is None and endpoint.launcher is not None:
        base_url = LAUNCHED_LATER
    if base_url is None:
        raise ConfigurationError(
            f"{endpoint.key} needs {_ways('base_url', endpoint.base_url_env)}."
        )
    return Place(base_url)


def build_url(place: Place, path: str, endpoint: str) -> str:
    """The whole URL; a query may stand in the base URL, the place and the path.

    Raises:
        ConfigurationError: the base URL is none.
    """
    check_url(place.base_url, endpoint)
    base, _, query = place.base_url.partition("#")[0].partition("?")
    path, _, path_query = path.partition("?")
    queries = [part for part in (query, place.query, path_query) if part]
    known: list[str] = []
    for pair in "&".join(queries).split("&"):
        if pair and pair not in known:
            known.append(pair)
    url = base.rstrip("/") + path
    return f"{url}?{'&'.join(known)}" if known else url


def base_fields(request: OutgoingRequest) -> dict[str, str]:
    """The headers of a request, without a key's and content-length."""
    accept = "application/json"
    match request.framing:
        case "sse":
            accept = "text/event-stream"
        case "ndjson":
            accept = "application/x-ndjson"
        case "aws_events" | "aws_chunks":
            accept = "application/vnd.amazon.eventstream"
    fields = {
        "content-type": "application/json",
        "accept": accept,
        "accept-encoding": "gzip, deflate",
        "user-agent": "llm-tools",
    }
    for headers in (request.target.endpoint.headers, request.headers):
        for name, value in headers.items():
            fields[name.lower()] = value
    return fields


def locate(request: OutgoingRequest) -> Location:
    """Where the request would go; needs no key and does no I/O.

    Raises:
        ConfigurationError: the address is incomplete or impossible.
    """
    endpoint = request.target.endpoint
    url = mask_url(find_url(request, read_inputs(endpoint, request.options)))
    return Location(url=url, headers={**base_fields(request), **_masked_auth(endpoint)})


def find_url(request: OutgoingRequest, inputs: tuple[str | None, ...]) -> str:
    """The whole URL of a request.

    Raises:
        ConfigurationError: the address is incomplete or impossible.
    """
    try:
        place = find_place(request.target, inputs)
        return build_url(place, request.path, request.target.endpoint.key)
    except ConfigurationError as error:
        failure = error.with_traceback(None)  # the frames below may hold a key in the base URL
    raise failure


def _masked_auth(endpoint: Endpoint) -> dict[str, str]:
    match endpoint.auth:
        case KeyAuth(header=header, prefix=prefix, also=also):
            return {header: f"{prefix}{MASK}", **dict.fromkeys(also, MASK)}
        case GoogleAuth() | AwsAuth():
            return {"authorization": MASK}
    return {}


def _settings(endpoint: Endpoint, found: list[str | None]) -> dict[str, str]:
    values: dict[str, str] = {}
    for setting, value in zip(endpoint.settings, found, strict=True):
        chosen = value or setting.default
        if chosen is not None:
            values[setting.name] = chosen
        elif setting.required and not setting.secret:
            raise ConfigurationError(f"{endpoint.key} needs {_ways(setting.name, setting.env)}.")
    return values


def _ways(name: str, variables: tuple[str, ...]) -> str:
    way = f"{name}=…"
    return f"{way} or the environment variable {' or '.join(variables)}" if variables else way
