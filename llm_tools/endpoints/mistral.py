"""Mistral, Chat Completions."""

from __future__ import annotations

from ..functions.subsets import MISTRAL_STRICT
from ..spec import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        key="mistral",
        base_url="https://api.mistral.ai/v1",
        base_url_env=("MISTRAL_BASE_URL",),
        api_key_env=("MISTRAL_API_KEY",),
        # Unknown keys are refused; ids are nine letters and digits; system messages follow no
        # assistant turn or result, and an assistant turn at the end is marked (a user message may
        # follow results): https://docs.mistral.ai/api and github.com/mistralai/mistral-common,
        # validator
        quirks={
            "strict": MISTRAL_STRICT,
            "output_strict": MISTRAL_STRICT,
            "seed": "random_seed",
            "user_turn": True,
            "late_system": False,
            "prefix_mark": True,
            "result_images": True,
            "result_names": True,
            "ids": r"[a-zA-Z0-9]{9}",
            "replays": (),
            "stream_usage": False,
        },
        tier="verified",
        docs_url="https://docs.mistral.ai/api",
    ),
)
