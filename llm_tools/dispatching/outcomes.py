"""`FunctionResult`s: what came of a call, in words the model can use."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from ..content import FunctionResult, OutputResultFunctionUse, OutputResultText
from ..errors import (
    FunctionInputError,
    FunctionNotApprovedError,
    FunctionTimeoutError,
    UnknownFunctionError,
)
from ..history import NOT_COMPLETED, legal_text, result_content
from ..rendering import json_text

DEFERRED = "The call waits for approval."


def success(
    call: OutputResultFunctionUse, value: Any, duration: float, max_bytes: int | None
) -> FunctionResult:
    """A value, as text, parts or JSON for the model and as it is for the caller."""
    content: Any = result_content(value)
    return FunctionResult(
        name=call.name,
        function_id=call.function_id,
        content=content if max_bytes is None else shorten(content, max_bytes),
        duration=duration,
        value=value,
    )


def failure(
    call: OutputResultFunctionUse,
    error: Exception,
    duration: float = 0.0,
    *,
    text: str = "",
    max_bytes: int | None = None,
) -> FunctionResult:
    """An error, told to the model by type and message; never by its traceback."""
    if not text:
        wrong_input = isinstance(error, FunctionInputError)
        text = _unusable(call, error) if wrong_input else error_text(error)
    return FunctionResult(
        name=call.name,
        function_id=call.function_id,
        content=text if max_bytes is None else shorten(text, max_bytes),
        is_error=True,
        error=error,
        duration=duration,
    )


def error_text(error: BaseException) -> str:
    """The error in one line; its type alone where it has no message. A group is its members."""
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(map(error_text, error.exceptions))
    kind = type(error).__name__
    try:
        message = legal_text(str(error)).strip()
    except Exception:  # noqa: BLE001 - a broken __str__ must not hide the error itself
        message = ""
    return f"{kind}: {message}" if message else kind


def unknown_function(call: OutputResultFunctionUse, offered: list[str]) -> FunctionResult:
    """The model made a name up, or used one that is not on offer here."""
    listed = ", ".join(offered) if offered else "none"
    text = f"There is no function {call.name!r}. Available functions: {listed}."
    return failure(call, UnknownFunctionError(text), text=text)


def without_handler(call: OutputResultFunctionUse) -> FunctionResult:
    """The function was offered as a definition only."""
    text = f"The function {call.name!r} has no implementation here."
    return failure(call, UnknownFunctionError(text), text=text)


def forbidden(call: OutputResultFunctionUse) -> FunctionResult:
    """The request's `function_call` ruled the call out."""
    text = f"{call.name!r} may not be called in this turn."
    return failure(call, FunctionNotApprovedError(text), text=text)


def no_calls_allowed(call: OutputResultFunctionUse) -> FunctionResult:
    """The answer was to make no call at all."""
    text = "Function calls are not allowed in this turn; answer in text."
    return failure(call, FunctionNotApprovedError(text), text=text)


def bad_input(call: OutputResultFunctionUse, problem: str) -> FunctionResult:
    """The input does not fit; the function did not run."""
    text = _unusable(call, problem)
    return failure(call, FunctionInputError(text), text=text)


def not_approved(
    call: OutputResultFunctionUse, reason: str, cause: Exception | None = None
) -> FunctionResult:
    """`approve` said no, or failed to say."""
    text = f"The call of {call.name!r} was not approved" + (f": {reason}" if reason else ".")
    error = FunctionNotApprovedError(text)
    error.__cause__ = cause
    return failure(call, error, text=text)


def deferred(call: OutputResultFunctionUse) -> FunctionResult:
    """`approve` said later, where there is no later."""
    return failure(call, FunctionNotApprovedError(DEFERRED), text=DEFERRED)


def timed_out(
    call: OutputResultFunctionUse, seconds: float, duration: float, *, running: bool
) -> FunctionResult:
    """The function took too long; a thread cannot be stopped, so say that it goes on."""
    text = f"{call.name!r} took longer than {seconds:g} s"
    text += " and may still be running in its thread." if running else " and was stopped."
    return failure(call, FunctionTimeoutError(text), duration, text=text)


def held_up(
    call: OutputResultFunctionUse, seconds: float | None, duration: float
) -> FunctionResult:
    """The function may not run beside one that timed out and would not end."""
    text = (
        f"{call.name!r} was not run: it waited {seconds:g} s for an earlier call that timed out "
        "and may still be running in its thread."
    )
    return failure(call, FunctionTimeoutError(text), duration, text=text)


def not_completed(call: OutputResultFunctionUse) -> FunctionResult:
    """The round ended before the call did."""
    return FunctionResult(
        name=call.name, function_id=call.function_id, content=NOT_COMPLETED, is_error=True
    )


def shorten(content: Any, max_bytes: int) -> Any:
    """The content if it fits, else its head and tail as text with a note of what is missing.

    Of text and image parts each text is shortened; images stay.
    """
    if isinstance(content, tuple):
        return tuple(
            replace(part, text=shorten(part.text, max_bytes))
            if isinstance(part, OutputResultText)
            else part
            for part in content
        )
    text = content if isinstance(content, str) else json_text(content)
    raw = text.encode()
    if len(raw) <= max_bytes:
        return content
    half = max_bytes // 2
    head = raw[: max_bytes - half].decode(errors="ignore")
    tail = raw[len(raw) - half :].decode(errors="ignore")
    return f"{head}\n[… {len(raw) - max_bytes} bytes left out …]\n{tail}"


def _unusable(call: OutputResultFunctionUse, problem: object) -> str:
    return f"The arguments of {call.name!r} were not usable: {problem}"
