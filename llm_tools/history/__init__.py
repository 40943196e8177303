"""Messages on their way in: read, made safe for JSON, and mended before they go out."""

from .json_values import json_safe, legal_text
from .known import History, keep_history, read_history
from .mending import NOT_COMPLETED, mend
from .parts import read_parts, result_content
from .reading import Messages, read_again, read_message, read_messages

__all__ = [
    "NOT_COMPLETED",
    "History",
    "Messages",
    "json_safe",
    "keep_history",
    "legal_text",
    "mend",
    "read_again",
    "read_history",
    "read_message",
    "read_messages",
    "read_parts",
    "result_content",
]
