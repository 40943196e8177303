"""DeepSeek, Responses API: stateless, reasoning in the clear; the only one here to take a schema.

While it thinks it refuses forced calls, and it wants the calls of a turn last.
https://api-docs.deepseek.com/guides/responses_api
"""

from __future__ import annotations

from ..spec import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        key="deepseek",
        protocol="responses",
        dialect="openai_responses",
        base_url="https://api.deepseek.com",
        base_url_env=("DEEPSEEK_BASE_URL",),
        api_key_env=("DEEPSEEK_API_KEY",),
        quirks={
            "strict": False,
            "allowed_tools": False,
            "parallel_off": False,
            "min_output_tokens": 1,
            "encrypted_reasoning": False,
            "forced_call_stops_reasoning": True,
            "images": False,
            "calls_last": True,
        },
        per_model=((r".*vision.*", {"images": True}),),
        docs_url="https://api-docs.deepseek.com/guides/responses_api",
    ),
)
