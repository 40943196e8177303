"""A conversation as `system` and `messages`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from msgspec.structs import replace

from ..content import JSON, Message, OutputResultText, ResultWarning
from ..errors import UnsupportedOptionError
from ..functions.preparing import PreparedFunctions
from ..remembering import Opening, Said, say
from ..rendering import legal_ids
from ..spec import Body, Call, Target
from ..turns import Conversation, Keeps, read_conversation

NO_FUNCTIONS = PreparedFunctions(())
_END_TRIMMED = ResultWarning(
    code="end_trimmed", detail="The blanks at the end of the last assistant turn were left out."
)


class Rendered(NamedTuple):
    """The body's part, and what must be said."""

    body: Body
    warnings: tuple[ResultWarning, ...]


class Turns(NamedTuple):
    """What a wire makes of messages: their elements, the system's texts, warnings."""

    elements: list[JSON]
    system: tuple[str, ...]
    warnings: tuple[ResultWarning, ...]


Write: TypeAlias = Callable[[tuple[Message, ...]], Turns]


class Wire(NamedTuple):
    """What differs between the two: which ids are legal, and how text stands in a message."""

    is_legal: Callable[[str], object]
    content: Callable[[list[str]], JSON]


def render_conversation(
    call: Call,
    wire: Wire,
    write: Write,
    made_for: tuple[object, ...],
    instructions: tuple[str, ...],
) -> Rendered:
    """The conversation; `instructions` join the system texts.

    Args:
        call: the call.
        wire: what its wire takes.
        write: makes the turns of messages whose ids are legal.
        made_for: the target and the functions, see `remembering.say`.
        instructions: what is said to the model beside the messages.

    Raises:
        ConfigurationError: there is nothing to send, or it ends with the assistant's turn.
    """

    def render(messages: tuple[Message, ...]) -> Said:
        turns = write(legal_ids(messages, wire.is_legal))
        system = [*turns.system, *(instructions if messages is call.messages else ())]
        body: Body = {"system": wire.content(system)} if system else {}
        return Said(turns.elements, body, turns.warnings)

    element = {"role": "user", "content": wire.content(["-"])}
    said = say(
        call,
        render,
        made_for,
        known_by=instructions,
        is_legal=wire.is_legal,
        opening=Opening(Message(role="user", content="-"), element),
    )
    return Rendered({**said.body, "messages": said.elements}, said.warnings)


def read_turns(messages: tuple[Message, ...], keeps: Keeps) -> Conversation:
    """Messages as turns; one of the assistant's at the end, to be continued, ends in no blank.

    Claude refuses one that does ("final assistant content cannot end with trailing whitespace").

    Raises:
        ConfigurationError: there is nothing to send.
    """
    conversation = read_conversation(messages, keeps)
    last = conversation.turns[-1]
    end = last.parts[-1] if last.parts else None
    if last.role != "assistant" or not isinstance(end, OutputResultText):
        return conversation
    trimmed = end.text.rstrip()
    if trimmed == end.text:
        return conversation
    parts = (*last.parts[:-1], replace(end, text=trimmed))
    return replace(
        conversation,
        turns=(*conversation.turns[:-1], replace(last, parts=parts)),
        warnings=(*conversation.warnings, _END_TRIMMED),
    )


def no_prefill(target: Target[Any]) -> UnsupportedOptionError:
    """What to raise where messages end with the assistant's turn, and the model refuses that."""
    return UnsupportedOptionError(
        f"{target.model} does not continue an assistant turn: let the messages end with the "
        "user's, and use json_schema to shape the answer."
    )
