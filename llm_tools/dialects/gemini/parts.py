"""Content parts as `Part`s of a model's or user's turn."""

from __future__ import annotations

from base64 import b64encode
from typing import Any
from urllib.parse import urlsplit

import msgspec

from ...content import (
    JSON,
    Message,
    OutputResultContent,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultReasoning,
    OutputResultRefusal,
    OutputResultText,
)
from ...functions.preparing import PreparedFunctions
from ...rendering import inline_image, own, parts_of
from ...spec import Target
from .quirks import GeminiQuirks

# What Google documents for calls it did not sign itself:
# https://ai.google.dev/gemini-api/docs/thought-signatures#faqs
FOREIGN_SIGNATURE = b64encode(b"skip_thought_signature_validator").decode()

_IMAGE_TYPES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "gif": "image/gif",
    "heic": "image/heic",
    "heif": "image/heif",
}


def model_parts(
    target: Target[GeminiQuirks], message: Message, functions: PreparedFunctions
) -> list[JSON]:
    """An assistant's turn: our own parts as they came, others without their signatures.

    Where the model insists on a signature, the first call of a turn made elsewhere gets the
    documented placeholder; its siblings never do.
    """
    key = target.replay_key
    parts = parts_of(message)
    rendered = [
        wire
        for part in parts
        if (wire := _model_part(part, _own(part, key), functions)) is not None
    ]
    if target.quirks.wants_signatures and all(_own(part, key) is None for part in parts):
        call = next((part for part in rendered if "functionCall" in part), None)
        if call is not None:
            call["thoughtSignature"] = FOREIGN_SIGNATURE
    return rendered


def _own(part: OutputResultContent, key: str) -> dict[str, Any] | None:
    return None if isinstance(part, OutputResultRefusal) else own(part, key)


def _model_part(
    part: OutputResultContent, kept: dict[str, Any] | None, functions: PreparedFunctions
) -> dict[str, JSON] | None:
    match part:
        case OutputResultFunctionUse():
            return _call_part(part, kept or {}, functions)
        case OutputResultImage():
            return image_part(part) | (kept or {})
        case OutputResultReasoning():
            return _own_reasoning(part, kept)
        case OutputResultText():
            return {"text": part.text, **(kept or {})} if part.text or kept else None
        case OutputResultRefusal():
            return {"text": part.text} if part.text else None


def _own_reasoning(
    part: OutputResultReasoning, kept: dict[str, Any] | None
) -> dict[str, JSON] | None:
    """A thought, a lone signature or a carried block of our own; nothing of anyone else's."""
    if kept is None:
        return None
    carried: dict[str, JSON] | None = kept.get("part")
    return carried if carried is not None else {"text": part.text, **kept}


def _call_part(
    part: OutputResultFunctionUse, kept: dict[str, Any], functions: PreparedFunctions
) -> dict[str, JSON]:
    call = {
        **kept.get("functionCall", {}),
        "name": functions.wire_name(part.name),
        "args": _arguments(part, functions),
    }
    return {**kept, "functionCall": call}


def _arguments(part: OutputResultFunctionUse, functions: PreparedFunctions) -> dict[str, JSON]:
    """The input in the wire's terms; of a call that could not run, what there is of an object."""
    if part.input_error is not None and part.raw_input:
        try:
            return msgspec.json.decode(part.raw_input, type=dict[str, Any])
        except (msgspec.DecodeError, RecursionError):
            return part.input
    known = functions.by_name.get(part.name)
    return part.input if known is None or known.hide is None else known.hide(part.input)


def image_part(image: OutputResultImage) -> dict[str, JSON]:
    """An image, inline or behind a URL."""
    inline = inline_image(image)
    if inline is not None:
        return {"inlineData": {"mimeType": inline.media_type, "data": inline.data}}
    media_type = image.media_type or _type_by_name(image.url or "")
    file: dict[str, JSON] = {"fileUri": image.url}
    if media_type is not None:
        file["mimeType"] = media_type
    return {"fileData": file}


def _type_by_name(url: str) -> str | None:
    return _IMAGE_TYPES.get(urlsplit(url).path.rpartition(".")[2].lower())
