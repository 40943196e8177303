"""From bytes to the wire's structs, leaving out what does not fit rather than failing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ...content import JSON, OutputResult
from ...errors import ProviderError, ResponseDecodeError
from ...faults import error_in_body, named_error
from ...reply import decode_json
from ...spec import Plan
from .reading import read_completion
from .wire import Completion

UNREAD = (msgspec.DecodeError, RecursionError)
_TYPED = msgspec.json.Decoder(Completion)
decode_typed: Callable[[bytes], Completion] = _TYPED.decode
"""One body or chunk as it should be; raises one of `UNREAD` where it is not."""
_UNTYPED = msgspec.json.Decoder()
_MISFIT = re.compile(r"at `\$(.*)`$")
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_MOST_MISFITS = 64
_SHOWN = 2000


def decode(plan: Plan, body: bytes, headers: Mapping[str, str]) -> OutputResult:
    """The answer in a 2xx body.

    Raises:
        ResponseDecodeError: it is no chat completion.
        ProviderError: it is an error in disguise.
    """
    completion = decode_completion(body)
    error = carried_error(plan, completion, body, headers)
    if error is not None:
        raise error
    if not completion.choices:
        raise ResponseDecodeError(
            "The provider's answer holds no choices; try again, and look at .body.",
            body=body[:_SHOWN].decode(errors="replace"),
        )
    return read_completion(plan, completion, headers)


def decode_completion(data: bytes) -> Completion:
    """One body or chunk; a field of another type than expected is left out.

    One object where a list belongs, as some gateways write a lone call, is a list of it.

    Raises:
        ResponseDecodeError: it is no JSON object.
    """
    try:
        return decode_typed(data)
    except UNREAD:
        return _decode_mended(data)


def _decode_mended(data: bytes) -> Completion:
    try:
        return decode_json(data, _TYPED)
    except ResponseDecodeError as error:
        if not isinstance(error.__cause__, msgspec.ValidationError):
            raise
        return _without_misfits(decode_json(data, _UNTYPED), error)


def carried_error(
    plan: Plan, completion: Completion, data: bytes, headers: Mapping[str, str]
) -> ProviderError | None:
    """The error a 200 body or a stream's chunk stands for, if it is one."""
    extras = completion.x_groq
    stopped = extras.error if extras is not None else None
    if completion.choices and not (completion.error or stopped):
        return None
    endpoint = plan.target.endpoint.key
    body = {"error": stopped} if stopped else decode_json(data, _UNTYPED)
    error = error_in_body(endpoint, body, headers)
    return error or _minimax_error(endpoint, body, headers)


def error_event(plan: Plan, data: bytes, headers: Mapping[str, str]) -> ProviderError:
    """The error a stream's `event: error` names, in whatever form."""
    endpoint = plan.target.endpoint.key
    try:
        body = decode_json(data, _UNTYPED)
    except ResponseDecodeError:
        body = None
    said = data[:_SHOWN].decode(errors="replace")
    return error_in_body(endpoint, body, headers) or named_error(
        endpoint, message=said, body=body, headers=headers
    )


def _minimax_error(endpoint: str, body: JSON, headers: Mapping[str, str]) -> ProviderError | None:
    """MiniMax says it in `base_resp`, with HTTP 200 (platform.minimax.io/docs, error codes)."""
    status = body.get("base_resp") if isinstance(body, dict) else None
    if not isinstance(status, dict) or not status.get("status_code"):
        return None
    return named_error(
        endpoint,
        code=status["status_code"],
        message=str(status.get("status_msg") or ""),
        body=body,
        headers=headers,
    )


def _without_misfits(value: JSON, error: ResponseDecodeError) -> Completion:
    for _ in range(_MOST_MISFITS):
        try:
            return msgspec.convert(value, Completion, strict=False)
        except msgspec.ValidationError as misfit:
            if not _mend(value, str(misfit)):
                break
    raise error


def _mend(value: Any, message: str) -> bool:
    """Remove what the message points at, or list it if it is the one item of a list.

    Returns False where it is the whole value.
    """
    found = _MISFIT.search(message)
    steps = [name or int(number) for name, number in _STEP.findall(found[1])] if found else []
    if not steps:
        return False
    for step in steps[:-1]:
        value = value[step]
    end = steps[-1]
    if message.startswith("Expected `array") and isinstance(value[end], dict) and value[end]:
        value[end] = [value[end]]
    else:
        del value[end]
    return True
