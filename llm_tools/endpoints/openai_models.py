"""What is known of OpenAI's models, as patterns; a newer model is taken for the latest family.

https://developers.openai.com/api/docs/models
"""

from __future__ import annotations

import re

from ..spec import Params, QuirkValues

REASONING: tuple[tuple[str, QuirkValues], ...] = (
    (r"(?:ft:)?(?:gpt-3|gpt-4|chatgpt).*", {"reasoning": "never"}),
    (r"(?:ft:)?o\d.*", {"reasoning": "always"}),
    (r"(?:ft:)?gpt-5(?:[:-].*)?", {"reasoning": "always"}),
    (r"gpt-5-chat.*", {"reasoning": "never"}),
    (r"(?:ft:)?gpt-5\.[1-4](?:[:-].*)?", {"reasoning": "on_request"}),
    (r"gpt-5\.[1-4]-(?:chat|pro).*|gpt-5\.1-codex.*", {"reasoning": "always"}),
    (r"(?:ft:)?gpt-(?:5\.(?:[5-9]|[1-9]\d)|[6-9]|[12]\d)(?:[.:-].*)?", {"reasoning": "by_default"}),
    (r"gpt-[5-9]\.\d+-pro.*|gpt-6-astra.*|gpt-6\.1-sol.*", {"reasoning": "always"}),
)
"""When a model reasons: quirks of the `openai_responses` dialect, the last match counts."""

_NO_FUNCTIONS_ON_CHAT = re.compile(
    r"(?:ft:)?gpt-(?:5\.(?:[5-9]|[1-9]\d)|[6-9]|[12]\d)(?:[.:-].*)?"
    r"|.*-pro(?:-\d.*)?"
    r"|.*codex.*"
    r"|.*-deep-research.*"
    r"|computer-use.*"
)
_NO_FUNCTIONS_WITH_EFFORT = re.compile(r"(?:ft:)?gpt-5\.4(?:[:-].*)?")


def needs_responses(model: str, params: Params) -> bool:
    """Whether Chat Completions refuses function tools for this model, or knows it not at all.

    https://github.com/openai/openai-openapi/issues/541
    """
    if _NO_FUNCTIONS_ON_CHAT.fullmatch(model):
        return True
    with_effort = params.effort not in (None, "none")
    return with_effort and _NO_FUNCTIONS_WITH_EFFORT.fullmatch(model) is not None
