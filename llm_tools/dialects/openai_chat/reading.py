"""From the wire's structs to an `OutputResult`: the one reader of whole and streamed answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...content import JSON, Metadata, OutputResult, StopReason, Usage
from ...errors import ProviderError
from ...faults import error_in_body, named_error
from ...reply import Reply
from ...spec import Plan
from .blocks import thinking_text
from .emulating import call_in_text
from .wire import Choice, Completion, Message, ToolCall, WireUsage

_STOP_REASONS: dict[str, StopReason] = {
    "stop": "stop",
    "end_turn": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "stop_sequence": "stop",
    "completed": "stop",
    "tool_calls": "function_use",
    "tool_call": "function_use",
    "tool_use": "function_use",
    "function_call": "function_use",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "content_filter",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
    "sensitive": "content_filter",
    "safety": "content_filter",
    "recitation": "content_filter",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
    "refusal": "refusal",
    "pause_turn": "pause",
    "error": "error",
    "failed": "error",
    "abort": "error",
    "network_error": "error",
    "insufficient_system_resource": "error",
    "malformed_function_call": "error",
    "unexpected_tool_call": "error",
}
_REQUEST_IDS = (
    "x-request-id",
    "request-id",
    "apim-request-id",
    "mistral-correlation-id",
    "x-ds-trace-id",
    "x-generation-id",
)
_BROKEN_OFF = "the provider broke the answer off ({reason}); the call may be incomplete"


def read_completion(
    plan: Plan,
    completion: Completion,
    headers: Mapping[str, str],
    *,
    broken: str | None = None,
) -> OutputResult:
    """The result of a whole answer that has at least one choice, or of what had come of one.

    `broken` says why no call in it may run.

    Raises:
        ProviderError: the first choice is an error without a call; `result` holds what it said.
    """
    first, *further = completion.choices or [Choice()]
    citations = completion.search_results or completion.citations
    reply = _read_message(plan, first.message, citations)
    stop: StopReason | None = "error" if broken else stop_reason(first)
    result = reply.result(
        id=completion.id or "",
        name=completion.model or "",
        created=int(completion.created or 0),
        usage=read_usage(completion),
        stop=stop,
        provider_stop_reason=first.finish_reason or None,
        request_id=next((headers[name] for name in _REQUEST_IDS if name in headers), None),
        call_error=broken or (_call_error(first) if stop == "error" else None),
        options=tuple(_read_message(plan, choice.message, None).content() for choice in further),
    )
    if first.error and not result.function_calls:
        raise _choice_error(plan, first, result, headers)
    return result


def stop_reason(choice: Choice) -> StopReason | None:
    """The wire's finish reason in neutral words; None where it gave none."""
    if choice.error or choice.native_finish_reason == "MALFORMED_FUNCTION_CALL":
        return "error"
    if not choice.finish_reason:
        return None
    return _STOP_REASONS.get(choice.finish_reason.lower(), "other")


def read_usage(completion: Completion) -> Usage | None:
    """The tokens in neutral terms; None where the host sent none.

    Hosts that count reasoning beside the answer's tokens (xAI, Gemini's compatible endpoint) have
    it in the total alone.
    """
    usage = completion.usage
    if usage is None and completion.x_groq is not None:
        usage = completion.x_groq.usage
    if usage is None and completion.choices:
        usage = completion.choices[0].usage
    if usage is None or (usage.prompt_tokens is None and usage.completion_tokens is None):
        return None
    given, answered = usage.prompt_tokens or 0, usage.completion_tokens or 0
    cached, written, reasoned = _parts_of_usage(usage)
    return Usage(
        input_tokens=given,
        output_tokens=max(answered, (usage.total_tokens or 0) - given),
        cached_input_tokens=cached,
        cache_write_tokens=written,
        reasoning_tokens=reasoned,
    )


def _parts_of_usage(usage: WireUsage) -> tuple[int, int, int]:
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    cached = (
        (prompt and prompt.cached_tokens)
        or usage.num_cached_tokens
        or usage.prompt_cache_hit_tokens
        or usage.cached_tokens
    )
    written = (prompt and prompt.cache_write_tokens) or usage.cache_creation_input_tokens
    reasoned = (completion and completion.reasoning_tokens) or usage.reasoning_tokens
    return cached or 0, written or 0, reasoned or 0


