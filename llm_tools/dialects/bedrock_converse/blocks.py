"""Parts of messages as content blocks."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from msgspec.structs import replace

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
from ...errors import UnsupportedOptionError
from ...functions.preparing import PreparedFunctions
from ...rendering import inline_image, result_parts, result_text
from ...spec import Target
from ...turns import TurnRole
from .quirks import ConverseQuirks
from .replay import Block, cited_text, find_block

legal_id: Callable[[str], object] = re.compile(r"[a-zA-Z0-9_.:-]{1,64}").fullmatch

NO_OUTPUT = "(no output)"
_FAILED = "Error: the function failed"
_FORMATS = ("png", "jpeg", "gif", "webp")


class Renderer(NamedTuple):
    """Renders parts for one target; `prepared` knows the functions' names on the wire."""

    target: Target[ConverseQuirks]
    prepared: PreparedFunctions

    def keeps(self, role: TurnRole, part: OutputResultContent) -> bool:
        """Whether the wire takes this part of a turn of this role."""
        match part:
            case OutputResultText(text=text) | OutputResultRefusal(text=text):
                return bool(text.strip())
            case OutputResultFunctionUse():
                return True
            case OutputResultReasoning():
                return find_block(self.target, part) is not None
            case _:
                return role == "user" or find_block(self.target, part) is not None

    def part(self, part: OutputResultContent) -> Block:
        """One kept part; what this host itself made goes back as it came."""
        match part:
            case OutputResultText(text=text):
                block = find_block(self.target, part)
                same = block is not None and cited_text(block) == text
                return block if block is not None and same else {"text": text}
            case OutputResultRefusal(text=text):
                return {"text": text}
            case OutputResultFunctionUse():
                return self._tool_use(part)
            case OutputResultReasoning():
                return find_block(self.target, part) or {}
            case _:
                return find_block(self.target, part) or self.image(part)

    def result(self, message: Message) -> Block:
        """The result of a call; see `pushed_out` for images it cannot hold."""
        quirks = self.target.quirks
        shown = replace(message, is_error=message.is_error and not quirks.result_status)
        blocks: list[Block] = []
        parts = result_parts(message) if not shown.is_error else None
        if parts is None:
            text = result_text(shown)
            blocks += [{"text": text}] if text.strip() else []
        else:
            blocks += [self.part(part) for part in parts if self._holds(part)]
        if not blocks:
            blocks.append({"text": _FAILED if message.is_error else NO_OUTPUT})
        result: Block = {"toolUseId": message.function_id, "content": blocks}
        if quirks.result_status:
            result["status"] = "error" if message.is_error else "success"
        return {"toolResult": result}

    def pushed_out(self, message: Message) -> list[Block]:
        """Images of a result that can only stand beside it."""
        if self.target.quirks.result_images:
            return []
        parts = result_parts(message) or ()
        return [self.image(part) for part in parts if isinstance(part, OutputResultImage)]

    def image(self, image: OutputResultImage) -> Block:
        """An image by its bytes, or by its place in S3."""
        inline = inline_image(image)
        if inline is None:
            return {"image": {"format": _format(image), "source": self._s3(image.url or "")}}
        media_type, data = inline
        kind = media_type.removeprefix("image/").replace("jpg", "jpeg")
        if kind not in _FORMATS:
            raise UnsupportedOptionError(
                f"Converse takes no {media_type} images; convert it to PNG, JPEG, GIF or WebP."
            )
        return {"image": {"format": kind, "source": {"bytes": data}}}

    def _s3(self, url: str) -> JSON:
        if url.startswith("s3://") and self.target.quirks.s3_images:
            return {"s3Location": {"uri": url}}
        raise UnsupportedOptionError(
            f"{self.target.model} fetches no such image URL: read the image and pass its base64 as "
            "data=, with media_type."
        )

    def _holds(self, part: OutputResultText | OutputResultImage) -> bool:
        """Whether a result may hold this part."""
        if isinstance(part, OutputResultImage):
            return self.target.quirks.result_images
        return bool(part.text.strip())

    def _tool_use(self, use: OutputResultFunctionUse) -> Block:
        known = self.prepared.by_name.get(use.name)
        hide = known.hide if known is not None else None
        value = use.input if hide is None else hide(use.input)
        wire_name = self.prepared.wire_name(use.name)
        return {"toolUse": {"toolUseId": use.function_id, "name": wire_name, "input": value}}


def _format(image: OutputResultImage) -> str:
    """The format of an image that is elsewhere: as said, else by the name's ending."""
    said = image.media_type or (image.url or "").rpartition(".")[2].lower()
    kind = said.removeprefix("image/").replace("jpg", "jpeg")
    return kind if kind in _FORMATS else "png"
