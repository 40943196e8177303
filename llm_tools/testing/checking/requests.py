"""Flaws of an endpoint that show in its requests; each a sentence with what to change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ...asking import Asker
from ...content import JSON
from ...errors import ConfigurationError
from ...options import Options, merge_options
from ...spec import SUPPORT_OPTIONS, Encoded, NoAuth, Place, Support, Target
from ...transport import OutgoingRequest
from ...transport.heads import check_fields, is_this_machine
from ...transport.locating import base_fields, find_place, find_url
from ...transport.masking import mask_url
from .scenes import PLAIN, Scene, make_scenes

Inputs: TypeAlias = tuple[str | None, ...]
"""What `transport.locating.find_url` wants to know: a base URL, and the settings' values."""


class Outcome(Struct, frozen=True):
    """What becomes of a scene: a request, or a refusal."""

    sent: OutgoingRequest | None
    codes: frozenset[str] = frozenset()

    def served(self, scene: Scene) -> str:
        """In the words of the table of support."""
        if self.sent is None:
            return "refused"
        return "emulated" if self.codes & scene.emulations else "native"


def find_request_flaws(target: Target[Any]) -> Iterator[str]:
    """What is wrong with the requests for a target, and with what is said of them."""
    sent: list[OutgoingRequest] = []
    doing = "The table of support"
    try:
        table = target.dialect.support(target)
        yield from _find_missing_rows(target, table)
        for scene in make_scenes(target.replay_key):
            doing = scene.words
            outcome = _try(target, scene)
            sent += [outcome.sent] if outcome.sent is not None else []
            yield from _find_disagreement(scene, outcome, table)
        yield from _find_overwritten(target)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the flaw
        yield (
            f"{doing} ends in {type(error).__name__}: {error}. It must end in an answer, or in a "
            "ConfigurationError: look at the quirks it reads."
        )
        return  # others would end in the same
    yield from _find_flaws_of_all(target, sent)


def _find_missing_rows(target: Target[Any], table: Mapping[str, Support]) -> Iterator[str]:
    if set(table) != set(SUPPORT_OPTIONS):
        yield (
            f"The table of support has other rows than {', '.join(SUPPORT_OPTIONS)}: mend the "
            f"dialect {target.dialect.key}."
        )


def _find_disagreement(
    scene: Scene, outcome: Outcome, table: Mapping[str, Support]
) -> Iterator[str]:
    told, served = table.get(scene.option or ""), outcome.served(scene)
    if told not in (None, served):
        yield (
            f"{scene.words} is {served}, but the table of support says that {scene.option!r} is "
            f"{told}: change the quirks, so that both agree."
        )


def _try(target: Target[Any], scene: Scene) -> Outcome:
    """What becomes of a scene.

    Raises:
        Exception: what a dialect never should.
    """
    for options in scene.options:
        asker = Asker(target, merge_options(Options(), options))
        try:
            encoded = _encode(asker, scene)
            sent = asker.write(encoded, stream=scene.stream)
        except ConfigurationError:
            continue
        return Outcome(sent, frozenset(warning.code for warning in encoded.plan.warnings))
    return Outcome(None)


def _encode(asker: Asker, scene: Scene) -> Encoded:
    ask = scene.ask
    return asker.encode(
        ask.get("messages", "Hi"),
        ask.get("functions"),
        ask.get("function_call"),
        ask.get("function_call_strict_input", False),
        ask.get("json_schema"),
        stream=scene.stream,
    )


def _find_overwritten(target: Target[Any]) -> Iterator[str]:
    """Constants of the body in the place of what the dialect writes there."""
    bare = replace(target, endpoint=replace(target.endpoint, body={}))
    for scene in PLAIN:
        sent = _try(bare, scene).sent
        written = {} if sent is None else msgspec.json.decode(sent.body)
        for name in sorted(written.keys() & target.endpoint.body.keys()):
            yield f"body holds {name!r}, which the dialect writes itself: leave it out."


def _find_flaws_of_all(target: Target[Any], sent: list[OutgoingRequest]) -> Iterator[str]:
    """What is wrong with where requests go and with what is constant in them."""
    if not sent:
        yield "Every call is refused: change the quirks, so that one can be made."
        return
    try:
        inputs = _find_inputs(target)
    except ConfigurationError as error:
        yield str(error)
        return
    for request in sent:
        yield from _find_flaws_of_address(request, inputs)
        yield from _find_flaws_of_fields(request)


def _find_inputs(target: Target[Any]) -> Inputs:
    """A base URL and settings by which the endpoint knows where it is, made up where need be.

    Nothing is read of the environment.

    Raises:
        ConfigurationError: none will do.
    """
    failure: ConfigurationError | None = None
    for inputs in _possible_inputs(target):
        try:
            place = find_place(target, inputs)
        except ConfigurationError as error:
            failure = error
        except Exception as error:
            raise ConfigurationError(
                f"place= ends in {type(error).__name__}: {error}. It must return a Place, whatever "
                "the values of settings= are that it is given: those that are required or have a "
                "default are always there."
            ) from error
        else:
            if isinstance(place, Place):
                return inputs
            raise ConfigurationError(f"place= returns {place!r}: it must return a Place.")
    assert failure is not None  # noqa: S101 - something was possible
    raise failure


def _possible_inputs(target: Target[Any]) -> Iterator[Inputs]:
    """First what must be given, then all that can be, then a base URL as well."""
    settings = target.endpoint.settings
    every = [None if one.secret else one.default or f"some-{one.name}" for one in settings]
    needed = [value if one.required else None for one, value in zip(settings, every, strict=True)]
    yield (None, *needed)
    yield (None, *every)
    yield ("https://some-host.example/v1", *every)


def _find_flaws_of_address(request: OutgoingRequest, inputs: Inputs) -> Iterator[str]:
    endpoint = request.target.endpoint
    try:
        url = find_url(request, inputs)
    except ConfigurationError as error:
        yield str(error)
        return
    shown = mask_url(url)
    if shown != url:
        yield f"{shown} holds a key: keys travel in a header, which auth= names."
    parts = urlsplit(url)
    open_way = parts.scheme != "https" and not is_this_machine(parts.hostname or "")
    if open_way and not isinstance(endpoint.auth, NoAuth):
        yield f"{shown} would send a key over plain http to another machine: use https."
    if "{" in url or "}" in url:
        yield f"{shown} holds a placeholder that nothing fills: {{model}} is the only one."
    model = request.target.model
    if model not in unquote(url) and model not in _strings(msgspec.json.decode(request.body)):
        yield (
            f"Neither {shown} nor the body names the model: put {{model}} into path=, or leave the "
            "model in the body."
        )


def _find_flaws_of_fields(request: OutgoingRequest) -> Iterator[str]:
    try:
        check_fields(base_fields(request), request.target.endpoint.key)
    except ConfigurationError as error:
        yield str(error)


def _strings(body: JSON) -> list[JSON]:
    """What stands at the top of a body, where every wire names its model."""
    return list(body.values()) if isinstance(body, dict) else []
