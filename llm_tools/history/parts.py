"""Content parts in any accepted form, read into structs."""

from __future__ import annotations

import binascii
from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..content import (
    JSON,
    OutputResultContent,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultReasoning,
    OutputResultRefusal,
    OutputResultText,
)
from ..errors import ConfigurationError
from ..given import hint
from .json_values import json_safe

PartType: TypeAlias = type[OutputResultContent]

ALL_PARTS: tuple[PartType, ...] = (
    OutputResultText,
    OutputResultFunctionUse,
    OutputResultReasoning,
    OutputResultRefusal,
    OutputResultImage,
)
TEXT_PARTS: tuple[PartType, ...] = (OutputResultText,)
TEXT_AND_IMAGES: tuple[PartType, ...] = (OutputResultText, OutputResultImage)

_TAGS: dict[str, PartType] = {str(kind.__struct_config__.tag): kind for kind in ALL_PARTS}
_KEYS: dict[str, dict[str, str]] = {
    tag: {"type": "type"}
    | dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))
    | dict(zip(kind.__struct_encode_fields__, kind.__struct_encode_fields__, strict=True))
    for tag, kind in _TAGS.items()
}
_OF_USES: dict[str, tuple[Any, str]] = {
    "name": (str, "the name of a function"),
    "input": (dict, "an object"),
    "function_id": (str, "text"),
    "raw_input": (str | None, "text"),
    "input_error": (str | None, "text"),
}
_FOREIGN = {
    "image_url": '{"type": "image", "url": …}',
    "input_image": '{"type": "image", "url": …}',
    "input_text": '{"type": "text", "text": …}',
    "output_text": '{"type": "text", "text": …}',
    "tool_use": '{"type": "function_use", "name", "input", "functionId"}',
    "tool_call": '{"type": "function_use", "name", "input", "functionId"}',
    "tool_result": 'a message of its own, {"role": "function", "name", "functionId", "content"}',
    "thinking": '{"type": "reasoning", "text": …}',
}


def read_parts(
    items: Any, allowed: tuple[PartType, ...], where: str
) -> tuple[OutputResultContent, ...]:
    """Parts as structs or in their JSON form, checked and safe for JSON.

    Args:
        items: a list or tuple of parts.
        allowed: the kinds that may stand here.
        where: what the parts belong to, for the error.

    Raises:
        ConfigurationError: something else, with its JSON pointer.
    """
    if not isinstance(items, list | tuple):
        raise ConfigurationError(
            f"{where} at /content: expected text or a list of parts, got {_kind_of(items)}."
        )
    return tuple(
        _read_part(item, allowed, f"{where} at /content/{position}")
        for position, item in enumerate(items)
    )


def result_content(value: Any) -> str | tuple[OutputResultContent, ...] | JSON:
    """What a function returned, as the content of its result: text, parts, or a JSON value.

    Text and image parts (structs or their exact JSON form), alone or in a list, stay parts, and
    so does text in a list with structs; everything else goes through `json_safe`.
    """
    alone = isinstance(value, OutputResultText | OutputResultImage) or _is_image_form(value)
    items = [value] if alone else value
    if isinstance(items, list | tuple) and items:
        if any(isinstance(item, OutputResultText | OutputResultImage) for item in items):
            items = [OutputResultText(text=x) if isinstance(x, str) else x for x in items]
        if all(map(_looks_like_part, items)):
            try:
                return read_parts(items, TEXT_AND_IMAGES, "result")
            except ConfigurationError:  # it only looks like parts: any other JSON
                return json_safe(value)
    return json_safe(value)


def _looks_like_part(item: Any) -> bool:
    if isinstance(item, Mapping):
        return item.get("type") in ("text", "image")
    return isinstance(item, OutputResultText | OutputResultImage)


def _is_image_form(value: Any) -> bool:
    return type(value) is dict and value.get("type") == "image"


