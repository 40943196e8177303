"""`check_endpoint`: the proof that a record can work."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ...errors import ConfigurationError
from ...given import check_name
from ...registry import build_target, find_wrong_kinds, find_wrong_names, with_variables
from ...spec import Endpoint
from .records import find_record_flaws, find_unsendable
from .requests import find_request_flaws


def check_endpoint(endpoint: Endpoint, *, model: str = "some-model") -> None:
    """Prove that a record can work, in a test of your own.

    Requests are built for every option: each function call mode, strict input, a schema, each
    parameter, a stream, a history with calls, results and reasoning; for the model, for each alias,
    and with the quirks of each pattern of `per_model`. Each must be a request that could be sent,
    or a refusal, as the endpoint's table of support says. Besides, the record itself is looked
    through: where it goes, where its key is, what it names. Nothing is registered, sent, or read of
    the environment.

    Args:
        endpoint: the record.
        model: a model of it.

    Raises:
        ConfigurationError: it has flaws: all of them, a line each, with what to change.
    """
    if not isinstance(endpoint, Endpoint):
        raise ConfigurationError(f"check_endpoint() takes an Endpoint, got {endpoint!r}.")
    if not check_name("model", model):
        raise ConfigurationError("model must name a model, and not be empty.")
    flaws = list(dict.fromkeys(_find_flaws(with_variables(endpoint), model)))
    if flaws:
        raise ConfigurationError("\n".join([f"The endpoint {endpoint.key!r} has flaws:", *flaws]))


def _find_flaws(endpoint: Endpoint, model: str) -> Iterator[str]:
    kinds = list(find_wrong_kinds(endpoint))
    names = [] if kinds else list(find_wrong_names(endpoint))
    yield from kinds or [*names, *find_record_flaws(endpoint)]
    if kinds or names:
        return  # no request can be built
    if find_unsendable(endpoint) is not None:
        endpoint = replace(endpoint, body={})  # that was told, and would hide all else
    known: set[str] = set()
    for whose, variant, name in _variants(endpoint, model):
        flaws = dict.fromkeys(_find_flaws_of_model(variant, name))
        yield from [f"{whose}{flaw}" for flaw in flaws if flaw not in known]
        known |= flaws.keys()


def _find_flaws_of_model(endpoint: Endpoint, model: str) -> Iterator[str]:
    try:
        target = build_target(endpoint, model, {})
    except Exception as error:  # noqa: BLE001 - the record's own function may raise anything
        yield (
            f"model_id= ends in {type(error).__name__} for {model!r}: {error}. It must return the "
            "model's name on the wire."
        )
        return
    if not isinstance(target.model, str) or not target.model:
        yield f"model_id= returns {target.model!r} for {model!r}: it must return a name."
        return
    yield from find_request_flaws(target)


def _variants(endpoint: Endpoint, model: str) -> Iterator[tuple[str, Endpoint, str]]:
    """The endpoint, and as it is under each alias and pattern: whose, a record, a model."""
    yield "", endpoint, model
    for alias in filter(endpoint.aliases.get, endpoint.aliases):
        yield f"Under the alias {alias!r}: ", endpoint, alias
    for pattern, flags in endpoint.per_model:
        quirks = {**endpoint.quirks, **flags}
        yield (
            f"For models like {pattern!r}: ",
            replace(endpoint, quirks=quirks, per_model=()),
            model,
        )
