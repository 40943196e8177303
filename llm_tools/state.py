"""What an application remembers: dialogues, attributes and context items, saved as one."""

from __future__ import annotations

from typing import Any, Generic, Self, TypeVar

import msgspec
from msgspec import Raw, Struct, field

from .content import JSON
from .dialogue import Dialogue
from .errors import ConfigurationError
from .given import check_name
from .history import json_safe

T = TypeVar("T")

_VERSION = 1


def create_state() -> State:
    """An empty state."""
    return State()


def create_state_item(name: str, default: T) -> StateItem[T]:
    """A context item: a value under a name, with a default to go back to."""
    return StateItem(name, default)


class StateItem(Generic[T]):
    """A value with a default; `value` reads it."""

    __slots__ = ("default", "name", "value")

    def __init__(self, name: str, default: T) -> None:
        self.name: str = name
        self.default: T = default
        self.value: T = default

    def set(self, value: T) -> Self:
        """Put another value in place."""
        self.value = value
        return self

    def reset(self) -> Self:
        """Go back to the default."""
        self.value = self.default
        return self

    def __repr__(self) -> str:
        return f"<StateItem {self.name!r}>"


class State:
    """Dialogues, attributes and context items by name.

    `dialogues`, `attributes` and `context` are dicts of the state's own; read them, and change
    them by the methods.
    """

    __slots__ = ("attributes", "context", "dialogues")

    def __init__(self) -> None:
        self.dialogues: dict[str, Dialogue] = {}
        self.attributes: dict[str, Any] = {}
        self.context: dict[str, StateItem[Any]] = {}

    def create_dialogue(self, name: str) -> Dialogue:
        """A new dialogue under a name.

        Raises:
            ConfigurationError: there is one already.
        """
        if check_name("A dialogue's name", name) in self.dialogues:
            raise ConfigurationError(
                f"There is a dialogue {name!r} already: get_dialogue({name!r}) returns it."
            )
        return self.use_dialogue(name)

    def use_dialogue(self, name: str) -> Dialogue:
        """The dialogue of this name, made if it is not there."""
        return self.dialogues.setdefault(check_name("A dialogue's name", name), Dialogue(name))

    def add_dialogue(self, dialogue: Dialogue) -> Self:
        """Keep a dialogue under its own name, in place of one that had it."""
        if not isinstance(dialogue, Dialogue):
            raise ConfigurationError(f"{dialogue!r} is no dialogue: pass create_dialogue(name).")
        self.dialogues[dialogue.name] = dialogue
        return self

    def get_dialogue(self, name: str) -> Dialogue | None:
        """The dialogue of this name, or None."""
        return self.dialogues.get(check_name("A dialogue's name", name))

    def set_attribute(self, key: str, value: Any) -> Self:
        """Remember a value."""
        self.attributes[check_name("An attribute's key", key)] = value
        return self

    def get_attribute(self, key: str, default: Any = None) -> Any:
        """The value remembered, or the default."""
        return self.attributes.get(check_name("An attribute's key", key), default)

    def delete_attribute(self, key: str) -> Self:
        """Forget a value; nothing happens where there is none."""
        self.attributes.pop(check_name("An attribute's key", key), None)
        return self

    def clear_attributes(self) -> Self:
        """Forget all values."""
        self.attributes.clear()
        return self

    def create_context_item(self, item: StateItem[T]) -> StateItem[T]:
        """Keep an item under its own name.

        Raises:
            ConfigurationError: it is no item, or there is another one already.
        """
        if not isinstance(item, StateItem):
            raise ConfigurationError(
                f"{item!r} is no context item: pass create_state_item(name, default)."
            )
        if self.context.setdefault(item.name, item) is not item:
            raise ConfigurationError(f"There is a context item {item.name!r} already.")
        return item

    def get_context_item(self, name: str) -> StateItem[Any] | None:
        """The item of this name, or None."""
        return self.context.get(check_name("An item's name", name))

    def to_json(self) -> str:
        """All of it as JSON text, with the version of its schema.

        Values that are not JSON are saved as `json_safe` spells them.
        """
        saved = {
            "version": _VERSION,
            "dialogues": [Raw(item.to_json().encode()) for item in self.dialogues.values()],
            "attributes": json_safe(self.attributes),
            "context": [
                {
                    "name": item.name,
                    "value": json_safe(item.value),
                    "default": json_safe(item.default),
                }
                for item in self.context.values()
            ],
        }
        return msgspec.json.encode(saved).decode()

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """A state from what `to_json` wrote, also by a later version where it can be read.

        Raises:
            ConfigurationError: it is no saved state.
        """
        try:
            saved = msgspec.json.decode(text, type=_Saved)
        except (msgspec.DecodeError, UnicodeError, RecursionError, TypeError) as error:
            raise ConfigurationError(f"This is no saved state: {error}.") from error
        state = cls()
        for raw in saved.dialogues:
            state.add_dialogue(Dialogue.from_json(bytes(raw)))
        state.attributes.update(saved.attributes)
        for item in saved.context:
            state.create_context_item(StateItem(item.name, item.default)).set(item.value)
        return state

    def __repr__(self) -> str:
        return (
            f"<State: {len(self.dialogues)} dialogues, {len(self.attributes)} attributes, "
            f"{len(self.context)} context items>"
        )


class _SavedItem(Struct):
    name: str
    value: JSON
    default: JSON = None


class _Saved(Struct):
    version: int
    dialogues: list[Raw] = field(default_factory=list)
    attributes: dict[str, JSON] = field(default_factory=dict)
    context: list[_SavedItem] = field(default_factory=list)
