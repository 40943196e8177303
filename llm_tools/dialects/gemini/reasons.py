"""Why an answer ended, in Google's words and numbers."""

from __future__ import annotations

from typing import NamedTuple

from ...content import StopReason
from .wire import Answer, Candidate

STOP_REASONS: dict[str, StopReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "MODEL_ARMOR": "content_filter",
    "ESCALATION": "content_filter",
    "PUP_LIMITED_DISABLED": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
    "MALFORMED_FUNCTION_CALL": "error",
    "MALFORMED_RESPONSE": "error",
    "UNEXPECTED_TOOL_CALL": "error",
    "TOO_MANY_TOOL_CALLS": "error",
    "MISSING_THOUGHT_SIGNATURE": "error",
}
"""Whatever is not here is `other`."""

# The numbers of `Candidate.FinishReason` and `PromptFeedback.BlockReason` in
# google/ai/generativelanguage/v1beta/generative_service.proto …
_FINISH = (
    "FINISH_REASON_UNSPECIFIED",
    "STOP",
    "MAX_TOKENS",
    "SAFETY",
    "RECITATION",
    "OTHER",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MALFORMED_FUNCTION_CALL",
    "IMAGE_SAFETY",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
)
_BLOCK = (
    "BLOCK_REASON_UNSPECIFIED",
    "SAFETY",
    "OTHER",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "IMAGE_SAFETY",
)
# … and in google/cloud/aiplatform/v1/content.proto and prediction_service.proto.
_VERTEX_FINISH = (
    "FINISH_REASON_UNSPECIFIED",
    "STOP",
    "MAX_TOKENS",
    "SAFETY",
    "RECITATION",
    "OTHER",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MALFORMED_FUNCTION_CALL",
    "MODEL_ARMOR",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "IMAGE_OTHER",
    "UNEXPECTED_TOOL_CALL",
    "NO_IMAGE",
)
_VERTEX_BLOCK = (
    "BLOCKED_REASON_UNSPECIFIED",
    "SAFETY",
    "OTHER",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "MODEL_ARMOR",
    "JAILBREAK",
)


class Stop(NamedTuple):
    """Why it ended: normalised, as the provider has it, and in words if there are any."""

    reason: StopReason | None = None
    name: str | None = None
    message: str | None = None

    @property
    def call_error(self) -> str | None:
        """Why no call of the answer may run, if that is so."""
        if self.reason != "error":
            return None
        return f"the provider ended the answer with {self.name}: {self.message or 'no details'}"


def read_stop(answer: Answer, candidate: Candidate | None, *, vertex_numbers: bool) -> Stop:
    """The reason of a candidate, or why there is none."""
    finish, block = (_VERTEX_FINISH, _VERTEX_BLOCK) if vertex_numbers else (_FINISH, _BLOCK)
    if candidate is not None and candidate.finish_reason is not None:
        name = _named(candidate.finish_reason, finish)
        return Stop(STOP_REASONS.get(name, "other"), name, candidate.finish_message)
    feedback = answer.prompt_feedback
    if feedback is not None and feedback.block_reason is not None:
        name = _named(feedback.block_reason, block)
        return Stop("content_filter", name, feedback.block_reason_message)
    return Stop("other" if candidate is None else None)


def _named(reason: str | int, names: tuple[str, ...]) -> str:
    if isinstance(reason, str):
        return reason
    return names[reason] if 0 <= reason < len(names) else str(reason)
