"""From `"endpoint.model"` to a `Target`, and the list of endpoints there are."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING, Any, get_type_hints

from msgspec import Struct, ValidationError, convert, defstruct
from msgspec.structs import replace

from .errors import ConfigurationError
from .functions.caching import Bounded, Same
from .given import nearest
from .spec import Dialect, Endpoint, Framing, Params, Quirks, QuirkValues, Support, Target

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINT_GROUP = "llm_tools.endpoints"
_MODULES: dict[str, tuple[str, ...]] = {
    "openai": ("openai", "openai_responses"),
    "azure": ("azure", "azure_responses"),
    "anthropic": ("anthropic",),
    "amazon": ("bedrock",),
    "amazon:anthropic": ("bedrock",),
    "amazon:messages": ("bedrock",),
    "amazon:mantle": ("bedrock",),
    "vertex:anthropic": ("vertex_anthropic",),
    "azure:anthropic": ("foundry",),
    "google": ("google",),
    "vertex": ("vertex",),
    "xai": ("xai", "xai_responses"),
    "deepseek": ("deepseek", "deepseek_responses"),
    "mistral": ("mistral",),
    "groq": ("groq",),
    "openrouter": ("openrouter",),
    "ollama": ("ollama",),
    "local": ("local",),
}
"""Where a key's records are, so that a program loads those it uses alone."""
_OTHERS = ("compatible",)
"""Where those of all other keys are."""
_PROTOCOL = re.compile(r"[a-z_]+")
PROTOCOL_KEY = re.compile(r"[a-z_]+\.v1")

_endpoints: dict[str, dict[str, Endpoint]] = {}
_loaded: set[str] = set()
_loading = RLock()
_targets: Bounded[Target[Any]] = Bounded(256)


class EndpointInfo(Struct, frozen=True, kw_only=True, rename="camel"):
    """One endpoint, as `list_endpoints()` tells it.

    `support` says per option (see `spec.SUPPORT_OPTIONS`) whether it is `native`, `emulated` or
    `refused` there, for a model without peculiarities.
    """

    key: str
    protocol: str
    dialect: str
    base_url: str | None
    api_key_env: tuple[str, ...]
    support: dict[str, Support]
    tier: str
    docs_url: str | None


def register_endpoint(endpoint: Endpoint) -> None:
    """Add a host, for the whole process; one of the same key and protocol is replaced.

    Raises:
        ConfigurationError: a key that cannot stand in a model key, an unknown dialect, a field or
            a quirk that is none or holds what it cannot.
    """
    if not isinstance(endpoint, Endpoint):
        raise ConfigurationError(f"register_endpoint() takes an Endpoint, got {endpoint!r}.")
    _load_built_in(endpoint.key)
    endpoint = with_variables(endpoint)
    _check(endpoint)
    _add(endpoint)


def with_variables(endpoint: Endpoint) -> Endpoint:
    """The record with the variables of its key as a tuple, where only one was given."""
    if isinstance(endpoint.api_key_env, str):
        return replace(endpoint, api_key_env=(endpoint.api_key_env,))
    return endpoint


def list_endpoints() -> list[EndpointInfo]:
    """Every endpoint there is, those of installed packages included."""
    for key in _MODULES:
        _load_built_in(key)
    _load_built_in("")
    _load_entry_points()
    order = {key: place for place, key in enumerate(_MODULES)}
    keys = sorted(_endpoints, key=lambda key: order.get(key, len(order)))
    return [_info(endpoint) for key in keys for endpoint in _endpoints[key].values()]


def find_endpoint(key: str, protocol: str | None = None) -> Endpoint:
    """The record of a key, its default protocol if none is named.

    Raises:
        ConfigurationError: there is none; the message names the nearest.
    """
    records = _records(key)
    if protocol is None:
        return _default(records)
    if protocol not in records:
        _load_entry_points()
    if protocol not in records:
        have = ", ".join(f"{key}.{name}.v1" for name in records)
        raise ConfigurationError(f"{key}.{protocol}.v1 does not exist; there is {have}.")
    return records[protocol]


