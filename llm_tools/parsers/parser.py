"""What a parser is: a name, a way to read text, and perhaps the schema of that text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from ..content import OutputResult
from ..errors import ConfigurationError, ParserError

T = TypeVar("T")


class Parser(Generic[T]):
    """Turns a model's text into a value. Immutable; made by `create_parser`.

    Attributes:
        name: its kind, or the name a custom parser was given.
        json_schema: the shape of the text, as `json_schema` of the call takes it (a JSON parser
            with a schema or type has one), or None.
        takes_values: whether the values of the call (an executor's input) play a part.
    """

    __slots__ = ("_read", "json_schema", "name", "takes_values")

    def __init__(
        self,
        name: str,
        read: Callable[..., T],
        json_schema: Any = None,
        *,
        takes_values: bool = False,
    ) -> None:
        self.name: str = name
        self.json_schema: Any = json_schema
        self.takes_values: bool = takes_values
        self._read = read

    def parse(
        self,
        text: str,
        result: OutputResult | None = None,
        *,
        values: Mapping[str, Any] | None = None,
    ) -> T:
        """The value in the text.

        Args:
            text: all text of an answer, joined.
            result: the answer, for the error.
            values: the values of the call by name, for a parser that takes them.

        Raises:
            ParserError: the text does not fit; it carries `text` and `result`.
        """
        try:
            if not isinstance(text, str):
                raise ParserError(f"expected text, got {type(text).__name__}")
            return self._read(text, values) if self.takes_values else self._read(text)
        except Exception as error:
            kind = "" if isinstance(error, ParserError) else f"{type(error).__name__}: "
            raise ParserError(
                f"Parser {self.name!r}: {kind}{error}. Look at .text, or ask again.",
                text=text if isinstance(text, str) else "",
                result=result,
            ) from error

    def __repr__(self) -> str:
        return f"<Parser {self.name!r}>"


def read_choice(options: dict[str, Any], name: str, choices: tuple[str, ...]) -> str:
    """An option that takes one of a few words; the first is the default.

    Raises:
        ConfigurationError: another value.
    """
    value = options.get(name, choices[0])
    if not isinstance(value, str) or value not in choices:
        listed = " or ".join(map(repr, choices))
        raise ConfigurationError(f"The parser's {name} is {listed}, not {value!r}.")
    return str(value)
