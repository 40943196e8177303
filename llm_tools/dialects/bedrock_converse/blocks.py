"""Parts of messages as content blocks."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from msgspec.structs import replace

from ...claude.blocks import FAILED, Block, takes, write_part
from ...content import (
    JSON,
    Message,
    OutputResultContent,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultText,
)
from ...errors import UnsupportedOptionError
from ...functions.preparing import PreparedFunctions
from ...rendering import inline_image, result_parts, result_text
from ...spec import Target
from ...turns import TurnRole
from .quirks import ConverseQuirks
from .replay import cited_text, find_block

legal_id: Callable[[str], object] = re.compile(r"[a-zA-Z0-9_.:-]{1,64}").fullmatch

NO_OUTPUT = "(no output)"
_FORMATS = ("png", "jpeg", "gif", "webp")


class Renderer(NamedTuple):
    """Renders parts for one target; `prepared` knows the functions' names on the wire."""

    target: Target[ConverseQuirks]
    prepared: PreparedFunctions

    def keeps(self, role: TurnRole, part: OutputResultContent) -> bool:
        """Whether the wire takes this part of a turn of this role."""
        return takes(self, role, part)

    def part(self, part: OutputResultContent) -> Block:
        """One kept part."""
        return write_part(self, part)

    def kept(self, part: Any) -> Block | None:
        """What this host left on a part, unless the model cannot read it back."""
        return find_block(self.target, part)

    def text(self, text: str) -> Block:
        """Text."""
        return {"text": text}

    def text_of(self, block: Block) -> JSON:
        """The text of a block; only what is cited goes back as it came."""
        return cited_text(block)

    def call(self, use: OutputResultFunctionUse, wire_name: str, value: JSON) -> Block:
        """A call."""
        return {"toolUse": {"toolUseId": use.function_id, "name": wire_name, "input": value}}

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
            blocks.append({"text": FAILED if message.is_error else NO_OUTPUT})
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
        kind = media_type.removeprefix("image/")
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


def _format(image: OutputResultImage) -> str:
    """The format of an image that is elsewhere: as said, else by the name's ending."""
    said = image.media_type or (image.url or "").rpartition(".")[2].lower()
    kind = said.removeprefix("image/").replace("jpg", "jpeg")
    return kind if kind in _FORMATS else "png"
