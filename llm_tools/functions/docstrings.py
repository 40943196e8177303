"""What a docstring says: Google, NumPy and reST style."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from inspect import cleandoc

from msgspec import Struct

_NAMED_SECTIONS = (
    "args|arguments|params|parameters|keyword args|keyword arguments|other parameters|attributes"
)
_OTHER_SECTIONS = (
    "returns?|yields?|raises?|receives|examples?|notes?|warnings?|warns|see also|references|todo"
    "|side effects|methods"
)
_NAMED = re.compile(rf"({_NAMED_SECTIONS})\s*:?", re.IGNORECASE)
_HEAD = re.compile(rf"({_NAMED_SECTIONS}|{_OTHER_SECTIONS})\s*(:?)", re.IGNORECASE)
_UNDERLINE = re.compile(r"-{3,}|={3,}")
_GOOGLE_ITEM = re.compile(r"\*{0,2}(\w+)\s*(?:\(.*?\))?\s*:\s*(.*)")
_NUMPY_ITEM = re.compile(r"\*{0,2}(\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?")
_REST_FIELD = re.compile(r":(\w+)((?:\s+[^:]*)?):\s*(.*)")
_REST_PARAMETERS = frozenset(
    {"param", "parameter", "arg", "argument", "key", "keyword", "kwarg", "attr", "var", "ivar"}
)


class Docstring(Struct, frozen=True):
    """The text before any section, and what is said of each parameter or attribute."""

    description: str = ""
    parameters: dict[str, str] = {}


def parse_docstring(text: str | None) -> Docstring:
    """Read a docstring in any of the three styles; unknown sections are passed over."""
    lines = cleandoc(text or "").splitlines()
    description: list[str] = []
    parameters: dict[str, str] = {}
    position = 0
    while position < len(lines):
        read = _section_at(lines, position)
        if read is None:
            description.append(lines[position])
            position += 1
        else:
            position, found = read
            parameters |= found
    return Docstring("\n".join(description).strip(), parameters)


def _section_at(lines: list[str], position: int) -> tuple[int, dict[str, str]] | None:
    """The section or field that starts here: where it ends, and what it says."""
    for read in (_numpy_section, _google_section, _rest_field):
        found = read(lines, position)
        if found is not None:
            return found
    return None


def _google_section(lines: list[str], position: int) -> tuple[int, dict[str, str]] | None:
    head = _HEAD.fullmatch(lines[position].rstrip())
    if head is None or not head[2]:
        return None
    end = position + 1
    while end < len(lines) and (not lines[end].strip() or lines[end][0].isspace()):
        end += 1
    return end, _items(lines[position], lines[position + 1 : end], _google_names)


def _numpy_section(lines: list[str], position: int) -> tuple[int, dict[str, str]] | None:
    if not _is_numpy_head(lines, position):
        return None
    end = position + 2
    while end < len(lines) and not _is_numpy_head(lines, end):
        end += 1
    return end, _items(lines[position], lines[position + 2 : end], _numpy_names)


def _is_numpy_head(lines: list[str], position: int) -> bool:
    below = lines[position + 1] if position + 1 < len(lines) else ""
    is_head = _HEAD.fullmatch(lines[position].strip()) is not None
    return is_head and _UNDERLINE.fullmatch(below.strip()) is not None


def _rest_field(lines: list[str], position: int) -> tuple[int, dict[str, str]] | None:
    field = _REST_FIELD.fullmatch(lines[position].strip())
    if field is None:
        return None
    end = position + 1
    while end < len(lines) and lines[end][:1].isspace():
        end += 1
    kind, subject, first = field.groups()
    if kind.lower() not in _REST_PARAMETERS or not subject.split():
        return end, {}
    return end, {subject.split()[-1].lstrip("*"): _joined([first, *lines[position + 1 : end]])}


def _items(
    head: str, lines: list[str], names_of: Callable[[str], tuple[list[str], str] | None]
) -> dict[str, str]:
    """The named items of a section; what is indented deeper than a name belongs to it."""
    if not _NAMED.fullmatch(head.strip()):
        return {}
    found: dict[str, str] = {}
    for block in _blocks(lines):
        named = names_of(block[0].strip())
        if named is not None:
            names, first = named
            text = _joined([first, *block[1:]])
            found |= {name: text for name in names if text}
    return found


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Runs of lines that begin at the section's own indentation."""
    filled = [line for line in lines if line.strip()]
    margin = min((len(line) - len(line.lstrip()) for line in filled), default=0)
    block: list[str] = []
    for line in filled:
        if block and not line[margin : margin + 1].isspace():
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _google_names(line: str) -> tuple[list[str], str] | None:
    item = _GOOGLE_ITEM.fullmatch(line)
    return ([item[1]], item[2]) if item else None


def _numpy_names(line: str) -> tuple[list[str], str] | None:
    item = _NUMPY_ITEM.fullmatch(line)
    return ([name.strip(" *") for name in item[1].split(",")], "") if item else None


def _joined(lines: list[str]) -> str:
    return " ".join([line.strip() for line in lines if line.strip()])
