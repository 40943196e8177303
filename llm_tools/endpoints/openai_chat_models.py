"""What OpenAI's models take and refuse on Chat Completions, wherever they are hosted.

Patterns in order, each on top of those before it; a newer model is taken for the latest family.
https://developers.openai.com/api/docs/guides/reasoning
"""

from __future__ import annotations

from ..functions.subsets import OPENAI_STRICT
from ..spec import QuirkValues

_NO_EFFORT = ("top_k", "effort")
_ALWAYS: QuirkValues = {"reasons": True, "sampling": "refused", "system_role": "developer"}

CHAT_QUIRKS: QuirkValues = {
    "allowed_tools": True,
    "strict": OPENAI_STRICT,
    "max_tokens": "max_completion_tokens",
    "refusals": True,
    "replays": (),
    "ids": r"[a-zA-Z0-9_-]{1,40}",
}

CHAT_MODELS: tuple[tuple[str, QuirkValues], ...] = (
    (r"(?:ft:)?(?:gpt-3|gpt-4|chatgpt).*", {"refused": _NO_EFFORT}),
    (r"(?:ft:)?o\d.*", _ALWAYS),
    (r"o3(?:-\d.*)?|o4-mini.*", {"refused": ("top_k", "stop_sequences")}),
    (r"gpt-5(?:-.*)?", _ALWAYS),
    (
        r"gpt-5-chat.*",
        {"reasons": False, "sampling": "native", "system_role": "system", "refused": _NO_EFFORT},
    ),
    (r"(?:ft:)?gpt-5\.[1-4](?:-.*)?", {"sampling": "refused", "system_role": "developer"}),
    (r"gpt-5\.[1-4]-(?:chat|pro).*|gpt-5\.1-codex.*", {"reasons": True}),
    # Function tools beside reasoning are a 400: github.com/openai/openai-openapi/issues/541
    (r"(?:ft:)?gpt-5\.4(?:-.*)?", {"functions": "no_effort"}),
    (
        r"(?:ft:)?gpt-(?:5\.(?:[5-9]|[1-9]\d)|[6-9]|[12]\d)(?:[.-].*)?",
        {**_ALWAYS, "functions": "effort_none"},
    ),
    # These take no effort `none` either.
    (r"gpt-[5-9]\.\d+-pro.*|gpt-6-astra.*|gpt-6\.1-sol.*", {"functions": "responses"}),
    # These are not served on Chat Completions at all.
    (
        r"(?:gpt-|o\d).*-pro(?:-\d.*)?|(?:gpt-.*)?codex.*|o\d.*-deep-research.*|computer-use.*",
        {"functions": "responses"},
    ),
)
