"""Results of calls as `functionResponse` parts."""

from __future__ import annotations

from collections.abc import Iterable

from ...content import (
    JSON,
    Message,
    OutputResultContent,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultText,
    ResultWarning,
)
from ...rendering import result_parts
from .parts import PartRenderer, render_image
from .wire import Part


class ResultRenderer:
    """Renders results; remembers which calls they answer.

    An id goes back only where Gemini gave one.
    """

    __slots__ = ("_calls", "_moved_images", "_renderer")

    def __init__(self, renderer: PartRenderer) -> None:
        self._renderer = renderer
        self._calls: dict[str | None, OutputResultFunctionUse] = {}
        self._moved_images = False

    def expect(self, parts: Iterable[OutputResultContent]) -> None:
        """A model's turn: its calls are those the next results answer."""
        self._calls = {
            part.function_id: part for part in parts if isinstance(part, OutputResultFunctionUse)
        }

    def render(self, results: Iterable[Message]) -> list[Part]:
        """The results of one turn; images that no result may hold here come after them."""
        answers: list[Part] = []
        beside: list[Part] = []
        for result in results:
            response = self._response(result)
            images = _images_of(result)
            if images and self._renderer.target.quirks.images_in_results:
                response["parts"] = images
            elif images:
                beside += [{"text": f"Image in the result of {response['name']}:"}, *images]
            answers.append({"functionResponse": response})
        if beside:
            self._moved_images = True
        return [*answers, *beside]

    def _response(self, result: Message) -> dict[str, JSON]:
        call = self._calls.get(result.function_id)
        name = result.name or "" if call is None else call.name
        kept = self._renderer.kept(call) if call is not None else None
        wire_id = (kept or {}).get("functionCall", {}).get("id")
        response: dict[str, JSON] = {} if wire_id is None else {"id": wire_id}
        response["name"] = self._renderer.functions.wire_name(name)
        response["response"] = _response_object(result)
        return response

    @property
    def warnings(self) -> tuple[ResultWarning, ...]:
        """What must be said of the results so far."""
        if not self._moved_images:
            return ()
        model = self._renderer.target.model
        detail = f"{model} takes no image inside a result: it went out after the results."
        return (ResultWarning(code="image_moved", detail=detail),)


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


def _images_of(result: Message) -> list[Part]:
    parts = result_parts(result) or ()
    return [render_image(part) for part in parts if isinstance(part, OutputResultImage)]