def resolve(
    key: str,
    *,
    model: str | None = None,
    params: Params | None = None,
    settings: Mapping[str, str] | None = None,
) -> Target[Any]:
    """The target that `"<endpoint>.<model>"`, or `"<endpoint>.<protocol>.v1"` plus `model`, names.

    Args:
        key: splits at its first dot.
        model: the model, beside a protocol key only.
        params: the parameters so far; some endpoints pick the protocol by them.
        settings: the endpoint's non-secret settings given as options (such as `api_version`).

    Raises:
        ConfigurationError: an unknown endpoint or protocol, no model, or two.
    """
    for given in (key, "" if model is None else model):
        if not isinstance(given, str):
            raise ConfigurationError(f"A model is named by strings, not by {given!r}.")
    name, dot, rest = key.partition(".")
    if not dot or not rest:
        raise ConfigurationError(
            f"{key!r} names no model: write '<endpoint>.<model>', or '<endpoint>.<protocol>.v1' "
            "with model=…."
        )
    if PROTOCOL_KEY.fullmatch(rest):
        if not model:
            raise ConfigurationError(f"{key!r} names a protocol: say which model with model=….")
        endpoint = find_endpoint(name, rest.removesuffix(".v1"))
    elif model is not None:
        raise ConfigurationError(
            f"{key!r} already names a model; leave model={model!r} out, or use a protocol key."
        )
    else:
        model = rest
        endpoint = _pick(_records(name), model, params or Params())
    return make_target(endpoint, model, settings or {})


def make_target(endpoint: Endpoint, model: str, settings: Mapping[str, str]) -> Target[Any]:
    """The target of an endpoint and a model: alias resolved, quirks layered.

    The same target again for the same endpoint, model and settings, so that what dialects made for
    it is found again.
    """
    key = (Same(endpoint), model, *settings.items())
    return _targets.get(key, lambda: build_target(endpoint, model, settings))


def build_target(endpoint: Endpoint, model: str, settings: Mapping[str, str]) -> Target[Any]:
    """What `make_target` makes, made anew."""
    model = endpoint.aliases.get(model, model)
    if endpoint.model_id is not None:
        model = endpoint.model_id(model)
    dialect = find_dialect(endpoint.dialect)
    flags = dict(endpoint.quirks)
    for pattern, values in endpoint.per_model:
        if re.fullmatch(pattern, model):
            flags.update(values)
    return Target(
        endpoint=endpoint,
        dialect=dialect,
        model=model,
        quirks=dialect.quirks(**flags),
        settings=dict(settings),
    )


@lru_cache
def find_dialect(key: str) -> Dialect[Any]:
    """The dialect of a key, such as `openai_chat`; imported when first needed.

    Raises:
        ConfigurationError: there is none.
    """
    try:
        module = import_module(f".dialects.{key}", __package__) if key.isidentifier() else None
    except ModuleNotFoundError:
        module = None
    dialect: Dialect[Any] | None = getattr(module, "DIALECT", None)
    if dialect is None:
        raise ConfigurationError(f"There is no dialect {key!r}.")
    return dialect


def _records(key: str) -> dict[str, Endpoint]:
    _load_built_in(key)
    if key not in _endpoints:
        _load_entry_points()
    if key not in _endpoints:
        raise ConfigurationError(
            f"There is no endpoint {key!r}{_hint(key, {*_MODULES, *_endpoints})} "
            "Add a host with register_endpoint()."
        )
    return _endpoints[key]


def _pick(records: Mapping[str, Endpoint], model: str, params: Params) -> Endpoint:
    for endpoint in records.values():
        if endpoint.picks is not None and endpoint.picks(model, params):
            return endpoint
    return _default(records)


def _default(records: Mapping[str, Endpoint]) -> Endpoint:
    plain = [endpoint for endpoint in records.values() if endpoint.picks is None]
    return (plain or list(records.values()))[0]


class _Plain(Struct):
    """The fields of `Endpoint` that people write by hand."""

    key: str
    protocol: str
    dialect: str
    base_url: str | None
    base_url_env: tuple[str, ...]
    api_key_env: tuple[str, ...]
    path: str | None
    stream_path: str | None
    framing: Framing | None
    headers: dict[str, str]
    body: dict[str, Any]
    quirks: dict[str, Any]
    per_model: tuple[tuple[str, dict[str, Any]], ...]
    aliases: dict[str, str]
    replay_key: str | None
    launcher: str | None


def _check(endpoint: Endpoint) -> None:
    for find in (find_wrong_kinds, find_wrong_names):
        for flaw in find(endpoint):
            raise ConfigurationError(flaw)


