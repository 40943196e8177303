"""From a provider's answer to an `OutputResult`: what every decoder shares.

A decoder walks its wire's answer once and tells a `Reply` what it sees, in order; the `Reply`
maps names back, reads arguments, makes ids unique and derives the stop reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from .content import (
    JSON,
    Metadata,
    OutputResult,
    OutputResultContent,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultReasoning,
    OutputResultRefusal,
    OutputResultText,
    ResultWarning,
    StopReason,
    Usage,
)
from .errors import LlmToolsError, ParserError, ResponseDecodeError, UnmetFunctionCallError
from .functions.arguments import read_arguments
from .functions.choice import FunctionChoice
from .functions.mending import strip_fence
from .functions.output import PreparedOutput
from .functions.validating import validate
from .ids import UniqueIds
from .spec import Plan

STOP_ORDER: tuple[StopReason, ...] = (
    "error",
    "length",
    "content_filter",
    "refusal",
    "pause",
    "function_use",
    "stop",
    "other",
)
_RANKS = {reason: rank for rank, reason in enumerate(STOP_ORDER)}
_ONLY_THOUGHT = frozenset({OutputResultReasoning})
CUT_OFF = "the call was cut off by the output limit; its arguments are incomplete"

# Namespaces of the templates of gpt-oss, Kimi and Gemini, the number of a call (Kimi), and what is
# left of a template's own marks (gpt-oss).
_AROUND_NAME = re.compile(
    r"\A\s*(?:(?:functions|default_api)[.:])?|(?::\d+)?\s*(?:<\|.*)?\Z", re.DOTALL
)
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)

T = TypeVar("T")
Warn: TypeAlias = Callable[[str, str], None]
"""Takes the code and the detail of a warning."""


def decode_json(data: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """Bytes of a provider into a typed value; lone surrogate escapes become U+FFFD.

    Raises:
        ResponseDecodeError: they are no JSON of this shape.
    """
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        mended = _mend_surrogates(data)
        if mended != data:
            return decode_json(mended, decoder)
        is_page = data.lstrip().startswith(b"<")
        advice = "it is a web page: check base_url and proxies" if is_page else "try again"
        raise ResponseDecodeError(
            f"The provider's answer could not be read ({error}); {advice}, and look at .body.",
            body=data[:2000].decode(errors="replace"),
            retryable=not is_page,
        ) from error


def _mend_surrogates(data: bytes) -> bytes:
    """Replace escapes of half a surrogate pair, which no JSON decoder takes."""
    return _ESCAPE.sub(lambda found: rb"\ufffd" if found["lone"] else found[0], data)


def read_created(timestamp: Any, headers: Mapping[str, str]) -> int:
    """Seconds since 1970: of an ISO 8601 timestamp, else of the answer's `date` header, else 0."""
    try:
        return int(datetime.fromisoformat(timestamp).timestamp())
    except (TypeError, ValueError, OverflowError):
        pass
    date = headers.get("date")
    if date is None:
        return 0
    from email.utils import parsedate_to_datetime

    try:
        return int(parsedate_to_datetime(date).timestamp())
    except (ValueError, OverflowError):
        return 0


class _PendingCall(NamedTuple):
    """A call as the wire had it, to be read once the stop reason is known."""

    wire_name: str
    arguments: Any
    function_id: str
    metadata: Metadata | None
    error: str | None


