"""What rewriting a schema for a wire lost or invented."""

from __future__ import annotations

from ...content import ResultWarning
from ..schemas.walking import Path, where


class Unavailable(Exception):  # noqa: N818 - never seen outside: the function then goes out plain
    """A schema a strict subset cannot say, at `path`, for `reason`."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{where(path)}: {reason}")


class Changes:
    """Collects, while one schema is rewritten, what the way back and the caller must know.

    Attributes:
        warnings: one for each loss, naming the owner and the JSON pointer.
        loosened: whether the wire accepts what the caller's schema does not.
        nulls: whether optional properties became nullable ones.
        texts: whether numbers in an enum became strings.
        names: the wire's property names that are not the caller's, to the caller's.
    """

    __slots__ = ("_owner", "loosened", "names", "nulls", "texts", "warnings")

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self.warnings: list[ResultWarning] = []
        self.loosened: bool = False
        self.nulls: bool = False
        self.texts: bool = False
        self.names: dict[str, str] = {}

    def lose(self, code: str, path: Path, text: str) -> None:
        """Something of the schema does not reach the wire."""
        self.loosened = True
        self.tell(code, f"{where(path)}: {text}")

    def tell(self, code: str, text: str) -> None:
        """Something the caller should know."""
        warning = ResultWarning(code=code, detail=f"{self._owner}: {text}")
        if warning not in self.warnings:
            self.warnings.append(warning)