def _read_part(item: Any, allowed: tuple[PartType, ...], where: str) -> OutputResultContent:
    part = _from_mapping(item, allowed, where) if isinstance(item, Mapping) else item
    if type(part) not in allowed:
        raise ConfigurationError(f"{where}: expected {_listed(allowed)}, got {_kind_of(item)}.")
    part = _clean(part)
    flaw = _flaw_of(part, by_model=allowed is ALL_PARTS)
    if flaw is not None:
        raise ConfigurationError(f"{where}{flaw}")
    return _split_data_url(part) if isinstance(part, OutputResultImage) else part


def _from_mapping(
    item: Mapping[str, Any], allowed: tuple[PartType, ...], where: str
) -> OutputResultContent:
    tag = item.get("type")
    kind = _TAGS.get(tag) if isinstance(tag, str) else None
    if kind is None or kind not in allowed:
        advice = f" Write {_FOREIGN[tag]}." if isinstance(tag, str) and tag in _FOREIGN else ""
        raise ConfigurationError(
            f"{where}/type: expected {_listed(allowed)}, got {json_safe(tag)!r}.{advice}"
        )
    keys = _KEYS[str(tag)]
    for key in item:
        if key not in keys:
            raise ConfigurationError(f"{where}/{key}: no such key. {hint(key, keys)}")
    try:
        return msgspec.convert({keys[key]: value for key, value in item.items()}, kind)
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"{where}: {error}.") from None


def _clean(part: OutputResultContent) -> OutputResultContent:
    """The same part with every field safe for JSON."""
    changes = {}
    for name in part.__struct_fields__:
        value = getattr(part, name)
        safe = _clean_items(value) if type(value) is tuple else json_safe(value)
        if safe is not value:
            changes[name] = safe
    return replace(part, **changes) if changes else part


def _clean_items(items: tuple[Any, ...]) -> tuple[JSON, ...]:
    safe = tuple(map(json_safe, items))
    return items if all(a is b for a, b in zip(safe, items, strict=True)) else safe


def _flaw_of(part: OutputResultContent, *, by_model: bool) -> str | None:
    """What the types of a hand-made part do not rule out, with its pointer; None if it is fine."""
    metadata = getattr(part, "provider_metadata", None)
    if metadata is not None and not isinstance(metadata, dict):
        return f"/providerMetadata: {_expected('an object', metadata)}"
    if isinstance(part, OutputResultImage):
        return _flaw_of_image(part, by_model=by_model)
    if isinstance(part, OutputResultFunctionUse):
        return _flaw_of_use(part)
    return None if isinstance(part.text, str) else f"/text: {_expected('text', part.text)}"


def _flaw_of_use(use: OutputResultFunctionUse) -> str | None:
    for name, (kind, what) in _OF_USES.items():
        value = getattr(use, name)
        if not isinstance(value, kind):
            return f"/{_KEYS['function_use'][name]}: {_expected(what, value)}"
    return None


def _expected(what: str, value: Any) -> str:
    return f"expected {what}, got {_kind_of(value)}."


def _flaw_of_image(image: OutputResultImage, *, by_model: bool) -> str | None:
    given = [value for value in (image.data, image.url) if value is not None]
    if len(given) != 1 or not isinstance(given[0], str):
        return ": an image needs either url or data (base64 text)."
    if image.data is None or by_model:
        return None
    if not isinstance(image.media_type, str):
        return "/mediaType: an image given as data needs its media type, such as 'image/png'."
    try:
        binascii.a2b_base64(image.data, strict_mode=True)
    except ValueError as error:
        return f"/data: no base64 text ({error})."
    return None


def _split_data_url(image: OutputResultImage) -> OutputResultImage:
    """An image whose URL is a `data:` URL holds its data; not every wire takes such a URL."""
    head, comma, data = (image.url or "").partition(",")
    if not head.startswith("data:") or not head.endswith(";base64") or not comma:
        return image
    media_type = head.removeprefix("data:").removesuffix(";base64")
    return replace(image, url=None, data=data, media_type=media_type or image.media_type)


def _listed(allowed: tuple[PartType, ...]) -> str:
    tags = [repr(kind.__struct_config__.tag) for kind in allowed]
    return "a part of type " + " or ".join(tags)


def _kind_of(value: Any) -> str:
    if isinstance(value, Struct) and isinstance(value.__struct_config__.tag, str):
        return f"a {value.__struct_config__.tag!r} part"
    return type(value).__name__