class Reply:
    """One answer in the making."""

    __slots__ = ("_ids", "_items", "_plan", "_warnings")

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._ids = UniqueIds()
        self._items: list[OutputResultContent | _PendingCall] = []
        self._warnings: list[ResultWarning] = []

    def warn(self, code: str, detail: str) -> None:
        """Something was mended or dropped on the way in."""
        self._warnings.append(ResultWarning(code=code, detail=detail))

    def text(
        self, text: str, *, citations: tuple[JSON, ...] = (), metadata: Metadata | None = None
    ) -> None:
        """Text; empty text is left out, but what it carries for replay is kept."""
        if text:
            part = OutputResultText(text=text, citations=citations, provider_metadata=metadata)
            self._items.append(part)
        elif metadata:
            self.carry(metadata)

    def reasoning(self, text: str, *, metadata: Metadata | None = None) -> None:
        """Reasoning; it may be empty if it carries something."""
        if text or metadata:
            self._items.append(OutputResultReasoning(text=text, provider_metadata=metadata))

    def carry(self, metadata: Metadata) -> None:
        """A block that is neither text nor call (hosted tools, unknown blocks), kept for replay."""
        self._items.append(OutputResultReasoning(provider_metadata=metadata))

    def refusal(self, text: str) -> None:
        """The model's words when it declines."""
        self._items.append(OutputResultRefusal(text=text))

    def image(
        self,
        *,
        data: str | None = None,
        url: str | None = None,
        media_type: str | None = None,
        metadata: Metadata | None = None,
    ) -> None:
        """An image the model made."""
        self._items.append(
            OutputResultImage(data=data, url=url, media_type=media_type, provider_metadata=metadata)
        )

    def function_use(
        self,
        wire_name: str,
        arguments: Any,
        function_id: str | None,
        *,
        metadata: Metadata | None = None,
        error: str | None = None,
    ) -> None:
        """A call: the name as on the wire, arguments as text, object, None, or whatever came.

        `error` is why this one may not run, whatever its arguments look like.
        """
        claimed = self._ids.claim(function_id)
        self._items.append(_PendingCall(wire_name, arguments, claimed, metadata, error))

    def text_as_function_use(self, text: str, *, function_id: str | None = None) -> None:
        """Text that stands in for a call (`Plan.emulation`); anything else stays text."""
        call = read_emulated_call(text)
        if call is None:
            self.text(text)
        else:
            self.function_use(call.name, call.arguments, function_id)

    def result(
        self,
        *,
        id: str,  # noqa: A002 - the field's name
        name: str,
        created: int,
        usage: Usage | None,
        stop: StopReason | None,
        provider_stop_reason: str | None,
        request_id: str | None,
        call_error: str | None = None,
        options: tuple[tuple[OutputResultContent, ...], ...] = (),
    ) -> OutputResult:
        """The whole answer.

        Args:
            stop: the wire's own reason, normalised; None where it gave none.
            call_error: why no call of this answer may run (a call the provider marked malformed).
        """
        reason = self._stop_reason(stop)
        content = self._read_items(reason, call_error)
        plan = self._plan
        if plan.output is not None:
            content = mend_text(plan.output, content, self.warn)
        if _ONLY_THOUGHT.issuperset(map(type, content)):
            self.warn("empty_answer", "The answer holds neither text nor a call.")
        if plan.call.choice is not None:
            warn_of_forbidden(plan.call.choice, content, self.warn)
        return OutputResult(
            id=id or "",
            name=name or plan.target.model,
            created=created,
            usage=usage,
            stop_reason=reason,
            content=content,
            provider_stop_reason=provider_stop_reason,
            options=options,
            warnings=(*plan.warnings, *self._warnings),
            request_id=request_id,
        )

    def content(self) -> tuple[OutputResultContent, ...]:
        """The parts alone, for a further choice of the same answer."""
        return self._read_items(self._stop_reason(None), None)

    def _stop_reason(self, stop: StopReason | None) -> StopReason:
        reason: StopReason = "stop" if stop is None or stop == "function_use" else stop
        for item in self._items:
            kind = type(item)
            if kind is _PendingCall:
                reason = min(reason, "function_use", key=_RANKS.__getitem__)
            elif kind is OutputResultRefusal:
                reason = min(reason, "refusal", key=_RANKS.__getitem__)
        return reason

    def _read_items(
        self, reason: StopReason, call_error: str | None
    ) -> tuple[OutputResultContent, ...]:
        last = -1
        if reason == "length":
            calls = [i for i, x in enumerate(self._items) if isinstance(x, _PendingCall)]
            last = max(calls, default=-1)
        content: list[OutputResultContent] = []
        for position, item in enumerate(self._items):
            if not isinstance(item, _PendingCall):
                content.append(item)
            elif position == last:
                content.append(_unusable(self._plan, item, CUT_OFF))
            elif (error := item.error or call_error) is not None:
                content.append(_unusable(self._plan, item, error))
            else:
                use, warnings = read_function_use(self._plan, *item[:4])
                content.append(use)
                self._warnings.extend(warnings)
        return tuple(content)


def mend_text(
    prepared: PreparedOutput, content: tuple[OutputResultContent, ...], warn: Warn
) -> tuple[OutputResultContent, ...]:
    """Text in the caller's schema: out of a fence around it, without what was forced in."""
    texts = [item for item in content if isinstance(item, OutputResultText)]
    if len(texts) != 1:
        return content
    text = texts[0].text
    inside = strip_fence(text)
    if inside == text and prepared.restore is None:
        return content
    try:
        value = msgspec.json.decode(inside)
        restored = value if prepared.restore is None else prepared.restore(value)
    except (msgspec.DecodeError, RecursionError):
        return content
    if inside != text:
        text = inside.strip()
        warn("output_unfenced", "The code fence around the JSON was taken off.")
    if restored != value:
        text = msgspec.json.encode(restored).decode()
        warn("output_restored", "Values the provider's schema forced were taken out again.")
    if text == texts[0].text:
        return content
    part = replace(texts[0], text=text)
    return tuple(part if item is texts[0] else item for item in content)


def warn_of_forbidden(
    choice: FunctionChoice, content: tuple[OutputResultContent, ...], warn: Warn
) -> None:
    """Name the calls that `none`, or the names the choice is held to, ruled out."""
    asked = "function_call='none'"
    if choice.mode != "none":
        asked = f"names={list(choice.names or ())}"
    for item in content:
        if isinstance(item, OutputResultFunctionUse) and not choice.allows(item.name):
            warn("forbidden_call", f"{item.name!r} was called under {asked}.")


