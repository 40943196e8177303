"""Flaws of a record that show without building a request; each a sentence with what to change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ...asking import encode_body
from ...errors import ConfigurationError
from ...options import LlmOptions
from ...registry import PROTOCOL_KEY
from ...spec import Endpoint, KeyAuth, NoAuth
from ...transport.heads import check_fields

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LAUNCHER = re.compile(r"[\w.]+:\w+")
_WRITTEN_BY_TRANSPORT = frozenset({"connection", "content-length", "host", "transfer-encoding"})
_FOR_KEYS = frozenset(
    {"api-key", "authorization", "cookie", "proxy-authorization", "x-api-key", "x-goog-api-key"}
)
_NAMES_KEY = re.compile(
    r"api[-_]?key|access[-_]?token|authorization|password|secret", re.IGNORECASE
)
_LOOKS_LIKE_KEY = re.compile(
    r"\b(?:sk|pk|gsk|xai|hf|ghp|nvapi)[-_][\w-]{16,}|\bA[KS]IA[0-9A-Z]{16}|\bAIza[\w-]{30,}|"
    r"\bBearer \S{8,}"
)


def find_record_flaws(endpoint: Endpoint) -> list[str]:
    """What is wrong with a record that can be registered, or nearly so."""
    return [flaw for find in _FINDERS for flaw in find(endpoint)]


def find_unsendable(endpoint: Endpoint) -> ConfigurationError | None:
    """Why the constants of the body cannot be sent; None if they can."""
    try:
        encode_body(endpoint.body)
    except ConfigurationError as error:
        return error
    return None


def _keys(endpoint: Endpoint) -> Iterator[str]:
    auth, named = endpoint.auth, bool(endpoint.api_key_env)
    if isinstance(auth, KeyAuth) and not (auth.optional or named or endpoint.launcher):
        yield (
            "api_key_env names no variable: name the one its key is read from, or set "
            "auth=KeyAuth(optional=True) for a server that needs none."
        )
    if isinstance(auth, NoAuth) and named:
        yield (
            "auth=NoAuth() sends no key, so api_key_env is never read: leave it out, or say how "
            "the key travels with auth=KeyAuth(…)."
        )


def _variables(endpoint: Endpoint) -> Iterator[str]:
    fields = {
        "api_key_env": endpoint.api_key_env,
        "base_url_env": endpoint.base_url_env,
        **{f"the setting {setting.name!r}": setting.env for setting in endpoint.settings},
    }
    for field, names in fields.items():
        if not all(_VARIABLE.fullmatch(name) for name in names):
            # What stands there may be the key itself.
            yield (
                f"{field} holds what is no environment variable's name: give the name, such as "
                "ACME_API_KEY, and not its value."
            )


def _headers(endpoint: Endpoint) -> Iterator[str]:
    auth = endpoint.auth
    own: tuple[str | None, ...] = ()
    if isinstance(auth, KeyAuth):
        own = (auth.header, *auth.also, auth.token_header)
    of_auth = {name.lower(): f"{getattr(auth, 'prefix', '')}***" for name in own if name}
    for name, value in {**of_auth, **endpoint.headers}.items():
        try:
            check_fields({name: value}, endpoint.key)
        except ConfigurationError as error:
            yield str(error)
    for name in endpoint.headers:
        if name.lower() in _WRITTEN_BY_TRANSPORT:
            yield f"headers holds {name!r}, which the transport writes: leave it out."
        elif name.lower() in _FOR_KEYS | of_auth.keys():
            yield (
                f"headers holds {name!r}, where a key belongs, and a record holds none: say with "
                "auth= how the key travels, and with api_key_env= where it is read."
            )


def _constants(endpoint: Endpoint) -> Iterator[str]:
    error = find_unsendable(endpoint)
    if error is not None:
        yield f"body cannot be sent. {error}. Leave that out of it."
    for field, values in (("body", endpoint.body), ("headers", endpoint.headers)):
        for name, value in values.items():
            named = field == "body" and _NAMES_KEY.search(name)
            if named or _LOOKS_LIKE_KEY.search(str(value)):
                yield (
                    f"{field} holds a key under {name!r}, and a record holds none: say with auth= "
                    "how the key travels, and with api_key_env= where it is read."
                )


def _aliases(endpoint: Endpoint) -> Iterator[str]:
    for alias, model in endpoint.aliases.items():
        where = f"The alias {alias!r}"
        if not alias or not model:
            yield f"{where} leads to {model!r}: neither may be empty."
        elif PROTOCOL_KEY.fullmatch(alias):
            yield f"{where} reads as a protocol key, so it names no model: choose another word."
        elif model in endpoint.aliases:
            yield f"{where} leads to {model!r}, an alias itself: let it lead to the model."


def _settings(endpoint: Endpoint) -> Iterator[str]:
    names = [setting.name for setting in endpoint.settings]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"The setting {name!r} is there twice: leave one out."
    for setting in endpoint.settings:
        known = setting.name in LlmOptions.__annotations__
        if not (known or setting.env or setting.default is not None):
            yield (
                f"The setting {setting.name!r} can be given by nobody: use_llm() has no such "
                "option, so name a variable in env=, or a default=."
            )


def _paths(endpoint: Endpoint) -> Iterator[str]:
    for field in ("path", "stream_path"):
        path = getattr(endpoint, field)
        if path is not None and not path.startswith("/"):
            yield f"{field}={path!r} must begin with a slash: it follows the base URL as it is."
    if endpoint.launcher is not None and not _LAUNCHER.fullmatch(endpoint.launcher):
        yield f"launcher={endpoint.launcher!r} must be written as 'package.module:function'."
    if endpoint.replay_key == "":
        yield "replay_key is empty: name whose signatures are read back, or leave it out."


_FINDERS: tuple[Callable[[Endpoint], Iterator[str]], ...] = (
    _keys,
    _variables,
    _headers,
    _constants,
    _aliases,
    _settings,
    _paths,
)
