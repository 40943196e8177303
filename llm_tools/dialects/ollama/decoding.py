"""The answer of `/api/chat` as an `OutputResult`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...content import OutputResult, StopReason, Usage
from ...errors import ResponseDecodeError
from ...faults import named_error
from ...reply import Reply, decode_json, read_created
from ...spec import Plan
from .wire import ANSWERS, Answer, WireMessage

_STOP_REASONS: dict[str, StopReason] = {"stop": "stop", "length": "length"}
"""`load` and `unload` answer a request without messages: `other`, as whatever is not here."""

_INCOMPLETE = "the provider broke the answer off; the call may be incomplete"


def decode(plan: Plan, body: bytes, headers: Mapping[str, str]) -> OutputResult:
    """A whole answer.

    Raises:
        ResponseDecodeError: the bytes are no answer.
        ProviderError: the body is an error, whatever the status said.
    """
    answer = decode_json(body, ANSWERS)
    raise_error(plan, answer, headers)
    if answer.message is None and answer.done is None:
        raise ResponseDecodeError(
            f"The answer of {plan.target.endpoint.key} holds no message; look at .body.",
            body=body[:2000].decode(errors="replace"),
        )
    return read_answer(plan, answer, headers)


def raise_error(plan: Plan, answer: Answer, headers: Mapping[str, str]) -> None:
    """Raise what an answer or a line says went wrong, if it says so.

    Raises:
        ProviderError: of the class its words name.
    """
    if answer.error:
        body = {"error": answer.error}
        raise named_error(plan.target.endpoint.key, body=body, headers=headers)


def stop_reason(answer: Answer) -> StopReason | None:
    """The wire's reason, normalised; a call ends with `stop` as well."""
    if answer.done_reason is None:
        return "error" if answer.done is False else None
    reason = _STOP_REASONS.get(answer.done_reason, "other")
    return "error" if answer.done is False and reason == "stop" else reason


def read_answer(
    plan: Plan,
    answer: Answer,
    headers: Mapping[str, str],
    *,
    ids: Iterable[str] = (),
    broken: str | None = None,
) -> OutputResult:
    """The result of a whole answer.

    `ids` are those a stream has given to the calls already; `broken` says why the answer is not
    whole, where a stream broke off.
    """
    reply = Reply(plan)
    reason = "error" if broken is not None else stop_reason(answer)
    _tell(reply, plan, answer.message or WireMessage(), ids)
    if answer.done is False and broken is None:
        broken = _INCOMPLETE
        reply.warn("answer_incomplete", "The server said itself that the answer is not done.")
    return reply.result(
        id="",
        name=answer.model or "",
        created=read_created(answer.created_at, headers),
        usage=_usage(answer),
        stop=reason,
        provider_stop_reason=answer.done_reason,
        request_id=headers.get("x-request-id"),
        call_error=broken,
    )


def _tell(reply: Reply, plan: Plan, message: WireMessage, ids: Iterable[str]) -> None:
    given = iter(ids)
    emulated = plan.emulation == "function_call" and bool(message.content)
    if message.thinking:
        reply.reasoning(message.thinking, metadata={plan.target.replay_key: {"thinking": True}})
    if not emulated:
        reply.text(message.content or "")
    for call in message.tool_calls or []:
        function = call.function
        reply.function_use(function.name, function.arguments, next(given, None) or call.id)
    if emulated:
        reply.text_as_function_use(message.content or "", function_id=next(given, None))


def _usage(answer: Answer) -> Usage | None:
    """Counts; the prompt's is left out where it was all in the server's cache."""
    if answer.prompt_eval_count is None and answer.eval_count is None:
        return None
    return Usage(
        input_tokens=answer.prompt_eval_count or 0,
        output_tokens=answer.eval_count or 0,
    )