class EmulatedCall(Struct):
    """A call that a model made as JSON text; the name as on the wire.

    Models trained on it call the arguments `parameters`.
    """

    name: str
    arguments: JSON = None
    parameters: JSON = None

    def __post_init__(self) -> None:
        if self.arguments is None:
            self.arguments, self.parameters = self.parameters, None


def read_emulated_call(text: str) -> EmulatedCall | None:
    """The call a text stands in for, if it does."""
    try:
        return msgspec.json.decode(text, type=EmulatedCall)
    except (msgspec.DecodeError, RecursionError):
        return None


def read_function_use(
    plan: Plan, wire_name: str, arguments: Any, function_id: str, metadata: Metadata | None
) -> tuple[OutputResultFunctionUse, tuple[ResultWarning, ...]]:
    """One call in the caller's terms; what had to be mended is in the warnings."""
    name, warnings = _caller_name(plan, wire_name)
    read = read_arguments(arguments, repair=plan.call.repair_arguments)
    warnings += [
        ResultWarning(code="arguments_repaired", detail=f"{name}: {repair}")
        for repair in read.repairs
    ]
    value, error, raw = read.input, read.error, read.raw
    prepared = plan.functions.by_name.get(name) if plan.functions is not None else None
    if prepared is not None and error is None:
        if prepared.restore is not None:
            value = prepared.restore(value)
        if prepared.validate and prepared.definition.parameters is not None:
            error = validate(prepared.definition.parameters, value)
            raw = raw if error is None or raw is not None else json_text(arguments)
    use = OutputResultFunctionUse(
        name=name,
        input=value,
        function_id=function_id,
        raw_input=raw if error is not None or read.repairs else None,
        input_error=error,
        provider_metadata=metadata,
        forbidden=_is_forbidden(plan, name),
    )
    return use, tuple(warnings)


def caller_name(plan: Plan, wire_name: str) -> str:
    """The caller's name of the function a wire name stands for."""
    return _caller_name(plan, wire_name)[0]


def _caller_name(plan: Plan, wire_name: str) -> tuple[str, list[ResultWarning]]:
    """The caller's name of a function; what models put around a name is taken off."""
    functions = plan.functions
    if functions is None:
        return wire_name, []
    known = functions.by_wire_name.get(wire_name)
    if known is not None:
        return known.definition.name, []
    stripped = _AROUND_NAME.sub("", wire_name)
    known = functions.by_wire_name.get(stripped) or functions.by_name.get(stripped)
    if known is None or not plan.call.repair_arguments:
        return wire_name, []
    detail = f"{wire_name!r} was read as {known.definition.name!r}."
    return known.definition.name, [ResultWarning(code="name_repaired", detail=detail)]


def _unusable(plan: Plan, call: _PendingCall, error: str) -> OutputResultFunctionUse:
    name, _ = _caller_name(plan, call.wire_name)
    return OutputResultFunctionUse(
        name=name,
        input={},
        function_id=call.function_id,
        raw_input=json_text(call.arguments),
        input_error=error,
        provider_metadata=call.metadata,
        forbidden=_is_forbidden(plan, name),
    )


def _is_forbidden(plan: Plan, name: str) -> bool:
    choice = plan.call.choice
    return choice is not None and not choice.allows(name)


def json_text(arguments: Any) -> str:
    """Arguments as the text the caller may look at."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else msgspec.json.encode(arguments).decode()


def check_answer(plan: Plan, result: OutputResult) -> LlmToolsError | None:
    """What the caller asked for and did not get: a forced call, or text in the schema's shape.

    Returns the error to raise (it carries the result), or None.
    """
    choice = plan.call.choice
    calls = result.function_calls
    if choice is not None and choice.forced:
        offered = plan.call.functions.by_name if plan.call.functions is not None else ()
        allowed = choice.names or offered
        if not any(call.name in allowed for call in calls):
            wanted = " or ".join(map(repr, choice.names)) if choice.names else "a function"
            return UnmetFunctionCallError(
                f"{plan.target.endpoint.key} was told to call {wanted} and did not "
                f"(stop_reason {result.stop_reason!r}). Look at .result, or ask again.",
                result=result,
            )
    if plan.output is not None and result.stop_reason == "stop":
        return _check_output(plan, result)
    return None


def _check_output(plan: Plan, result: OutputResult) -> ParserError | None:
    assert plan.output is not None  # noqa: S101 - the caller looked
    text = result.text
    try:
        error = validate(plan.output.output.schema, msgspec.json.decode(text))
    except (msgspec.DecodeError, RecursionError) as broken:
        error = f"not JSON: {broken}"
    if error is None:
        return None
    return ParserError(
        f"The text does not fit json_schema: {error}. Look at .text and .result, or ask again.",
        text=text,
        result=result,
    )
