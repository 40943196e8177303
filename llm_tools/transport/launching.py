"""Endpoints that start their own server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import lru_cache
from importlib import import_module
from typing import TypeAlias

from ..errors import ConfigurationError
from ..spec import Endpoint

Launcher: TypeAlias = Callable[[], Awaitable[tuple[str, str]]]


async def launch(endpoint: Endpoint) -> tuple[str, str]:
    """Base URL and key of the server, started if it does not run.

    The launcher is asked at every send; it must answer at once while its server lives.

    Raises:
        ConfigurationError: it cannot be imported.
    """
    return await _launcher(endpoint.launcher or "", endpoint.key)()


@lru_cache
def _launcher(path: str, endpoint: str) -> Launcher:
    module, _, name = path.partition(":")
    try:
        found: Launcher = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigurationError(
            f"The launcher {path!r} of {endpoint} cannot be imported: {error}."
        ) from error
    return found
