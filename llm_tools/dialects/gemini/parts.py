"""Content parts as `Part`s of a model's or user's turn."""

from __future__ import annotations

from base64 import b64encode
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ...content import (
    JSON,
    OutputResultContent,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultReasoning,
    OutputResultRefusal,
    OutputResultText,
)
from ...functions.preparing import PreparedFunctions
from ...rendering import inline_image, own, replayed_input
from ...spec import Target
from ...turns import TurnRole
from .quirks import GeminiQuirks
from .wire import Part

# What Google documents for calls it did not sign itself:
# https://ai.google.dev/gemini-api/docs/thought-signatures#faqs
FOREIGN_SIGNATURE = b64encode(b"skip_thought_signature_validator").decode()

_OBJECTS = ("functionCall", "part")
_IMAGE_TYPES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "gif": "image/gif",
    "heic": "image/heic",
    "heif": "image/heif",
}


class PartRenderer(NamedTuple):
    """Renders parts for one target; `functions` knows the functions' names on the wire.

    What a part keeps for us (`kept`) is the wire's own part without what the neutral part holds,
    or, under `part`, a whole block that has no neutral form.
    """

    target: Target[GeminiQuirks]
    functions: PreparedFunctions

    def keeps(self, role: TurnRole, part: OutputResultContent) -> bool:
        """Whether a turn takes this part: not blank text, nor what others thought."""
        match part:
            case OutputResultText(text=text):
                return bool(text.strip()) or self.kept(part) is not None
            case OutputResultRefusal(text=text):
                return bool(text.strip())
            case OutputResultReasoning():
                return self.kept(part) is not None
            case _:
                return True

    def model_parts(self, parts: tuple[OutputResultContent, ...]) -> list[Part]:
        """A model's turn: our own parts as they came, others without their signatures.

        Where the model insists on a signature, the first call of a turn made elsewhere gets the
        documented placeholder; its siblings never do.
        """
        rendered = [self.part(part) for part in parts]
        if self.target.quirks.wants_signatures and not any(map(self._is_own, parts)):
            call = next((part for part in rendered if "functionCall" in part), None)
            if call is not None:
                call["thoughtSignature"] = FOREIGN_SIGNATURE
        return rendered

    def part(self, part: OutputResultContent) -> Part:
        """One kept part."""
        match part:
            case OutputResultText(text=text):
                return {"text": text, **(self.kept(part) or {})}
            case OutputResultRefusal(text=text):
                return {"text": text}
            case OutputResultReasoning(text=text):
                kept = self.kept(part) or {}
                carried: Part | None = kept.get("part")
                return carried if carried is not None else {"text": text, **kept}
            case OutputResultFunctionUse():
                return self._call(part)
            case _:
                return render_image(part) | (self.kept(part) or {})

    def kept(self, part: Any) -> dict[str, Any] | None:
        """What this target left on a part, if it is still of the wire's shape."""
        kept = own(part, self.target.replay_key)
        if kept is None or all(isinstance(kept.get(key, {}), dict) for key in _OBJECTS):
            return kept
        return None

    def _is_own(self, part: OutputResultContent) -> bool:
        return not isinstance(part, OutputResultRefusal) and self.kept(part) is not None

    def _call(self, use: OutputResultFunctionUse) -> Part:
        kept = self.kept(use) or {}
        call = {
            **kept.get("functionCall", {}),
            "name": self.functions.wire_name(use.name),
            "args": replayed_input(self.functions, use),
        }
        return {**kept, "functionCall": call}


def render_image(image: OutputResultImage) -> Part:
    """An image, inline or behind a URL."""
    inline = inline_image(image)
    if inline is not None:
        return {"inlineData": {"mimeType": inline.media_type, "data": inline.data}}
    file: dict[str, JSON] = {"fileUri": image.url}
    media_type = image.media_type or _type_by_name(image.url or "")
    return {"fileData": file if media_type is None else {"mimeType": media_type, **file}}


def _type_by_name(url: str) -> str | None:
    return _IMAGE_TYPES.get(urlsplit(url).path.rpartition(".")[2].lower())
