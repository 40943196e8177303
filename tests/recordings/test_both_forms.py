"""Calls that were recorded in both forms: what came streamed and what came whole are alike."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from recordings.reading import Record, records
from recordings.replaying import plan_for, stream

from llm_tools import faults
from llm_tools.content import OutputResult
from llm_tools.errors import LlmToolsError, ProviderError
from llm_tools.spec import Framing

FILES: dict[str, tuple[str, Framing]] = {
    "anthropic.messages": ("anthropic_messages", "sse"),
    "bedrock.converse": ("bedrock_converse", "aws_events"),
    "bedrock.invoke": ("openai_chat", "aws_chunks"),
    "deepseek.chat": ("openai_chat", "sse"),
    "google.generate": ("gemini", "sse"),
    "groq.chat": ("openai_chat", "sse"),
    "mistral.chat": ("openai_chat", "sse"),
    "ollama.chat": ("ollama", "ndjson"),
    "openai.chat": ("openai_chat", "sse"),
    "openai.responses": ("openai_responses", "sse"),
    "openrouter.chat": ("openai_chat", "sse"),
    "other.chat": ("openai_chat", "sse"),
    "other.responses": ("openai_responses", "sse"),
    "xai.chat": ("openai_chat", "sse"),
}
_NAMES_A_FORM = ("stream", "stream_options")


def asked(record: Record) -> str | None:
    """The request without what names its form; None where there is none."""
    if not isinstance(record.request, dict) or not record.request:
        return None
    rest = {key: value for key, value in record.request.items() if key not in _NAMES_A_FORM}
    return json.dumps([record.model, rest], sort_keys=True)


def pairs() -> list[Any]:
    """(file, streamed, whole) of each request that was recorded in both forms."""
    found: list[Any] = []
    for name in (
        FILES if Path(os.environ.get("LLM_TOOLS_RECORDINGS", "/nonexistent")).is_dir() else ()
    ):
        by_request: dict[str, list[Record]] = defaultdict(list)
        for record in records(name):
            request = asked(record)
            if request is not None:
                by_request[request].append(record)
        for like in by_request.values():
            streamed = [one for one in like if one.stream is not None]
            whole = [one for one in like if one.stream is None]
            found += [
                pytest.param(name, one, other, id=f"{one.id} {other.id}")
                for one in streamed
                for other in whole
            ]
    if found:
        return found
    reason = "no recordings: LLM_TOOLS_RECORDINGS names no folder with both forms of a call"
    return [pytest.param("", None, None, marks=pytest.mark.skip(reason=reason))]


def outcome(name: str, record: Record) -> OutputResult | LlmToolsError:
    """The result of an exchange, or its error."""
    dialect, framing = FILES[name]
    plan = plan_for(record, dialect, {})
    try:
        if record.stream is not None:
            return stream(record, plan, framing, 7)[1]
        if record.status >= 300:
            return faults.provider_error(
                "recorded", status=record.status, body=record.body_bytes, headers=record.headers
            )
        return plan.target.dialect.decode(plan, record.body_bytes, record.headers)
    except LlmToolsError as error:
        return error


@pytest.mark.parametrize(("name", "streamed", "whole"), pairs())
def test_both_forms_are_alike(name: str, streamed: Record, whole: Record) -> None:
    """The same kinds of parts, functions, reasons and metadata; or the same failure."""
    one, other = outcome(name, streamed), outcome(name, whole)
    if isinstance(one, ProviderError) and isinstance(other, ProviderError):
        assert (type(one), one.code, one.status) == (type(other), other.code, other.status)
        return
    broken = isinstance(one, ProviderError)
    if isinstance(one, ProviderError):
        # A host's error beside a call is told by the stream's last chunk, or by the choice.
        one = one.result  # type: ignore[assignment]
    assert isinstance(one, OutputResult)
    assert isinstance(other, OutputResult)
    if (one.stop_reason == "error") != (other.stop_reason == "error"):
        pytest.skip("the model itself failed in one of the two")
    assert one.stop_reason == other.stop_reason
    assert one.name == other.name
    assert {call.name for call in one.function_calls} == {
        call.name for call in other.function_calls
    }
    assert kinds(one) == kinds(other)
    assert broken or (one.usage is None) == (other.usage is None)
    if one.usage is not None and other.usage is not None:
        assert one.usage.input_tokens == other.usage.input_tokens


def kinds(result: OutputResult) -> list[tuple[str, list[str]]]:
    """What the parts are and what they keep, neighbours of one kind once."""
    found: list[tuple[str, list[str]]] = []
    for part in result.content:
        kept = getattr(part, "provider_metadata", None) or {}
        kind = (type(part).__name__, sorted(kept.get("recorded", {})))
        if found[-1:] != [kind]:
            found.append(kind)
    return found
