"""By what models under Ollama differ."""

from __future__ import annotations

from ...spec import Quirks


class OllamaQuirks(Quirks, frozen=True, kw_only=True):
    """Flags of the `ollama` dialect.

    Attributes:
        efforts: what `think` takes for this model; `none` turns thinking off.
    """

    efforts: tuple[str, ...] = ("none", "low", "medium", "high", "max")
