"""Packages that only some endpoints need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ...errors import ConfigurationError


def load_extra(module: str, *, endpoint: str, extra: str, instead: str) -> Any:
    """Import a module of an optional package.

    `instead` names what does without it.

    Raises:
        ConfigurationError: it is not installed; the message says how to install it.
    """
    try:
        return import_module(module)
    except ImportError as missing:
        raise ConfigurationError(
            f"{endpoint} needs a package that is not installed ({missing.name}): "
            f"pip install 'llm-tools[{extra}]', or {instead}."
        ) from None
