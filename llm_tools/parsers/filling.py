"""Text of a model's with `{{ name }}` places in it; nothing in it is ever evaluated."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import ConfigurationError, ParserError

_PLACE = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")


def filler(options: dict[str, Any]) -> Callable[[str], str]:
    """Puts `values` in the places of the text that name them."""
    values = options.get("values") or {}
    if not isinstance(values, Mapping):
        raise ConfigurationError("replace_string_template takes values={…}, by name.")

    def fill(text: str) -> str:
        unknown = [name for name in _PLACE.findall(text) if name not in values]
        if unknown:
            raise ParserError(f"the text asks for {', '.join(map(repr, unknown))}, not in values")
        return _PLACE.sub(lambda place: str(values[place[1]]), text)

    return fill
