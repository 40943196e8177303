"""An answer of the Messages API as an `OutputResult`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from ...claude.blocks import Block, leave
from ...content import JSON, Metadata, OutputResult, StopReason, Usage
from ...errors import ResponseDecodeError
from ...faults import error_in_body
from ...reply import Reply, decode_json, read_created
from ...spec import Plan

_STOPS: dict[str, StopReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "function_use",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
    "pause_turn": "pause",
}
_OF_PROMPT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_REQUEST_IDS = ("request-id", "x-amzn-requestid", "apim-request-id")


class _TokenDetails(Struct):
    thinking_tokens: int | None = None


class WireUsage(Struct):
    """Tokens; `input_tokens` holds neither cache reads nor writes, later counts replace earlier."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens_details: _TokenDetails | None = None


class StopDetails(Struct):
    """Why the model declined."""

    category: str | None = None
    explanation: str | None = None


class WireMessage(Struct):
    """The whole answer; blocks stay as they are, to be replayed."""

    type: str | None = None
    id: str | None = None
    model: str | None = None
    content: list[Block] | None = None
    stop_reason: str | None = None
    stop_details: StopDetails | None = None
    usage: WireUsage | None = None
    error: JSON = None
    request_id: JSON = None


_decoder = msgspec.json.Decoder(WireMessage)


def decode(plan: Plan, body: bytes, headers: Mapping[str, str]) -> OutputResult:
    """The body of a 2xx answer.

    Raises:
        ProviderError: it holds an error.
        ResponseDecodeError: it is no message.
    """
    message = decode_json(body, _decoder)
    endpoint = plan.target.endpoint.key
    named = {"error": message.error, "request_id": message.request_id}
    error = error_in_body(endpoint, named, headers)
    if error is not None:
        raise error
    if message.content is None and message.type != "message":
        raise ResponseDecodeError(
            f"{endpoint} answered with no Anthropic message. {way_out(plan)}",
            body=body[:2000].decode(errors="replace"),
            retryable=False,
        )
    return read_message(plan, message, headers)


def way_out(plan: Plan) -> str:
    """What to do about a host or model that does not speak this wire."""
    target = plan.target
    if target.endpoint.key.startswith("amazon"):
        return f"Use use_llm('amazon.converse.v1', model={target.model!r}): it speaks to any model."
    return "Check base_url and the model: this endpoint speaks the Messages API only."


def read_message(
    plan: Plan, message: WireMessage, headers: Mapping[str, str], *, broken: str | None = None
) -> OutputResult:
    """A whole message, or what had come of one (`broken` says why no call in it may run)."""
    reply = Reply(plan)
    for block in message.content or ():
        _read_block(reply, plan, block)
    reason, details = message.stop_reason, message.stop_details
    refused = explanation(message)
    if refused:
        reply.refusal(refused)
    if details is not None and details.category and reason == "refusal":
        reply.warn("refusal_category", f"The provider refused it as {details.category!r}.")
    return reply.result(
        id=message.id or "",
        name=message.model or "",
        created=read_created(None, headers),
        usage=None if message.usage is None else _read_usage(message.usage),
        stop="error" if broken else None if reason is None else _STOPS.get(reason, "other"),
        provider_stop_reason=reason,
        request_id=next((headers[name] for name in _REQUEST_IDS if name in headers), None),
        call_error=broken,
    )


def explanation(message: WireMessage) -> str | None:
    """Why the model declined, in words, where it did and they came."""
    details = message.stop_details
    return details.explanation if details and message.stop_reason == "refusal" else None


def _read_block(reply: Reply, plan: Plan, block: Block) -> None:
    """One block; what is neither text nor call is carried as it is."""
    match block:
        case {"type": "text", "text": str(text)}:
            extra = has_more(block, "type", "text")
            cited = block.get("citations")
            reply.text(
                text,
                citations=tuple(cited) if isinstance(cited, list) else (),
                metadata=leave(plan.target, block) if extra else None,
            )
        case {"type": "tool_use", "name": str(name)}:
            function_id = block.get("id")
            reply.function_use(
                name,
                block.get("input"),
                function_id if isinstance(function_id, str) else None,
                metadata=call_metadata(plan, block),
            )
        case {"type": "thinking", "thinking": str(text)}:
            reply.reasoning(text, metadata=leave(plan.target, block))
        case _:
            reply.carry(leave(plan.target, block))


def has_more(block: Block, *keys: str) -> bool:
    """Whether a block holds anything beside these keys."""
    return any(value is not None for key, value in block.items() if key not in keys)


def call_metadata(plan: Plan, block: Block) -> Metadata | None:
    """What a call carries beside itself, such as who made it (`caller`)."""
    known = ("type", "id", "name", "input")
    extra = {k: v for k, v in block.items() if k not in known and v is not None}
    return leave(plan.target, extra) if extra else None


def _read_usage(usage: WireUsage) -> Usage:
    read, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    details = usage.output_tokens_details
    return Usage(
        input_tokens=(usage.input_tokens or 0) + read + written,
        output_tokens=usage.output_tokens or 0,
        cached_input_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=(details.thinking_tokens or 0) if details is not None else 0,
    )


def newer(old: WireUsage | None, new: WireUsage | None) -> WireUsage | None:
    """Usage after a later count: what it names replaces the earlier.

    The prompt does not shrink: a zero there is how some gateways name nothing.
    """
    if old is None or new is None:
        return new or old
    pairs: dict[str, Any] = {
        name: getattr(old, name) if value is None or (value == 0 and name in _OF_PROMPT) else value
        for name, value in zip(WireUsage.__struct_fields__, astuple(new), strict=True)
    }
    return WireUsage(**pairs)
