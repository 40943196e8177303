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
)
from ...errors import UnsupportedOptionError
from ...functions.preparing import PreparedFunctions
from ...rendering import inline_image, result_parts, result_text
from ...spec import Target
from ...turns import TurnRole
from .quirks import AnthropicQuirks
from .replay import find_block

legal_id: Callable[[str], object] = re.compile(r"[a-zA-Z0-9_-]{1,64}").fullmatch


class Renderer(NamedTuple):
    """Renders parts for one target; `prepared` knows the functions' names on the wire."""

    target: Target[AnthropicQuirks]
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
        return {"type": "text", "text": text}

    def text_of(self, block: Block) -> JSON:
        """The text of a block."""
        return block.get("text")

    def call(self, use: OutputResultFunctionUse, wire_name: str, value: JSON) -> Block:
        """A call, with what stood beside it."""
        block: Block = {"type": "tool_use", "id": use.function_id, "name": wire_name}
        return block | {"input": value} | (self.kept(use) or {})

    def result(self, message: Message) -> Block:
        """The result of a call."""
        block: Block = {"type": "tool_result", "tool_use_id": message.function_id}
        parts = result_parts(message)
        content: JSON
        if parts is None:
            content = result_text(replace(message, is_error=False))
            content = content if content.strip() else None
        else:
            content = [self.part(part) for part in parts if self.keeps("user", part)]
        if message.is_error:
            # An error without content is refused.
            return block | {"is_error": True, "content": content or FAILED}
        return block | {"content": content} if content else block

    def image(self, image: OutputResultImage) -> Block:
        """An image by its bytes, or by its URL where the host fetches those."""
        inline = inline_image(image)
        if inline is not None:
            media_type, data = inline
            source = {"type": "base64", "media_type": media_type, "data": data}
        elif self.target.quirks.image_urls:
            source = {"type": "url", "url": image.url or ""}
        else:
            raise UnsupportedOptionError(
                f"{self.target.endpoint.key} fetches no image URLs: read the image and pass its "
                "base64 as data=, with media_type."
            )
        return {"type": "image", "source": source}
