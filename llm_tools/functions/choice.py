"""`function_call`: what the caller asked for, as one value."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal, TypeAlias, TypedDict

from msgspec import Struct

from ..errors import ConfigurationError

FunctionCallMode: TypeAlias = Literal["auto", "none", "any"]


class NamedFunction(TypedDict):
    """`{"name": "f"}`: call this one; it also reaches a function called `auto`, `none`, `any`."""

    name: str


class _SubsetNames(TypedDict):
    names: list[str]


class FunctionSubset(_SubsetNames, total=False):
    """`{"names": ["a", "b"], "mode": "any" | "auto"}`: choose among these; mode is `any`."""

    mode: Literal["any", "auto"]


FunctionCall: TypeAlias = str | NamedFunction | FunctionSubset | None


class FunctionChoice(Struct, frozen=True):
    """The normalised form: a mode, and the names it is held to (None: all functions)."""

    mode: FunctionCallMode
    names: tuple[str, ...] | None = None

    @property
    def forced(self) -> bool:
        """Whether an answer without a call breaks what the caller asked."""
        return self.mode == "any"

    def allows(self, name: str) -> bool:
        """Whether a call of this function is what the caller asked for."""
        return self.mode != "none" and (self.names is None or name in self.names)

    @property
    def named(self) -> str | None:
        """The one function that must be called, if it is one."""
        if self.mode == "any" and self.names is not None and len(self.names) == 1:
            return self.names[0]
        return None

    @property
    def subset(self) -> tuple[str, ...] | None:
        """The names to choose among where there are limits but no single forced function."""
        return None if self.named is not None else self.names


_MODES: dict[str, FunctionChoice] = {
    "auto": FunctionChoice("auto"),
    "none": FunctionChoice("none"),
    "any": FunctionChoice("any"),
}


# Words of the providers' own APIs, for those who come from there.
_MEANT = {"required": " To have any function called, say 'any'."}


def read_function_call(value: Any, known: Collection[str]) -> FunctionChoice | None:
    """Turn the caller's `function_call` into a `FunctionChoice`; None stays None.

    Args:
        value: a mode, a name, `{"name": …}` or `{"names": […], "mode": …}`.
        known: the names of the functions offered in this call.

    Raises:
        ConfigurationError: a malformed value, a name no function has, an empty subset, or a
            forced call with no functions.
    """
    choice = None if value is None else _MODES.get(value) if isinstance(value, str) else None
    if value is not None and choice is None:
        choice = _read_names(value, known)
    if choice is not None and choice.forced and not known:
        raise ConfigurationError(
            f"function_call={value!r} needs functions, and none were given: pass functions=[…]."
        )
    return choice


def _read_names(value: Any, known: Collection[str]) -> FunctionChoice:
    names: Any
    mode: Any
    if isinstance(value, str):
        names, mode = [value], "any"
    elif isinstance(value, Mapping) and set(value) == {"name"}:
        names, mode = [value["name"]], "any"
    elif isinstance(value, Mapping) and "names" in value and set(value) <= {"names", "mode"}:
        names, mode = value["names"], value.get("mode", "any")
    else:
        raise ConfigurationError(
            f"function_call={value!r} is not understood: use 'auto', 'none', 'any', a function's "
            'name, {"name": …} or {"names": […], "mode": "any" or "auto"}.'
        )
    if mode not in ("any", "auto"):
        raise ConfigurationError(f"function_call mode {mode!r} is not 'any' or 'auto'.")
    return FunctionChoice(mode, _check_names(value, names, known))


def _check_names(value: Any, names: Any, known: Collection[str]) -> tuple[str, ...]:
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise ConfigurationError(f"function_call={value!r}: names must be a list of strings.")
    if not names:
        raise ConfigurationError(
            "function_call names no function: name at least one, or use 'none'."
        )
    for name in names:
        if name not in known:
            listed = ", ".join(sorted(known)) or "none at all"
            raise ConfigurationError(
                f"function_call names {name!r}, which no function has. Offered: {listed}."
                + _MEANT.get(name, "")
            )
    return tuple(dict.fromkeys(names))
