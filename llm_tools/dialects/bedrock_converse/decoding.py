"""An answer of Converse as an `OutputResult`."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from ...claude.blocks import Block, leave
from ...content import JSON, OutputResult, StopReason, Usage
from ...errors import ResponseDecodeError
from ...faults import error_in_body
from ...reply import Reply, decode_json, read_created
from ...spec import Plan
from .replay import cited_text

STOPS: dict[str, StopReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "function_use",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
    "malformed_model_output": "error",
    "malformed_tool_use": "error",
}
_MALFORMED = "the model's output was malformed ({})"


class WireUsage(Struct, rename="camel"):
    """Tokens; `input_tokens` holds neither cache reads nor writes."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None


class _Message(Struct):
    content: list[Block] | None = None


class _Output(Struct):
    message: _Message | None = None


class _Answer(Struct, rename="camel"):
    output: _Output | None = None
    stop_reason: str | None = None
    usage: WireUsage | None = None
    error: JSON = None


class Answer(Struct):
    """The whole answer; blocks stay as they are, to be replayed."""

    content: list[Block]
    stop_reason: str | None
    usage: WireUsage | None


_decoder = msgspec.json.Decoder(_Answer)


def decode(plan: Plan, body: bytes, headers: Mapping[str, str]) -> OutputResult:
    """The body of a 2xx answer.

    Raises:
        ProviderError: it holds an error.
        ResponseDecodeError: it is no answer of Converse.
    """
    answer = decode_json(body, _decoder)
    endpoint = plan.target.endpoint.key
    error = error_in_body(endpoint, {"error": answer.error}, headers)
    if error is not None:
        raise error
    if answer.output is None or answer.output.message is None:
        raise ResponseDecodeError(
            f"{endpoint} answered with no Converse message; check base_url and the region.",
            body=body[:2000].decode(errors="replace"),
            retryable=False,
        )
    content = answer.output.message.content or []
    return read_answer(plan, Answer(content, answer.stop_reason, answer.usage), headers)


def read_answer(
    plan: Plan, answer: Answer, headers: Mapping[str, str], *, broken: str | None = None
) -> OutputResult:
    """A whole answer, or what had come of one (`broken` says why no call in it may run)."""
    reply = Reply(plan)
    for block in answer.content:
        _read_block(reply, plan, block)
    reason = answer.stop_reason
    stop: StopReason | None = None if reason is None else STOPS.get(reason, "other")
    if broken is None and stop == "error":
        broken = _MALFORMED.format(reason)
    request_id = headers.get("x-amzn-requestid")
    return reply.result(
        id=request_id or "",
        name="",
        created=read_created(None, headers),
        usage=None if answer.usage is None else _read_usage(answer.usage),
        stop="error" if broken else stop,
        provider_stop_reason=reason,
        request_id=request_id,
        call_error=broken,
    )


def _read_block(reply: Reply, plan: Plan, block: Block) -> None:
    """One block; what is neither text nor call is carried as it is."""
    whole = leave(plan.target, block)
    match block:
        case {"text": str(text)}:
            reply.text(text)
        case {"toolUse": {"name": str(name), **call}} if call.get("type") != "server_tool_use":
            function_id = call.get("toolUseId")
            known = function_id if isinstance(function_id, str) else None
            reply.function_use(name, call.get("input"), known)
        case {"reasoningContent": {"reasoningText": {"text": str(text)}}}:
            reply.reasoning(text, metadata=whole)
        case {"citationsContent": {"content": list(), **more}}:
            cited = more.get("citations")
            citations = tuple(cited) if isinstance(cited, list) else ()
            reply.text(cited_text(block) or "", citations=citations, metadata=whole)
        case {"image": {"format": str(kind), "source": {"bytes": str(data)}}}:
            reply.image(data=data, media_type=f"image/{kind}", metadata=whole)
        case _:
            reply.carry(whole)


def _read_usage(usage: WireUsage) -> Usage:
    read, written = usage.cache_read_input_tokens or 0, usage.cache_write_input_tokens or 0
    return Usage(
        input_tokens=(usage.input_tokens or 0) + read + written,
        output_tokens=usage.output_tokens or 0,
        cached_input_tokens=read,
        cache_write_tokens=written,
    )
