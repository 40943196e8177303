"""A Responses answer as an `OutputResult`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from ...content import JSON, OutputResult, StopReason, Usage
from ...errors import ProviderError, ResponseDecodeError
from ...faults import error_in_body, named_error
from ...reply import Reply, decode_json
from ...spec import Plan
from .items import Item, ItemReader

_STOPS: dict[str, StopReason] = {
    "completed": "stop",
    "failed": "error",
    "cancelled": "error",
    "queued": "pause",
    "in_progress": "pause",
}
_INCOMPLETE_STOPS: dict[str, StopReason] = {
    "max_output_tokens": "length",
    "content_filter": "content_filter",
}


class _TokenDetails(Struct):
    cached_tokens: float | None = None
    cache_write_tokens: float | None = None
    reasoning_tokens: float | None = None


class _Usage(Struct):
    input_tokens: float | None = None
    output_tokens: float | None = None
    input_tokens_details: _TokenDetails | None = None
    output_tokens_details: _TokenDetails | None = None


class _IncompleteDetails(Struct):
    reason: str | None = None


class Response(Struct):
    """The wire's own answer. Items stay as they came: they are replayed as such."""

    id: str | None = None
    model: str | None = None
    created_at: float | None = None
    status: str | None = None
    output: list[Item] | None = None
    incomplete_details: _IncompleteDetails | None = None
    usage: _Usage | None = None
    error: JSON = None
    code: JSON = None


RESPONSE = msgspec.json.Decoder(Response)


def decode(plan: Plan, body: bytes, headers: Mapping[str, str]) -> OutputResult:
    """The result of a 2xx answer.

    Raises:
        ResponseDecodeError: the bytes are no answer of this wire.
        ProviderError: the answer says it failed; `result` holds what there is of it.
    """
    response = decode_json(body, RESPONSE)
    if response.output is None and response.status is None and not response.error:
        raise ResponseDecodeError(
            "The answer is none of the Responses API (no output, no status); check base_url, and "
            "look at .body.",
            body=body[:2000].decode(errors="replace"),
        )
    return read_response(plan, response, headers)


def read_response(plan: Plan, response: Response, headers: Mapping[str, str]) -> OutputResult:
    """The result of a whole answer, streamed or not.

    Raises:
        ProviderError: the answer says it failed; `result` holds what there is of it.
    """
    reply = Reply(plan)
    reader = ItemReader(reply, plan.target.replay_key, complete=response.status == "completed")
    for item in response.output or ():
        reader.read(item)
    result = make_result(reply, response, headers, _stop_reason(response))
    if response.error or response.status == "failed":
        error = _failure(plan, response, headers)
        error.result = result
        raise error
    return result


def make_result(
    reply: Reply, response: Response, headers: Mapping[str, str], stop: StopReason | None
) -> OutputResult:
    """The reply under the answer's head: id, model, time, usage, reason."""
    details = response.incomplete_details
    return reply.result(
        id=response.id or "",
        name=response.model or "",
        created=int(response.created_at or 0),
        usage=_read_usage(response.usage),
        stop=stop,
        provider_stop_reason=(details.reason if details else None) or response.status,
        request_id=headers.get("x-request-id") or headers.get("apim-request-id"),
    )


def _stop_reason(response: Response) -> StopReason | None:
    if response.status is None:
        return None
    if response.status == "incomplete":
        details = response.incomplete_details
        return _INCOMPLETE_STOPS.get((details.reason if details else None) or "", "other")
    return _STOPS.get(response.status, "other")


def _read_usage(usage: _Usage | None) -> Usage | None:
    if usage is None:
        return None
    received = usage.input_tokens_details or _TokenDetails()
    made = usage.output_tokens_details or _TokenDetails()
    return Usage(
        input_tokens=int(usage.input_tokens or 0),
        output_tokens=int(usage.output_tokens or 0),
        cached_input_tokens=int(received.cached_tokens or 0),
        cache_write_tokens=int(received.cache_write_tokens or 0),
        reasoning_tokens=int(made.reasoning_tokens or 0),
    )


def _failure(plan: Plan, response: Response, headers: Mapping[str, str]) -> ProviderError:
    """The error of an answer that failed, by its code; hosts spell it in several ways."""
    endpoint = plan.target.endpoint.key
    body: dict[str, Any] = {"error": response.error}
    if response.code is not None:
        body["code"] = response.code
    error = error_in_body(endpoint, body, headers)
    if error is not None:
        return error
    return named_error(
        endpoint, code="server_error", message="The response failed without a reason."
    )
