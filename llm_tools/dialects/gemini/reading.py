"""Parts of an answer, told to a `Reply` in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ...content import JSON, Metadata
from ...reply import Reply
from .wire import Candidate, Part


def tell_parts(
    reply: Reply, candidate: Candidate, replay_key: str, *, ids: Iterable[str] = ()
) -> None:
    """What a candidate holds; `ids` are those its calls were given already, in order.

    Text without anything else to keep is joined with its neighbours of the same kind, so that a
    stream's pieces read like a whole answer.
    """
    parts = join_texts(parts_of(candidate))
    cited = max((i for i, part in enumerate(parts) if is_text(part)), default=-1)
    given = iter(ids)
    for position, part in enumerate(parts):
        citations = citations_of(candidate) if position == cited else ()
        _tell(reply, part, replay_key, citations, given)


def parts_of(candidate: Candidate) -> list[Part]:
    """The parts of a candidate; content and parts may both be missing."""
    return (candidate.content.parts if candidate.content is not None else None) or []


def _tell(
    reply: Reply, part: Part, key: str, citations: tuple[JSON, ...], ids: Iterator[str]
) -> None:
    match part:
        case {"functionCall": dict() as call}:
            given = next(ids, None) or call_id(call)
            metadata = call_metadata(part, key)
            reply.function_use(call_name(call), call.get("args"), given, metadata=metadata)
        case {"text": str(text)} if part.get("thought"):
            reply.reasoning(text, metadata={key: _without(part, "text")})
        case {"text": str(text)}:
            rest = _without(part, "text")
            reply.text(text, citations=citations, metadata={key: rest} if rest else None)
        case {"inlineData": {"data": str(data), "mimeType": str(kind)}} if _shows(part, kind):
            rest = _without(part, "inlineData")
            reply.image(data=data, media_type=kind, metadata={key: rest} if rest else None)
        case {"fileData": {"fileUri": str(uri), "mimeType": str(kind)}} if _shows(part, kind):
            rest = _without(part, "fileData")
            reply.image(url=uri, media_type=kind, metadata={key: rest} if rest else None)
        case _:
            reply.carry({key: {"part": part}})


def _shows(part: Part, media_type: str) -> bool:
    """Whether it is a picture for the caller, not one the model drew while it thought."""
    return media_type.startswith("image/") and not part.get("thought")


def is_text(part: Part) -> bool:
    """Whether the part is text of the answer itself."""
    return bool(part.get("text")) and not part.get("thought") and "functionCall" not in part


def call_name(call: dict[str, Any]) -> str:
    """The name in a `functionCall`, empty if there is none."""
    name = call.get("name")
    return name if isinstance(name, str) else ""


def call_id(call: dict[str, Any]) -> str | None:
    """The id in a `functionCall`; older models give none."""
    given = call.get("id")
    return given if isinstance(given, str) else None


def call_metadata(part: Part, replay_key: str) -> Metadata | None:
    """What a call's part holds beside name and arguments: its signature, the provider's id."""
    rest = _without(part, "functionCall")
    call = _without(_without(part["functionCall"], "name"), "args")
    if call:
        rest["functionCall"] = call
    return {replay_key: rest} if rest else None


def _without(part: Part, key: str) -> Part:
    return {name: value for name, value in part.items() if name != key}


def citations_of(candidate: Candidate) -> tuple[JSON, ...]:
    """The candidate's sources, under the wire's names for them."""
    found = {
        "citationMetadata": candidate.citation_metadata,
        "groundingMetadata": candidate.grounding_metadata,
        "urlContextMetadata": candidate.url_context_metadata,
    }
    return tuple([{name: value} for name, value in found.items() if value])


def join_texts(parts: Iterable[Part]) -> list[Part]:
    """Adjacent plain texts as one, thoughts and answers apart; empty ones vanish."""
    joined: list[Part] = []
    run: list[str] = []
    kind: bool | None = None
    for part in parts:
        this = _plain_kind(part)
        if this != kind:
            _close_run(joined, run, thought=bool(kind))
            kind = this
        if this is None:
            joined.append(part)
        else:
            run.append(part["text"])
    _close_run(joined, run, thought=bool(kind))
    return joined


def _plain_kind(part: Part) -> bool | None:
    """Whether a text that carries nothing else is a thought; None for any other part."""
    if part.keys() <= {"text", "thought"} and isinstance(part.get("text"), str):
        return bool(part.get("thought"))
    return None


def _close_run(joined: list[Part], run: list[str], *, thought: bool) -> None:
    text = "".join(run)
    run.clear()
    if text:
        joined.append({"text": text, "thought": True} if thought else {"text": text})
