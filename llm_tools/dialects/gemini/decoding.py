"""The answer of `generateContent` as an `OutputResult`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...content import OutputResult, OutputResultContent, Usage
from ...errors import ResponseDecodeError
from ...faults import named_error
from ...reply import Reply, decode_json, read_created
from ...spec import Plan
from .assembly import Assembly
from .reading import tell_parts
from .reasons import Stop, read_stop
from .wire import ANSWERS, Answer, Candidate, UsageMetadata


def decode(plan: Plan, body: bytes, headers: Mapping[str, str]) -> OutputResult:
    """A whole answer; an array of chunks counts as one.

    Raises:
        ResponseDecodeError: the bytes are no answer.
        ProviderError: the body is an error, whatever the status said.
    """
    decoded = decode_json(body, ANSWERS)
    assembly = Assembly()
    for answer in decoded if isinstance(decoded, list) else [decoded]:
        raise_error(plan, answer, headers)
        assembly.add(answer)
    whole = assembly.finish()
    if whole.is_blank():
        raise ResponseDecodeError(
            f"The answer of {plan.target.endpoint.key} holds no candidates; look at .body.",
            body=body[:2000].decode(errors="replace"),
        )
    return read_answer(plan, whole, headers)


def raise_error(plan: Plan, answer: Answer, headers: Mapping[str, str]) -> None:
    """Raise what an answer or a chunk says went wrong, if it says so.

    Raises:
        ProviderError: of the class its code names.
    """
    if answer.error:
        body = {"error": answer.error}
        raise named_error(plan.target.endpoint.key, body=body, headers=headers)


def read_answer(
    plan: Plan,
    answer: Answer,
    headers: Mapping[str, str],
    *,
    ids: Iterable[str] = (),
    broken: Stop | None = None,
) -> OutputResult:
    """The result of a whole answer.

    `ids` are those a stream has given to the calls already; `broken` says why the answer is not
    whole, where a stream broke off.
    """
    key = plan.target.replay_key
    first, others = split_candidates(answer)
    vertex_numbers = plan.target.quirks.vertex_numbers
    stop = broken or read_stop(answer, first, vertex_numbers=vertex_numbers)
    reply = Reply(plan)
    if first is not None:
        tell_parts(reply, first, key, ids=ids)
    if stop.message and stop.reason != "stop":
        reply.warn("provider_message", f"{stop.name}: {stop.message}")
    return reply.result(
        id=answer.response_id or "",
        name=answer.model_version or "",
        created=read_created(answer.create_time, headers),
        usage=_usage(answer.usage_metadata),
        stop=stop.reason,
        provider_stop_reason=stop.name,
        request_id=headers.get("x-goog-request-id") or headers.get("x-request-id"),
        call_error=stop.call_error,
        options=tuple([_option(plan, candidate, key) for candidate in others]),
    )


def split_candidates(answer: Answer) -> tuple[Candidate | None, list[Candidate]]:
    """The answer proper and the further choices, by their index."""
    candidates = answer.candidates or []
    ordered = sorted(candidates, key=lambda candidate: candidate.index or 0)
    return (ordered[0], ordered[1:]) if ordered else (None, [])


def _option(plan: Plan, candidate: Candidate, key: str) -> tuple[OutputResultContent, ...]:
    reply = Reply(plan)
    tell_parts(reply, candidate, key)
    return reply.content()


def _usage(counts: UsageMetadata | None) -> Usage | None:
    if counts is None:
        return None
    thoughts = counts.thoughts_token_count or 0
    return Usage(
        input_tokens=(counts.prompt_token_count or 0) + (counts.tool_use_prompt_token_count or 0),
        output_tokens=(counts.candidates_token_count or 0) + thoughts,
        cached_input_tokens=counts.cached_content_token_count or 0,
        reasoning_tokens=thoughts,
    )
