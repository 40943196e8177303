"""The small model that runs on this machine: started on first use, without key or network."""

from __future__ import annotations

from ..spec import Endpoint, KeyAuth

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        key="local",
        auth=KeyAuth(optional=True),
        launcher="llm_tools.integrations.local.launching:launch",
        quirks={
            "allowed_tools": True,
            "output_strict": None,  # the server bounds and checks the caller's own schema
            "refused": ("top_k", "effort"),
            "images": "refused",
        },
        tier="verified",
    ),
)
