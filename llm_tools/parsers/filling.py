"""Text of a model's with `{{ name }}` places in it; nothing in it is ever evaluated."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import ConfigurationError, ParserError

_PLACE = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")


def filler(options: dict[str, Any]) -> Callable[..., str]:
    """Puts `values` in the places of the text that name them.

    Those of the option stand before those of the call.
    """
    own = options.get("values") or {}
    if not isinstance(own, Mapping):
        raise ConfigurationError("replace_string_template takes values={…}, by name.")

    def fill(text: str, values: Mapping[str, Any] | None = None) -> str:
        known = {**(values or {}), **own}
        unknown = [name for name in _PLACE.findall(text) if name not in known]
        if unknown:
            raise ParserError(f"the text asks for {', '.join(map(repr, unknown))}, not in values")
        return _PLACE.sub(lambda place: str(known[place[1]]), text)

    return fill
