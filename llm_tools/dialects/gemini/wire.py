"""The shape of `GenerateContentResponse`, as far as it is read."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ...content import JSON

Part = dict[str, Any]
Reason = str | int | None
"""An enum's name, or its number where the answer was asked for with `enum-encoding=int`."""


class Content(Struct):
    """A turn; a part stays as it came, since what is not understood goes back verbatim."""

    parts: list[Part] | None = None


class Candidate(Struct, rename="camel"):
    """One of the answers."""

    content: Content | None = None
    finish_reason: Reason = None
    finish_message: str | None = None
    index: int | None = None
    citation_metadata: JSON = None
    grounding_metadata: JSON = None
    url_context_metadata: JSON = None


class PromptFeedback(Struct, rename="camel"):
    """Why there is no answer."""

    block_reason: Reason = None
    block_reason_message: str | None = None


class UsageMetadata(Struct, rename="camel"):
    """Tokens; `prompt` includes cached ones, `candidates` excludes thoughts."""

    prompt_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    cached_content_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None


class Answer(Struct, rename="camel"):
    """A whole answer, or one chunk of a stream."""

    candidates: list[Candidate] | None = None
    prompt_feedback: PromptFeedback | None = None
    usage_metadata: UsageMetadata | None = None
    model_version: str | None = None
    response_id: str | None = None
    create_time: str | None = None
    error: JSON = None

    def is_blank(self) -> bool:
        """Whether nothing of an answer is in it: JSON of something else."""
        return all(getattr(self, name) is None for name in self.__struct_fields__)

    def may_end(self) -> bool:
        """Whether a chunk says why something ended."""
        if self.prompt_feedback is not None:
            return True
        return any(choice.finish_reason is not None for choice in self.candidates or ())


ANSWERS: msgspec.json.Decoder[Answer | list[Answer]] = msgspec.json.Decoder(Answer | list[Answer])
"""An answer, or the array of chunks that a stream without `alt=sse` is."""
