"""The one object that holds a key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any, TypeAlias

from ..errors import ConfigurationError

KeySource: TypeAlias = str | Callable[[], str | Awaitable[str]]

MASK = "***"


class Key(str):
    """A revealed key on its way into a header: its repr, as in a traceback's locals, is masked."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(MASK)


class KeyBytes(bytes):
    """Bytes that hold a key, on their way into a socket; masked like one."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"b'{MASK}'"


class Secret:
    """A key, or a function (sync or async) that returns one at each call.

    It shows as `***`, has nothing for `vars`, and comes out of a pickle empty: then the
    environment is asked, as if it had not been given.
    """

    __slots__ = ("_source",)

    def __init__(self, source: KeySource | None) -> None:
        def give() -> Any:
            return source

        # A closure: whoever walks attributes finds a function, not the key.
        self._source: Callable[[], Any] = give

    def __bool__(self) -> bool:
        return bool(self._source())

    def at_hand(self) -> Key | None:
        """The key, where no function has to be asked for it."""
        value: Any = self._source()
        return Key(value) if isinstance(value, str) else None

    async def reveal(self) -> Key | None:
        """The key; None where there is none (any more).

        Raises:
            ConfigurationError: the function returned something that is no string.
        """
        value: Any = self._source()
        if callable(value):
            value = value()
            if isawaitable(value):
                value = await value
            if not isinstance(value, str) or not value:
                value = None  # this frame is part of the traceback
                raise ConfigurationError("The function given for a key must return a string.")
        if value is not None and not isinstance(value, str):
            value = None
            raise ConfigurationError("A key must be a string or a function that returns one.")
        return Key(value) if value else None

    def __repr__(self) -> str:
        return MASK

    __str__ = __repr__

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Secret:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (Secret, (None,))
