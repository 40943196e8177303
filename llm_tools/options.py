"""The keywords of `use_llm`, sorted by who needs them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, TypeAlias, TypedDict

from msgspec import Struct

from .content import JSON
from .errors import ConfigurationError
from .spec import Endpoint, Params
from .transport import Secret, TransportSettings

KeySource: TypeAlias = str | Callable[[], str | Awaitable[str]]
"""A key, or a function (sync or async) that returns one."""


class LlmOptions(TypedDict, total=False):
    """Where an endpoint lives, how to reach it, and the parameters of its calls."""

    api_key: KeySource
    base_url: str
    resource: str
    api_version: str
    project: str
    location: str
    access_token: KeySource
    region: str
    access_key_id: str
    secret_access_key: str
    session_token: str
    client: Any
    transport: Any
    http2: bool
    allow_http: bool
    timeout: float | None
    deadline: float | None
    max_attempts: int
    limiter: Any
    repair_arguments: bool
    strict_history: bool
    extra_body: Mapping[str, JSON] | None
    temperature: float | None
    top_p: float | None
    top_k: int | None
    max_tokens: int | None
    stop_sequences: Iterable[str] | None
    effort: str | None
    parallel_function_calls: bool | None
    seed: int | None


SECRETS = frozenset({"api_key", "access_token", "secret_access_key", "session_token"})
WHERE = frozenset(
    {"base_url", "resource", "api_version", "project", "location", "region", "access_key_id"}
)
_WHERE_FOR_ALL = frozenset({"api_key", "base_url"})
_KNOWN = frozenset(LlmOptions.__annotations__)
_WIRE = frozenset(TransportSettings.__struct_fields__)
_PARAMS = frozenset(Params.__struct_fields__)


class Options(Struct, frozen=True, kw_only=True):
    """All options of an `Llm`: where (secrets wrapped), the wire, the parameters, and the rest."""

    where: Mapping[str, Any] = {}
    wire: TransportSettings = TransportSettings()
    params: Params = Params()
    repair_arguments: bool = True
    strict_history: bool = False
    extra_body: Mapping[str, JSON] | None = None

    @property
    def settings(self) -> dict[str, str]:
        """The non-secret ones of `where`, which a dialect may read."""
        return {name: value for name, value in self.where.items() if name in WHERE}


def merge_options(base: Options, changes: Mapping[str, Any]) -> Options:
    """The options with some keywords changed; None of a where-option takes it out.

    Raises:
        ConfigurationError: an unknown keyword (the nearest is named) or an impossible value.
    """
    where, wire, params, rest = dict(base.where), {}, {}, {}
    for name, value in changes.items():
        if name in SECRETS or name in WHERE:
            _set_where(where, name, value)
        elif name in _WIRE:
            wire[name] = value
        elif name in _PARAMS:
            params[name] = value
        elif name in _KNOWN:
            rest[name] = value
        else:
            raise ConfigurationError(_unknown(name))
    return Options(
        where=where,
        wire=_replace(base.wire, wire),
        params=_replace(base.params, _read_params(params)),
        repair_arguments=rest.get("repair_arguments", base.repair_arguments),
        strict_history=rest.get("strict_history", base.strict_history),
        extra_body=rest.get("extra_body", base.extra_body),
    )


def check_where(options: Options, endpoint: Endpoint) -> None:
    """Refuse a where-option this endpoint has no use for.

    Raises:
        ConfigurationError: naming the option and what the endpoint does take.
    """
    taken = _WHERE_FOR_ALL | {setting.name for setting in endpoint.settings}
    taken |= _auth_options(endpoint)
    for name in options.where:
        if name not in taken:
            raise ConfigurationError(
                f"{endpoint.key} takes no {name!r}; of this sort it takes "
                f"{', '.join(sorted(taken))}."
            )


def _auth_options(endpoint: Endpoint) -> frozenset[str]:
    auth = endpoint.auth
    name = type(auth).__name__
    if name == "GoogleAuth" or getattr(auth, "token_header", None):
        return frozenset({"access_token"})
    if name == "AwsAuth":
        return frozenset({"access_key_id", "secret_access_key", "session_token"})
    return frozenset()


def _set_where(where: dict[str, Any], name: str, value: Any) -> None:
    if value is None:
        where.pop(name, None)
    elif name in SECRETS:
        where[name] = value if isinstance(value, Secret) else Secret(value)
    else:
        where[name] = value


def _read_params(params: dict[str, Any]) -> dict[str, Any]:
    stop = params.get("stop_sequences")
    if isinstance(stop, str):
        params["stop_sequences"] = (stop,)
    elif stop is not None:
        params["stop_sequences"] = tuple(stop)
    for name in ("max_tokens", "top_k"):
        value = params.get(name)
        if value is not None and (not isinstance(value, int) or value < 1):
            raise ConfigurationError(f"{name}={value!r} must be a whole number of at least 1.")
    return params


def _replace(struct: Any, changes: dict[str, Any]) -> Any:
    if not changes:
        return struct
    fields = {name: getattr(struct, name) for name in struct.__struct_fields__}
    return type(struct)(**(fields | changes))


def _unknown(name: str) -> str:
    near = get_close_matches(name, _KNOWN, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(_KNOWN))}."
    return f"There is no option {name!r}; {hint}"