def _call_error(choice: Choice) -> str:
    if isinstance(choice.error, dict) and choice.error.get("message"):
        return f"the provider reports: {choice.error['message']}"
    reason = choice.native_finish_reason or choice.finish_reason or "an error"
    return _BROKEN_OFF.format(reason=reason)


def _choice_error(
    plan: Plan, choice: Choice, result: OutputResult, headers: Mapping[str, str]
) -> ProviderError:
    endpoint, body = plan.target.endpoint.key, {"error": choice.error}
    error = error_in_body(endpoint, body, headers) or named_error(endpoint, body=body)
    error.result = result
    return error


def _read_message(plan: Plan, message: Message | None, citations: list[Any] | None) -> Reply:
    reply, key = Reply(plan), plan.target.replay_key
    if message is None:
        return reply
    _read_reasoning(reply, key, message)
    _read_content(reply, plan, message, tuple(message.annotations or citations or ()))
    if message.refusal:
        reply.refusal(message.refusal)
    for image in message.images or ():
        _read_image(reply, image, {key: {"image": image}})
    if message.extra_content:
        reply.carry({key: {"extra_content": message.extra_content}})
    for call in message.tool_calls or ():
        _read_call(reply, key, call)
    legacy = message.function_call
    if legacy is not None and legacy.name and not message.tool_calls:
        reply.function_use(legacy.name, legacy.arguments, None)
    return reply


def _read_reasoning(reply: Reply, key: str, message: Message) -> None:
    """The reasoning fields; hosts that have two of them say the same in both."""
    field = "reasoning_content" if message.reasoning_content else "reasoning"
    text = message.reasoning_content or message.reasoning or ""
    details = message.reasoning_details
    if details:
        reply.reasoning(text or _details_text(details), metadata={key: {"details": details}})
    elif text:
        reply.reasoning(text, metadata={key: {"field": field}})


def _details_text(details: list[Any]) -> str:
    texts = [item.get("text") or item.get("summary") for item in details if isinstance(item, dict)]
    return "".join([text for text in texts if isinstance(text, str)])


def _read_content(reply: Reply, plan: Plan, message: Message, citations: tuple[JSON, ...]) -> None:
    content = message.content
    if isinstance(content, str):
        call = call_in_text(content) if plan.emulation and not message.tool_calls else None
        if call is not None:
            reply.function_use(call.name, call.arguments, None)
        else:
            reply.text(content, citations=citations)
        return
    for chunk in content or ():
        _read_chunk(reply, plan.target.replay_key, chunk, citations)


def _read_chunk(reply: Reply, key: str, chunk: Any, citations: tuple[JSON, ...]) -> None:
    match chunk:
        case str() as text:
            reply.text(text, citations=citations)
        case {"type": "text" | "output_text", "text": str(text)}:
            reply.text(text, citations=citations)
        case {"type": "thinking"}:
            reply.reasoning(thinking_text(chunk), metadata={key: {"chunk": chunk}})
        case {"type": "refusal", "refusal": str(text)}:
            reply.refusal(text)
        case {"type": "image_url"}:
            _read_image(reply, chunk, {key: {"image": chunk}})
        case _:
            reply.carry({key: {"chunk": chunk}})


def _read_image(reply: Reply, image: Any, metadata: Metadata) -> None:
    """An image the model made: `{"image_url": {"url": …}}` (OpenRouter), or the URL bare."""
    source = image.get("image_url") if isinstance(image, dict) else None
    url = source.get("url") if isinstance(source, dict) else source
    if not isinstance(url, str) or not url:
        reply.carry(metadata)
        return
    head, comma, data = url.partition(",")
    if comma and head.startswith("data:") and head.endswith(";base64"):
        media_type = head.removeprefix("data:").partition(";")[0]
        reply.image(data=data, media_type=media_type or None, metadata=metadata)
    else:
        reply.image(url=url, metadata=metadata)


def _read_call(reply: Reply, key: str, call: ToolCall) -> None:
    function = call.called()
    if function is None or not (function.name or function.arguments):
        if call.custom and call.custom.get("name"):
            custom = {"id": call.id, "type": "custom", "custom": call.custom}
            reply.carry({key: {"custom_call": custom}})
            return
        if function is None or not call.id:
            return
    metadata = {key: {"extra_content": call.extra_content}} if call.extra_content else None
    reply.function_use(function.name or "", function.arguments, call.id, metadata=metadata)