def find_wrong_kinds(endpoint: Endpoint) -> Iterator[str]:
    """What keeps a record from being registered: fields of a wrong kind; a sentence each."""
    for kind in _kinds():
        try:
            convert(endpoint, kind, from_attributes=True)
        except ValidationError as error:
            yield (f"The endpoint {endpoint.key!r} cannot be registered: {error} (of `Endpoint`).")


@lru_cache
def _kinds() -> tuple[type[Struct], ...]:
    """A struct for each field of `_Plain`, so that one wrong field does not hide another."""
    fields = get_type_hints(_Plain)
    return tuple(defstruct("Field", [(name, kind)]) for name, kind in fields.items())


def find_wrong_names(endpoint: Endpoint) -> Iterator[str]:
    """What keeps a record of the right kinds from being registered; a sentence each."""
    key, protocol = endpoint.key, endpoint.protocol
    if not key or "." in key or not _PROTOCOL.fullmatch(protocol):
        yield (
            f"An endpoint's key must not be empty or hold a dot, and its protocol must be one "
            f"word of small letters: {key!r}, {protocol!r}."
        )
    try:
        quirks = find_dialect(endpoint.dialect).quirks
    except ConfigurationError as error:
        yield str(error)
    else:
        for flags in (endpoint.quirks, *(values for _, values in endpoint.per_model)):
            yield from _find_wrong_quirks(endpoint.dialect, quirks, flags)
    for pattern, _ in endpoint.per_model:
        try:
            re.compile(pattern)
        except re.error as error:
            yield f"{key}: per_model pattern {pattern!r} is no regular expression: {error}."


def _find_wrong_quirks(dialect: str, quirks: type[Quirks], flags: QuirkValues) -> Iterator[str]:
    known = quirks.__struct_fields__
    for name, value in flags.items():
        if name not in known:
            yield f"{dialect} knows no quirk {name!r}{_hint(name, known)}"
            continue
        try:
            convert({name: value}, quirks)
        except ValidationError as error:
            yield f"{dialect} cannot take the quirk {name}={value!r}: {error}."


def _hint(word: str, known: Iterable[str]) -> str:
    """The end of a sentence: the nearest word there is, if one is near."""
    meant = nearest(word, known)
    return "." if meant is None else f"; did you mean {meant!r}?"


def _add(endpoint: Endpoint) -> None:
    _endpoints.setdefault(endpoint.key, {})[endpoint.protocol] = endpoint


def _load_built_in(key: str) -> None:
    """Load the records of a key of ours; of any other key, those of all plain hosts."""
    modules = _MODULES.get(key, _OTHERS)
    if _loaded.issuperset(modules):
        return
    with _loading:
        for name in modules:
            if name not in _loaded:
                for endpoint in import_module(f".endpoints.{name}", __package__).ENDPOINTS:
                    _endpoints.setdefault(endpoint.key, {}).setdefault(endpoint.protocol, endpoint)
                _loaded.add(name)


def _load_entry_points() -> None:
    """Endpoints of installed packages: each entry point names a record, or several."""
    with _loading:
        if "entry points" in _loaded:
            return
        from importlib.metadata import entry_points  # slow; only an unknown key needs it

        for point in entry_points(group=ENTRY_POINT_GROUP):
            for endpoint in _load(point):
                if endpoint.protocol not in _endpoints.get(endpoint.key, {}):
                    _add(endpoint)
        _loaded.add("entry points")


def _load(point: EntryPoint) -> list[Endpoint]:
    """The records an entry point names; what is wrong with them is warned about, and passed by."""
    try:
        found: Endpoint | Iterable[Endpoint] = point.load()
        endpoints = [found] if isinstance(found, Endpoint) else list(found)
        for endpoint in endpoints:
            _check(endpoint)
    except Exception as error:  # noqa: BLE001 - a stranger's module may raise anything
        message = f"The endpoints of entry point {point.name!r} ({point.value}) are left out"
        warnings.warn(f"{message}: {error!r}", RuntimeWarning, stacklevel=2)
        return []
    return endpoints


def _info(endpoint: Endpoint) -> EndpointInfo:
    target = make_target(endpoint, "any-model", {})
    return EndpointInfo(
        key=endpoint.key,
        protocol=endpoint.protocol,
        dialect=endpoint.dialect,
        base_url=endpoint.base_url,
        api_key_env=endpoint.api_key_env,
        support=target.dialect.support(target),
        tier=endpoint.tier,
        docs_url=endpoint.docs_url,
    )
