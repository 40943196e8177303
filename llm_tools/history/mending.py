"""The outgoing copy of a history: every call has exactly one result, right after its turn."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from ..content import Message, OutputResultFunctionUse, ResultWarning
from ..errors import ConfigurationError

NOT_COMPLETED = "The call was not completed."
"""What the model is told of a call that has no result."""


def mend(
    messages: tuple[Message, ...], *, strict: bool
) -> tuple[tuple[Message, ...], tuple[ResultWarning, ...]]:
    """Make a history legal: results directly after their assistant turn, in call order.

    Results are paired with calls by id; an id belongs to the last turn that used it. A call
    without a result gets an error result, a result without a call and a second result are left
    out, a result behind another message is pulled to its turn, ids used twice in a turn are told
    apart. Where nothing had to change, `messages` itself comes back.

    Args:
        messages: sound messages; they are not changed.
        strict: refuse instead of mending.

    Raises:
        ConfigurationError: `strict`, and a call or result is missing, doubled or out of place.
    """
    if is_whole(messages):
        return messages, ()
    mended, warnings = _Mending(messages).run()
    if strict and warnings:
        found = " ".join([warning.detail for warning in warnings])
        raise ConfigurationError(
            f"The history is broken: {found} Repair it, or leave strict_history off."
        )
    return mended, warnings


def calls_of(message: Message) -> list[OutputResultFunctionUse]:
    """The calls of an assistant message, in order; none for any other."""
    if message.role != "assistant" or type(message.content) is not tuple:
        return []
    return [part for part in message.content if type(part) is OutputResultFunctionUse]


def is_whole(messages: tuple[Message, ...]) -> bool:
    """Whether every call has its one result, right after its turn and in order."""
    waiting: list[OutputResultFunctionUse] = []
    answered = 0
    for message in messages:
        if message.role == "function":
            if answered == len(waiting) or not _answers(message, waiting[answered]):
                return False
            answered += 1
        elif answered < len(waiting):
            return False
        else:
            waiting, answered = calls_of(message), 0
            if waiting and not _are_legal(waiting):
                return False
    return answered == len(waiting)


def _answers(message: Message, call: OutputResultFunctionUse) -> bool:
    return message.function_id == call.function_id and message.name == call.name


def _are_legal(calls: list[OutputResultFunctionUse]) -> bool:
    if len(calls) > 1 and len({call.function_id for call in calls}) < len(calls):
        return False
    return all(call.function_id and not (call.input_error and call.input) for call in calls)


class _Slot:
    """A call, the id it goes out under, and the result found for it."""

    __slots__ = ("call", "function_id", "result")

    def __init__(self, call: OutputResultFunctionUse, function_id: str) -> None:
        self.call = call
        self.function_id = function_id
        self.result: Message | None = None


class _Turn(NamedTuple):
    """A message that stays where it is, with the calls it makes."""

    message: Message
    slots: list[_Slot]


class _Mending:
    """One history being mended."""

    __slots__ = ("_messages", "_open", "_turns", "_warnings")

    def __init__(self, messages: tuple[Message, ...]) -> None:
        self._messages = messages
        self._turns: list[_Turn] = []
        self._open: dict[str, list[_Slot]] = {}
        self._warnings: list[ResultWarning] = []

    def run(self) -> tuple[tuple[Message, ...], tuple[ResultWarning, ...]]:
        for message in self._messages:
            if message.role == "function":
                self._place(message)
            else:
                self._begin(message)
        mended = [part for turn in self._turns for part in self._close(turn)]
        return tuple(mended), tuple(self._warnings)

    def _begin(self, message: Message) -> None:
        slots: list[_Slot] = []
        by_id: dict[str, list[_Slot]] = {}
        calls = calls_of(message)
        taken = {call.function_id for call in calls} | {""}
        for call in calls:
            twins = by_id.setdefault(call.function_id, [])
            slot = _Slot(call, call.function_id)
            if twins or not call.function_id:
                slot.function_id = _free_id(call.function_id or "call", taken)
                self._warn(
                    "function_id_replaced",
                    f"The id {call.function_id!r} of {call.name!r} was missing or used twice in "
                    f"one turn; it goes out as {slot.function_id!r}.",
                )
            twins.append(slot)
            slots.append(slot)
        self._open.update(by_id)
        self._turns.append(_Turn(message, slots))

    def _place(self, message: Message) -> None:
        function_id = message.function_id or ""
        slots = self._open.get(function_id)
        if slots is None:
            self._warn(
                "orphan_result",
                f"The result {function_id!r} of {message.name!r} answers no call before it and "
                "was left out.",
            )
            return
        slot = next((slot for slot in slots if slot.result is None), None)
        if slot is None:
            self._warn("duplicate_result", f"A second result for {function_id!r} was left out.")
            return
        slot.result = message
        if not any(slot is other for other in self._turns[-1].slots):
            self._warn(
                "result_moved",
                f"The result {function_id!r} came after another message and goes out right after "
                "its call.",
            )

    def _close(self, turn: _Turn) -> list[Message]:
        outgoing = [_outgoing(slot) for slot in turn.slots]
        message = turn.message
        if any(sent is not slot.call for sent, slot in zip(outgoing, turn.slots, strict=True)):
            calls = iter(outgoing)
            parts = [
                next(calls) if type(part) is OutputResultFunctionUse else part
                for part in message.content
            ]
            message = replace(message, content=tuple(parts))
        return [message, *[self._result(slot) for slot in turn.slots]]

    def _result(self, slot: _Slot) -> Message:
        name, function_id, result = slot.call.name, slot.function_id, slot.result
        if result is None:
            self._warn(
                "call_not_completed",
                f"The call {function_id!r} of {name!r} has no result; the model is told that it "
                "was not completed.",
            )
            return Message(
                role="function",
                content=NOT_COMPLETED,
                name=name,
                function_id=function_id,
                is_error=True,
            )
        if result.name not in (None, name):
            self._warn(
                "result_renamed",
                f"The result {function_id!r} named {result.name!r} answers {name!r} and goes out "
                "under that name.",
            )
        if result.name == name and result.function_id == function_id:
            return result
        return replace(result, name=name, function_id=function_id)

    def _warn(self, code: str, detail: str) -> None:
        self._warnings.append(ResultWarning(code=code, detail=detail))


def _outgoing(slot: _Slot) -> OutputResultFunctionUse:
    """The call as it goes out; the very call where nothing has to change."""
    call = slot.call
    broken = call.input_error is not None and bool(call.input)
    if slot.function_id == call.function_id and not broken:
        return call
    return replace(call, function_id=slot.function_id, input={} if broken else call.input)


def _free_id(stem: str, taken: set[str]) -> str:
    """An id of its own, the same each time the same history goes out."""
    number = 2
    while f"{stem}_{number}" in taken:
        number += 1
    taken.add(f"{stem}_{number}")
    return f"{stem}_{number}"
