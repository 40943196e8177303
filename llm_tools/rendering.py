"""Pieces of messages that every dialect renders alike."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec
from msgspec.structs import replace

from .content import (
    JSON,
    Message,
    OutputResultContent,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultText,
)

if TYPE_CHECKING:
    from .functions.preparing import PreparedFunctions

_ALPHANUMERIC = string.ascii_letters + string.digits


def parts_of(message: Message) -> tuple[OutputResultContent, ...]:
    """The parts of a system, user or assistant message; a string is one text part, blank none."""
    content = message.content
    if isinstance(content, str):
        return (OutputResultText(text=content),) if content.strip() else ()
    return cast("tuple[OutputResultContent, ...]", content)


def system_text(message: Message) -> str:
    """The text of a system message; empty where it is blank."""
    texts = [part.text for part in parts_of(message) if isinstance(part, OutputResultText)]
    return "\n".join([text for text in texts if text.strip()])


def result_parts(message: Message) -> tuple[OutputResultText | OutputResultImage, ...] | None:
    """The text and image parts of a function result; None where it is a string or plain JSON."""
    content = message.content
    if isinstance(content, tuple) and content:
        return cast("tuple[OutputResultText | OutputResultImage, ...]", content)
    return None


def result_text(message: Message) -> str:
    """A function result as text: strings as they are, JSON as JSON, an error marked `Error: `.

    For wires that take nothing else. Images in it are left to the caller of this function.
    """
    parts = result_parts(message)
    if parts is not None:
        text = "\n".join([part.text for part in parts if isinstance(part, OutputResultText)])
    elif isinstance(message.content, str):
        text = message.content
    else:
        text = json_text(message.content)
    if not message.is_error:
        return text
    return text if text.startswith("Error:") else f"Error: {text or 'the function failed'}"


def json_text(value: JSON) -> str:
    """A JSON value as compact text."""
    return msgspec.json.encode(value).decode()


def replayed_input(functions: PreparedFunctions, use: OutputResultFunctionUse) -> dict[str, JSON]:
    """The input in the wire's terms; of a call that could not run, what is an object of it."""
    if use.input_error is not None and use.raw_input:
        try:
            return msgspec.json.decode(use.raw_input, type=dict[str, Any])
        except (msgspec.DecodeError, RecursionError):
            return use.input
    return functions.wire_input(use.name, use.input)


def merge_extra_body(body: dict[str, JSON], extra: Mapping[str, JSON] | None) -> dict[str, JSON]:
    """The body with the caller's additions: objects are merged at any depth, all else replaced."""
    if not extra:
        return body
    merged = dict(body)
    for key, value in extra.items():
        current = merged.get(key)
        if isinstance(current, dict) and isinstance(value, Mapping):
            merged[key] = merge_extra_body(current, value)
        else:
            merged[key] = value
    return merged


def image_url(part: OutputResultImage) -> str:
    """An image as a URL: its own, or a data URL of its base64 data."""
    inline = inline_image(part) if part.url is None else None
    return part.url or "" if inline is None else f"data:{inline.media_type};base64,{inline.data}"


def own(part: Any, replay_key: str) -> dict[str, Any] | None:
    """What this target itself left on a part for replay, if it did."""
    metadata = part.provider_metadata
    kept = metadata.get(replay_key) if metadata else None
    return kept if isinstance(kept, dict) else None


class InlineImage(NamedTuple):
    """An image's base64 and its media type."""

    media_type: str
    data: str


_SIGNATURES = {
    "iVBOR": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp",
}


def inline_image(image: OutputResultImage) -> InlineImage | None:
    """The image's own bytes, also out of a `data:` URL; None where it lies behind a real URL.

    A media type that was not given is read from the first bytes (PNG where they say nothing);
    `image/jpg`, which is none and is refused by most, goes out as the one that is meant.
    """
    data, media_type = image.data, image.media_type
    if data is None and image.url is not None and image.url.startswith("data:"):
        head, _, data = image.url.removeprefix("data:").partition(",")
        media_type = media_type or head.partition(";")[0]
    if data is None:
        return None
    if not media_type:
        found = [kind for start, kind in _SIGNATURES.items() if data.startswith(start)]
        media_type = found[0] if found else "image/png"
    return InlineImage("image/jpeg" if media_type.lower() == "image/jpg" else media_type, data)


def schema_instructions(schema: JSON) -> str:
    """What a model is told where only the prompt can hold it to a JSON schema."""
    return (
        "Answer with one JSON value and nothing else: no code fence, no words around it. "
        f"It must be valid against this JSON Schema:\n{json_text(schema)}"
    )


def canonical_json(value: JSON) -> bytes:
    """A JSON value as bytes that are equal for equal values, whatever the order of keys."""
    return msgspec.json.encode(value, order="sorted")


def legal_ids(
    messages: tuple[Message, ...], is_legal: Callable[[str], object]
) -> tuple[Message, ...]:
    """The messages with every call id legal for a wire and used in one turn only.

    Legal, free ids are kept; the others become nine letters and digits derived from the id, so
    that the same history always goes out alike. Expects mended messages: the results of a turn
    follow it. Returns the same tuple where nothing had to change.
    """
    taken: set[str] = set()
    current: dict[str, str] = {}
    out: list[Message] = []
    for position, message in enumerate(messages):
        if message.role == "assistant":
            current = _turn_ids(message, position, is_legal, taken)
            out.append(_rename_calls(message, current))
        elif message.role == "function" and message.function_id in current:
            new = current[message.function_id]
            same = new == message.function_id
            out.append(message if same else replace(message, function_id=new))
        else:
            out.append(message)
    return messages if all(a is b for a, b in zip(out, messages, strict=True)) else tuple(out)


def _turn_ids(
    message: Message, position: int, is_legal: Callable[[str], object], taken: set[str]
) -> dict[str, str]:
    ids: dict[str, str] = {}
    for part in parts_of(message):
        if isinstance(part, OutputResultFunctionUse):
            wanted, salt = part.function_id, position
            while wanted in taken or not is_legal(wanted):
                wanted = _derived_id(part.function_id, salt)
                salt += len(part.function_id) + 1
            taken.add(wanted)
            ids[part.function_id] = wanted
    return ids


def _derived_id(function_id: str, salt: int) -> str:
    from hashlib import sha256

    number = int.from_bytes(sha256(f"{salt}:{function_id}".encode()).digest()[:8])
    digits = []
    for _ in range(9):
        number, digit = divmod(number, len(_ALPHANUMERIC))
        digits.append(_ALPHANUMERIC[digit])
    return "".join(digits)


def _rename_calls(message: Message, ids: dict[str, str]) -> Message:
    if all(old == new for old, new in ids.items()):
        return message
    parts = [
        replace(part, function_id=ids[part.function_id])
        if isinstance(part, OutputResultFunctionUse)
        else part
        for part in parts_of(message)
    ]
    return replace(message, content=tuple(parts))
