"""Messages as alternating turns, for wires that take them no other way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from .content import (
    Message,
    OutputResultContent,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultReasoning,
    OutputResultText,
    ResultWarning,
)
from .errors import ConfigurationError
from .functions.definitions import FunctionDefinition, FunctionSet
from .rendering import parts_of

TurnRole: TypeAlias = Literal["user", "assistant"]
Keeps: TypeAlias = Callable[[TurnRole, OutputResultContent], bool]

EARLIER_LEFT_OUT = "(earlier turns are left out)"
NO_TEXT = "(no text)"


class Turn(Struct, frozen=True, kw_only=True):
    """One turn: never empty. `results` come before `parts`."""

    role: TurnRole
    results: tuple[Message, ...] = ()
    parts: tuple[OutputResultContent, ...] = ()


class Conversation(Struct, frozen=True, kw_only=True):
    """System texts, then turns that alternate and begin with the user's."""

    system: tuple[str, ...]
    turns: tuple[Turn, ...]
    warnings: tuple[ResultWarning, ...] = ()


class _Draft(NamedTuple):
    role: TurnRole
    results: list[Message]
    parts: list[OutputResultContent]


def read_conversation(messages: tuple[Message, ...], keeps: Keeps) -> Conversation:
    """Group mended messages into turns.

    Args:
        messages: in order; the results of a turn follow it, in the order of its calls.
        keeps: whether the wire takes a part of a turn of this role. What it does not take is left
            out, with a warning unless it is blank text.

    Raises:
        ConfigurationError: there is nothing to send.
    """
    warnings = [*_left_out(messages, keeps), *_late_system(messages)]
    system = [text for message in messages if message.role == "system" for text in _texts(message)]
    drafts = _alternate(messages, keeps)
    if not drafts and not system:
        raise ConfigurationError("There is nothing to send: give at least one user message.")
    if not drafts or drafts[0].role != "user":
        warnings.append(_open_with_user(drafts, system, messages))
    turns = []
    for draft in drafts:
        if not draft.parts and not draft.results:
            draft.parts.append(OutputResultText(text=NO_TEXT))
            warnings.append(_warning("empty_user_turn", f"A blank user turn went out as {NO_TEXT}"))
        turns.append(Turn(role=draft.role, results=tuple(draft.results), parts=tuple(draft.parts)))
    return Conversation(system=tuple(system), turns=tuple(turns), warnings=tuple(warnings))


def has_calls(messages: Iterable[Message]) -> bool:
    """Whether the history holds a call or the result of one."""
    return any(
        message.role == "function"
        or (message.role == "assistant" and any(map(_is_call, parts_of(message))))
        for message in messages
    )


def functions_of_history(messages: Iterable[Message]) -> FunctionSet:
    """Minimal definitions of the functions that were called in the history, in that order."""
    names = {
        part.name: None
        for message in messages
        if message.role == "assistant"
        for part in parts_of(message)
        if isinstance(part, OutputResultFunctionUse)
    }
    return _named_functions(tuple(names))


@lru_cache(maxsize=64)
def _named_functions(names: tuple[str, ...]) -> FunctionSet:
    """One set for the same names, so that what is made of it is made once."""
    return FunctionSet([FunctionDefinition(name=name) for name in names])


def _alternate(messages: tuple[Message, ...], keeps: Keeps) -> list[_Draft]:
    drafts: list[_Draft] = []
    for message in messages:
        if message.role == "system":
            continue
        role: TurnRole = "assistant" if message.role == "assistant" else "user"
        parts = _kept(message, role, keeps)
        if role == "assistant" and not parts:
            continue
        if not drafts or drafts[-1].role != role:
            drafts.append(_Draft(role, [], []))
        if message.role == "function":
            drafts[-1].results.append(message)
        drafts[-1].parts.extend(parts)
    return drafts


def _kept(message: Message, role: TurnRole, keeps: Keeps) -> list[OutputResultContent]:
    if message.role == "function":
        return []
    return [part for part in parts_of(message) if keeps(role, part)]


def _open_with_user(
    drafts: list[_Draft], system: list[str], messages: tuple[Message, ...]
) -> ResultWarning:
    if system and not any(message.role == "user" for message in messages):
        text = system.pop()
        warning = _warning("system_as_user", "The last system message went out as the user's.")
    else:
        text = EARLIER_LEFT_OUT
        warning = _warning("user_turn_added", f"The first turn must be the user's: added {text}")
    drafts.insert(0, _Draft("user", [], [OutputResultText(text=text)]))
    return warning


def _left_out(messages: tuple[Message, ...], keeps: Keeps) -> list[ResultWarning]:
    kinds = {
        type(part)
        for message in messages
        if message.role in ("user", "assistant")
        for part in parts_of(message)
        if not keeps("assistant" if message.role == "assistant" else "user", part)
    }
    return [warning for kind, warning in _LEFT_OUT.items() if kind in kinds]


def _late_system(messages: tuple[Message, ...]) -> list[ResultWarning]:
    roles = [message.role for message in messages]
    leading = next((i for i, role in enumerate(roles) if role != "system"), len(roles))
    if "system" not in roles[leading:]:
        return []
    detail = "A system message between turns went out before all of them."
    return [_warning("system_hoisted", detail)]


def _texts(message: Message) -> list[str]:
    texts = [part.text for part in parts_of(message) if isinstance(part, OutputResultText)]
    return [text for text in texts if text.strip()]


def _is_call(part: OutputResultContent) -> bool:
    return isinstance(part, OutputResultFunctionUse)


def _warning(code: str, detail: str) -> ResultWarning:
    return ResultWarning(code=code, detail=detail)


_LEFT_OUT: dict[type, ResultWarning] = {
    OutputResultReasoning: _warning(
        "reasoning_left_out", "Reasoning this model cannot read back was left out of the history."
    ),
    OutputResultImage: _warning(
        "image_left_out", "An image in an assistant turn was left out; the wire takes none there."
    ),
}
