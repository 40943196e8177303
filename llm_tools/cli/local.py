"""`llm-tools local`: the model on this machine."""

from __future__ import annotations

import sys
from argparse import Namespace
from importlib.metadata import PackageNotFoundError, version

from ..errors import ConfigurationError
from ..integrations.local.fetching import fetch as fetch_weights
from ..integrations.local.launching import INSTALL
from ..integrations.local.weights import SMOLLM2, file_sha256, find_weights


def fetch(_: Namespace) -> int:
    """Get the weights."""
    try:
        fetch_weights(lambda line: print(line, flush=True))
    except OSError as error:
        print(f"llm-tools: {error}", file=sys.stderr)
        return 1
    return 0


def status(_: Namespace) -> int:
    """Say whether engine and weights are there; 0 if both are."""
    engine = _engine()
    print(f"engine   {engine or f'missing: run `{INSTALL}`'}")
    try:
        weights = find_weights()
    except ConfigurationError as error:
        print(f"weights  missing: {error}")
        return 1
    known = file_sha256(weights) == SMOLLM2.sha256
    print(f"weights  {weights} ({SMOLLM2.title if known else 'a model of your own'})")
    return 0 if engine else 1


def _engine() -> str | None:
    try:
        return f"xllamacpp {version('xllamacpp')}"
    except PackageNotFoundError:
        return None
