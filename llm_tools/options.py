"""The keywords of `use_llm`, sorted by who needs them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from math import isfinite
from typing import Any, NamedTuple, TypeAlias, TypedDict

from msgspec import Struct

from .content import JSON
from .errors import ConfigurationError
from .functions.numbers import find_lacking
from .given import hint
from .spec import Endpoint, Params
from .transport import Address, Secret, TransportSettings

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
_WIRE = dict(
    zip(TransportSettings.__struct_fields__, TransportSettings.__struct_defaults__, strict=True)
)
_PARAMS = frozenset(Params.__struct_fields__)


class _Kind(NamedTuple):
    """What a value must be, and the words for it."""

    holds: Callable[[Any], bool]
    words: str


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


_NUMBER = _Kind(_is_number, "a number")
_WHOLE = _Kind(_is_whole, "a whole number")
_COUNT = _Kind(lambda value: _is_whole(value) and value >= 1, "a whole number of at least 1")
_TEXT = _Kind(lambda value: isinstance(value, str) and bool(value), "a string that is not empty")
_SECONDS = _Kind(_is_time, "a number of seconds above 0")
_SWITCH = _Kind(lambda value: isinstance(value, bool), "True or False")
_KINDS: dict[str, _Kind] = {
    **dict.fromkeys(WHERE, _TEXT),
    **dict.fromkeys(("temperature", "top_p"), _NUMBER),
    **dict.fromkeys(("top_k", "max_tokens"), _COUNT),
    **dict.fromkeys(("repair_arguments", "strict_history", "parallel_function_calls"), _SWITCH),
    **dict.fromkeys(("http2", "allow_http"), _SWITCH),
    **dict.fromkeys(("timeout", "deadline"), _SECONDS),
    "max_attempts": _COUNT,
    "seed": _WHOLE,
    "effort": _TEXT,
    "stop_sequences": _Kind(
        lambda value: isinstance(value, tuple) and all(map(_TEXT.holds, value)),
        "strings that are not empty",
    ),
    "extra_body": _Kind(
        lambda value: isinstance(value, Mapping) and find_lacking(value) is None,
        "a dict of JSON values, so without NaN and Infinity",
    ),
}


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


def hide_keys(options: LlmOptions) -> LlmOptions:
    """The same options, keys in their `Secret`: whatever frame holds them may be shown."""
    hidden: Any = {}
    for name, value in options.items():
        if name in SECRETS and value is not None and not isinstance(value, Secret):
            hidden[name] = Secret(value)  # type: ignore[arg-type]  # checked when it is revealed
        elif name == "base_url" and isinstance(value, str):
            hidden[name] = Address(value)
        else:
            hidden[name] = value
    return hidden  # type: ignore[no-any-return]


def merge_options(base: Options, changes: Mapping[str, Any]) -> Options:
    """The options with some keywords changed; None of a where-option takes it out.

    Raises:
        ConfigurationError: an unknown keyword (the nearest is named) or an impossible value.
    """
    where, wire, params, rest = dict(base.where), {}, {}, {}
    for name, given in changes.items():
        value = _read_value(name, given)
        if name in SECRETS or name in WHERE:
            _set_where(where, name, value)
        elif name in _WIRE:
            no_limit = name == "timeout"
            wire[name] = _WIRE[name] if value is None and not no_limit else value
        elif name in _PARAMS:
            params[name] = value
        elif name in _KNOWN:
            rest[name] = value
        else:
            raise ConfigurationError(f"There is no option {name!r}. {hint(name, sorted(_KNOWN))}")
    return Options(
        where=where,
        wire=_replace(base.wire, wire),
        params=_replace(base.params, params),
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


def _read_value(name: str, given: Any) -> Any:
    """The value of a keyword, of the kind it must be; None always stands for nothing."""
    kind = _KINDS.get(name)
    if kind is None or given is None:
        return given
    value = given
    if name == "stop_sequences" and isinstance(given, Iterable):
        value = (given,) if isinstance(given, str) else tuple(given)
    if not kind.holds(value):
        raise ConfigurationError(f"{name}={given!r} must be {kind.words}.")
    return value


def _replace(struct: Any, changes: dict[str, Any]) -> Any:
    if not changes:
        return struct
    fields = {name: getattr(struct, name) for name in struct.__struct_fields__}
    return type(struct)(**(fields | changes))
