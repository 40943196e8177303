"""By what Gemini models differ, wherever they are served; later ones are the dialect's default."""

from __future__ import annotations

from ..spec import QuirkValues

_BEFORE_3: QuirkValues = {
    "wants_signatures": False,
    "schema_with_functions": False,
    "images_in_results": False,
}

GEMINI: tuple[tuple[str, QuirkValues], ...] = (
    (r"gemini-(1\.|2\.0|pro$|pro-vision).*|gemma-.*", {**_BEFORE_3, "thinking": "none"}),
    # https://ai.google.dev/gemini-api/docs/thinking#levels-budgets
    (r"gemini-2\.5-.*", {**_BEFORE_3, "thinking": "budget"}),
    (r"gemini-2\.5-pro.*", {"thinks_always": True}),
    (r"gemini-3-pro.*", {"levels": ("low", "high")}),
    (
        r"gemini-3\.1-pro.*|gemini-3\.[78]-flash.*|gemini-4-(argon|carbon).*",
        {"levels": ("low", "medium", "high")},
    ),
)
