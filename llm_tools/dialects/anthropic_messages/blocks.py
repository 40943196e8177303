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
from .quirks import AnthropicQuirks
from .replay import Block, find_block

legal_id: Callable[[str], object] = re.compile(r"[a-zA-Z0-9_-]{1,64}").fullmatch

_FAILED = "Error: the function failed"


class Renderer(NamedTuple):
    """Renders parts for one target; `prepared` knows the functions' names on the wire."""

    target: Target[AnthropicQuirks]
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
                return role == "user"

    def part(self, part: OutputResultContent) -> Block:
        """One kept part; what this host itself made goes back as it came."""
        match part:
            case OutputResultText(text=text):
                block = find_block(self.target, part)
                same = block is not None and block.get("text") == text
                return block if block is not None and same else _text(text)
            case OutputResultRefusal(text=text):
                return _text(text)
            case OutputResultFunctionUse():
                return self._tool_use(part)
            case OutputResultReasoning():
                return find_block(self.target, part) or {}
            case _:
                return self.image(part)

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
            return block | {"is_error": True, "content": content or _FAILED}
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

    def _tool_use(self, use: OutputResultFunctionUse) -> Block:
        known = self.prepared.by_name.get(use.name)
        hide = known.hide if known is not None else None
        value = use.input if hide is None else hide(use.input)
        wire_name = self.prepared.wire_name(use.name)
        block: Block = {
            "type": "tool_use",
            "id": use.function_id,
            "name": wire_name,
            "input": value,
        }
        return block | (find_block(self.target, use) or {})


def _text(text: str) -> Block:
    return {"type": "text", "text": text}
