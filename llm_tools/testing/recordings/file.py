"""The file of a recording. These functions wait for the disk: call them in a thread."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Lock

from ...errors import ConfigurationError
from .exchange import Exchange, read_line


class RecordingFile:
    """A file that is made for one recording, a line for each exchange; safe in several threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._begun = False

    def begin(self) -> None:
        """Make sure that it can be written to, before anything is asked; later calls do nothing.

        Raises:
            ConfigurationError: it holds something already, or cannot be written.
        """
        with self._lock:
            if self._begun:
                return
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("ab") as file:
                    size = file.tell()
            except OSError as error:
                raise self._unwritable(error) from error
            if size:
                raise ConfigurationError(
                    f"{self._path} holds a recording already: delete it to record again, or "
                    "answer from it with ReplayTransport. One RecordingTransport may serve any "
                    "number of models."
                )
            self._begun = True

    def append(self, line: bytes) -> None:
        """Add a line, the whole of it or nothing.

        Raises:
            ConfigurationError: it cannot be written.
        """
        with self._lock:
            try:
                with self._path.open("ab", buffering=0) as file:
                    _write_whole(file.fileno(), line, file.tell())
            except OSError as error:
                raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> ConfigurationError:
        return ConfigurationError(
            f"The recording {self._path} cannot be written: {error.strerror or error}."
        )


def _write_whole(file: int, line: bytes, size: int) -> None:
    left = memoryview(line)
    try:
        while left:
            left = left[os.write(file, left) :]
    except OSError:
        os.truncate(file, size)
        raise


def read_exchanges(path: Path) -> list[Exchange]:
    """The exchanges of a recording, in the order in which they ended.

    Raises:
        ConfigurationError: there is no such file, or a line of it is no exchange.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise ConfigurationError(
            f"The recording {path} cannot be read: {error.strerror or error}. Make it with "
            "RecordingTransport."
        ) from error
    return [
        _read_line(path, number, line) for number, line in enumerate(lines, start=1) if line.strip()
    ]


def _read_line(path: Path, number: int, line: bytes) -> Exchange:
    try:
        return read_line(line)
    except ValueError as error:
        raise ConfigurationError(
            f"{path}, line {number}, is no recorded exchange: {error}. Record again, or delete "
            "the line."
        ) from error
