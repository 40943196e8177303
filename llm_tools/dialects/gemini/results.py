"""Results of calls as `functionResponse` parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...content import (
    JSON,
    Message,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultText,
    ResultWarning,
)
from ...functions.preparing import PreparedFunctions
from ...rendering import own, parts_of, result_parts
from ...spec import Target
from .parts import image_part
from .quirks import GeminiQuirks


class _Called(NamedTuple):
    """Where a call stood in its turn, and what the wire knows it by."""

    position: int
    name: str
    wire_id: str | None


def render_results(
    target: Target[GeminiQuirks],
    turn: Message,
    results: Sequence[Message],
    functions: PreparedFunctions,
) -> tuple[list[JSON], list[ResultWarning]]:
    """The results of one turn in the order of its calls; images the model takes only beside them.

    An id goes back only where Gemini gave one.
    """
    called = _calls_of(turn, target.replay_key)
    known = [(called[it.function_id], it) for it in results if it.function_id in called]
    known.sort(key=lambda pair: pair[0].position)
    parts: list[JSON] = []
    beside: list[JSON] = []
    for call, result in known:
        images = _images_of(result)
        response = _response(call, result, functions)
        if images and target.quirks.images_in_results:
            response["parts"] = images
        elif images:
            beside += [{"text": f"Image of the result of {response['name']}:"}, *images]
        parts.append({"functionResponse": response})
    if not beside:
        return parts, []
    detail = f"{target.model} takes no image inside a result; it follows the results instead."
    return [*parts, *beside], [ResultWarning(code="result_image_moved", detail=detail)]


def _calls_of(turn: Message, replay_key: str) -> dict[str | None, _Called]:
    calls: dict[str | None, _Called] = {}
    for position, part in enumerate(parts_of(turn)):
        if isinstance(part, OutputResultFunctionUse):
            kept = own(part, replay_key) or {}
            wire_id = kept.get("functionCall", {}).get("id")
            calls[part.function_id] = _Called(position, part.name, wire_id)
    return calls


def _response(call: _Called, result: Message, functions: PreparedFunctions) -> dict[str, JSON]:
    response: dict[str, JSON] = {
        "name": functions.wire_name(call.name),
        "response": _response_object(result),
    }
    if call.wire_id is not None:
        response["id"] = call.wire_id
    return response


def _response_object(result: Message) -> dict[str, JSON]:
    """An object, as the wire demands; `output` and `error` are Google's words for the two cases."""
    parts = result_parts(result)
    value: JSON = result.content
    if parts is not None:
        value = "\n".join([part.text for part in parts if isinstance(part, OutputResultText)])
    if result.is_error:
        return {"error": "the function failed" if value in ("", None) else value}
    if isinstance(value, dict) and not value.keys() & {"output", "error"}:
        return value
    return {"output": value}


def _images_of(result: Message) -> list[JSON]:
    parts = result_parts(result) or ()
    return [image_part(part) for part in parts if isinstance(part, OutputResultImage)]
