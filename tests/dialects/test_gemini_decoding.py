"""Answers of `generateContent` as results."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dialects.google_and_ollama import FUNCTIONS, codes, decoded, plan_of
from hypothesis import given, strategies as st

from llm_tools.content import (
    OutputResult,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultReasoning,
    OutputResultText,
    Usage,
)
from llm_tools.errors import LlmToolsError, ProviderError, ResponseDecodeError

PLAN = plan_of("google", "gemini-3-flash", functions=FUNCTIONS)
VERTEX = plan_of("vertex", "gemini-3-flash", functions=FUNCTIONS)


def answer(*parts: Any, finish: Any = "STOP", **fields: Any) -> Any:
    """A body with one candidate."""
    candidate = {
        "content": {"role": "model", "parts": list(parts)},
        "finishReason": finish,
        "index": 0,
    }
    return {"candidates": [candidate | fields]}


def call(name: str = "ping", args: Any = None, **fields: Any) -> Any:
    """A part that calls."""
    return {"functionCall": {"name": name} | ({} if args is None else {"args": args}) | fields}


def test_a_whole_answer() -> None:
    """Thought, text and calls in order, with id, model, time, usage and request id."""
    body = answer(
        {"text": "Let me see.", "thought": True},
        {"text": "Checking."},
        call("get_weather", {"city": "Oslo"}, id="g1") | {"thoughtSignature": "U0lH"},
        call("ping"),
    ) | {
        "usageMetadata": {
            "promptTokenCount": 100,
            "cachedContentTokenCount": 40,
            "toolUsePromptTokenCount": 5,
            "candidatesTokenCount": 10,
            "thoughtsTokenCount": 7,
            "totalTokenCount": 122,
        },
        "modelVersion": "gemini-3-flash-001",
        "responseId": "r-1",
        "createTime": "2026-01-02T03:04:05.678901Z",
    }
    result = decoded(PLAN, body, {"x-goog-request-id": "q-1"})
    ping_id = result.function_calls[1].function_id
    assert ping_id
    assert result == OutputResult(
        id="r-1",
        name="gemini-3-flash-001",
        created=1767323045,
        usage=Usage(input_tokens=105, output_tokens=17, cached_input_tokens=40, reasoning_tokens=7),
        stop_reason="function_use",
        provider_stop_reason="STOP",
        request_id="q-1",
        content=(
            OutputResultReasoning(
                text="Let me see.", provider_metadata={"google": {"thought": True}}
            ),
            OutputResultText(text="Checking."),
            OutputResultFunctionUse(
                name="get_weather",
                input={"city": "Oslo"},
                function_id="g1",
                provider_metadata={
                    "google": {"thoughtSignature": "U0lH", "functionCall": {"id": "g1"}}
                },
            ),
            OutputResultFunctionUse(name="ping", input={}, function_id=ping_id),
        ),
    )


def test_what_is_missing_falls_back() -> None:
    """No usage is None, no model is the one asked, the date header stands in for the time."""
    result = decoded(PLAN, answer({"text": "Hi"}), {"date": "Fri, 02 Jan 2026 03:04:05 GMT"})
    assert (result.usage, result.name, result.id, result.created, result.request_id) == (
        None,
        "gemini-3-flash",
        "",
        1767323045,
        None,
    )
    assert result.stop_reason == "stop"


def test_metadata_is_kept_under_the_endpoint() -> None:
    """What Vertex signs is found again by Vertex only."""
    result = decoded(VERTEX, answer(call() | {"thoughtSignature": "U0lH"}))
    assert result.content[0].provider_metadata == {"vertex": {"thoughtSignature": "U0lH"}}


@pytest.mark.parametrize(
    ("parts", "content"),
    [
        ([{"text": "a"}, {"text": "b"}], (OutputResultText(text="ab"),)),
        ([{"text": ""}], ()),
        ([{"text": "", "thought": True}], ()),
        ([{"text": "a", "thought": False}, {"text": "b"}], (OutputResultText(text="ab"),)),
        (
            [{"text": "a", "thought": True}, {"text": "b", "thought": True}, {"text": "c"}],
            (
                OutputResultReasoning(text="ab", provider_metadata={"google": {"thought": True}}),
                OutputResultText(text="c"),
            ),
        ),
        (
            [{"text": "a"}, {"text": "b", "thoughtSignature": "Yg=="}, {"text": "c"}],
            (
                OutputResultText(text="a"),
                OutputResultText(
                    text="b", provider_metadata={"google": {"thoughtSignature": "Yg=="}}
                ),
                OutputResultText(text="c"),
            ),
        ),
        (
            [{"text": "a"}, {"text": "", "thoughtSignature": "Yg=="}],
            (
                OutputResultText(text="a"),
                OutputResultReasoning(provider_metadata={"google": {"thoughtSignature": "Yg=="}}),
            ),
        ),
        (
            [{"text": "t", "thought": True, "thoughtSignature": "Yg=="}],
            (
                OutputResultReasoning(
                    text="t",
                    provider_metadata={"google": {"thought": True, "thoughtSignature": "Yg=="}},
                ),
            ),
        ),
        (
            [{"inlineData": {"mimeType": "image/png", "data": "AA=="}}],
            (OutputResultImage(data="AA==", media_type="image/png"),),
        ),
        (
            [
                {
                    "inlineData": {"mimeType": "image/png", "data": "AA=="},
                    "thoughtSignature": "Yg==",
                }
            ],
            (
                OutputResultImage(
                    data="AA==",
                    media_type="image/png",
                    provider_metadata={"google": {"thoughtSignature": "Yg=="}},
                ),
            ),
        ),
        (
            [{"fileData": {"mimeType": "image/png", "fileUri": "gs://b/o"}}],
            (OutputResultImage(url="gs://b/o", media_type="image/png"),),
        ),
        (
            [{"fileData": {"mimeType": "image/png", "fileUri": "gs://b/o"}, "partMetadata": {}}],
            (
                OutputResultImage(
                    url="gs://b/o",
                    media_type="image/png",
                    provider_metadata={"google": {"partMetadata": {}}},
                ),
            ),
        ),
    ],
)
def test_parts(parts: Any, content: Any) -> None:
    """Plain texts of a kind are joined; what carries a signature stays a part of its own."""
    assert decoded(PLAN, answer(*parts)).content == content


@pytest.mark.parametrize(
    "part",
    [
        {"executableCode": {"language": "PYTHON", "code": "1"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB"}, "thoughtSignature": "Yg=="},
        {"inlineData": {"mimeType": "audio/wav", "data": "AA=="}},
        {"inlineData": {"mimeType": "image/png", "data": "AA=="}, "thought": True},
        {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://b/o"}},
        {"somethingNew": [1, 2]},
        {"functionCall": "not an object"},
        {"text": 7},
        {},
    ],
)
def test_other_parts_are_carried(part: Any) -> None:
    """Hosted tools and what nobody knows yet is kept whole, and is no answer by itself."""
    result = decoded(PLAN, answer(part, {"text": "ok"}))
    assert result.content == (
        OutputResultReasoning(provider_metadata={"google": {"part": part}}),
        OutputResultText(text="ok"),
    )


@pytest.mark.parametrize(
    ("body", "stop", "reason"),
    [
        (
            {"candidates": None, "promptFeedback": {"blockReason": "SAFETY"}},
            "content_filter",
            "SAFETY",
        ),
        (
            {"candidates": [], "promptFeedback": {"blockReason": "JAILBREAK"}},
            "content_filter",
            "JAILBREAK",
        ),
        ({"promptFeedback": {"blockReason": "OTHER"}}, "content_filter", "OTHER"),
        ({"promptFeedback": {"blockReason": 4}}, "content_filter", "PROHIBITED_CONTENT"),
        ({"candidates": []}, "other", None),
        ({"promptFeedback": {}}, "other", None),
        ({"usageMetadata": {"promptTokenCount": 1}}, "other", None),
        ({"candidates": [{"finishReason": "SAFETY"}]}, "content_filter", "SAFETY"),
        ({"candidates": [{"content": None, "finishReason": "STOP"}]}, "stop", "STOP"),
        ({"candidates": [{"content": {}, "finishReason": "STOP"}]}, "stop", "STOP"),
        ({"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}]}, "stop", "STOP"),
        ({"candidates": [{"content": {"parts": None}, "finishReason": "STOP"}]}, "stop", "STOP"),
        (
            {"candidates": [{"content": {"parts": []}, "finishReason": "MAX_TOKENS"}]},
            "length",
            "MAX_TOKENS",
        ),
        ({"candidates": [{}]}, "stop", None),
    ],
)
def test_an_answer_without_content(body: Any, stop: str, reason: str | None) -> None:
    """Every way to say nothing is an empty result that says why, with a warning."""
    result = decoded(PLAN, body)
    assert (result.content, result.stop_reason, result.provider_stop_reason) == ((), stop, reason)
    assert codes(result) == ["empty_answer"]


def test_why_a_prompt_was_blocked_is_said() -> None:
    """The provider's words are a warning."""
    feedback = {"blockReason": "SAFETY", "blockReasonMessage": "Too hot."}
    result = decoded(PLAN, {"promptFeedback": feedback})
    assert [w.detail for w in result.warnings if w.code == "provider_message"] == [
        "SAFETY: Too hot."
    ]


REASONS = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "MODEL_ARMOR": "content_filter",
    "ESCALATION": "content_filter",
    "PUP_LIMITED_DISABLED": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
    "MALFORMED_FUNCTION_CALL": "error",
    "MALFORMED_RESPONSE": "error",
    "UNEXPECTED_TOOL_CALL": "error",
    "TOO_MANY_TOOL_CALLS": "error",
    "MISSING_THOUGHT_SIGNATURE": "error",
    "OTHER": "other",
    "LANGUAGE": "other",
    "NO_IMAGE": "other",
    "IMAGE_OTHER": "other",
    "FINISH_REASON_UNSPECIFIED": "other",
    "SOMETHING_NEW": "other",
}


@pytest.mark.parametrize(("wire", "normalised"), REASONS.items())
def test_finish_reasons(wire: str, normalised: str) -> None:
    """Each reason has its normalised one, and keeps its name beside it."""
    result = decoded(PLAN, answer({"text": "x"}, finish=wire))
    assert (result.stop_reason, result.provider_stop_reason) == (normalised, wire)


@pytest.mark.parametrize(
    ("plan", "number", "name"),
    [
        (PLAN, 1, "STOP"),
        (PLAN, 5, "OTHER"),
        (PLAN, 6, "LANGUAGE"),
        (PLAN, 10, "MALFORMED_FUNCTION_CALL"),
        (PLAN, 12, "UNEXPECTED_TOOL_CALL"),
        (PLAN, 99, "99"),
        (PLAN, -1, "-1"),
        (VERTEX, 1, "STOP"),
        (VERTEX, 6, "BLOCKLIST"),
        (VERTEX, 9, "MALFORMED_FUNCTION_CALL"),
        (VERTEX, 15, "UNEXPECTED_TOOL_CALL"),
        (VERTEX, 0, "FINISH_REASON_UNSPECIFIED"),
    ],
)
def test_finish_reasons_as_numbers(plan: Any, number: int, name: str) -> None:
    """Integer enums are read by the host's own numbering."""
    result = decoded(plan, answer({"text": "x"}, finish=number))
    assert (result.stop_reason, result.provider_stop_reason) == (REASONS.get(name, "other"), name)


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"])
def test_a_call_the_provider_disowns_never_runs(reason: str) -> None:
    """It is in the result with an input error and its arguments as text."""
    body = answer(call("ping", {"a": 1}), finish=reason, finishMessage="Bad call.")
    result = decoded(PLAN, body)
    [use] = result.function_calls
    assert (result.stop_reason, use.input, use.raw_input) == ("error", {}, '{"a":1}')
    assert use.input_error == f"the provider ended the answer with {reason}: Bad call."
    assert codes(result) == ["provider_message"]


def test_a_disowned_call_without_a_message() -> None:
    """The reason alone says enough."""
    [use] = decoded(PLAN, answer(call(), finish="MALFORMED_FUNCTION_CALL")).function_calls
    assert use.input_error == (
        "the provider ended the answer with MALFORMED_FUNCTION_CALL: no details"
    )


def test_a_finish_message_of_a_good_answer_is_no_warning() -> None:
    """Gemini comments every call; that is not worth a warning."""
    body = answer(call(), finishMessage="Model generated function call(s).")
    assert codes(decoded(PLAN, body)) == []


def test_the_last_call_of_a_cut_answer_never_runs() -> None:
    """MAX_TOKENS makes the last call one that was cut off, whatever it looks like."""
    result = decoded(PLAN, answer(call("ping", {}), call("ping", {}), finish="MAX_TOKENS"))
    first, last = result.function_calls
    assert result.stop_reason == "length"
    assert (first.input_error, first.input) == (None, {})
    assert last.input_error is not None


@pytest.mark.parametrize(
    ("args", "value"), [(None, {}), ({}, {}), ({"city": "Oslo"}, {"city": "Oslo"})]
)
def test_arguments_are_an_object_or_missing(args: Any, value: Any) -> None:
    """A call without arguments has an empty input."""
    [use] = decoded(PLAN, answer(call("get_weather", args))).function_calls
    assert (use.input, use.input_error) == (value, None)


@pytest.mark.parametrize("args", [[1], 7, "{nope"])
def test_arguments_of_another_kind_are_an_input_error(args: Any) -> None:
    """Nothing but an object is ever passed on."""
    [use] = decoded(PLAN, answer(call("get_weather", args))).function_calls
    assert use.input == {}
    assert use.input_error is not None


@pytest.mark.parametrize("ids", [(None, None), ("", ""), ("x", "x"), (7, None)])
def test_ids_are_present_and_unique(ids: Any) -> None:
    """Missing, empty and repeated ids are replaced; both calls are there, in order."""
    parts = [call("get_weather", {"city": c}, id=i) for c, i in zip("ab", ids, strict=True)]
    first, second = decoded(PLAN, answer(*parts)).function_calls
    assert (first.input, second.input) == ({"city": "a"}, {"city": "b"})
    assert first.function_id
    assert second.function_id
    assert first.function_id != second.function_id


def test_a_call_without_a_name_is_kept() -> None:
    """It comes out under an empty name, which no function has."""
    [use] = decoded(PLAN, answer({"functionCall": {"name": None, "args": {}}})).function_calls
    assert use.name == ""


def test_sources_are_citations_of_the_last_text() -> None:
    """Grounding, citations and fetched URLs stand on the text, under the wire's names."""
    grounding = {"groundingChunks": [{"web": {"uri": "https://x.org"}}]}
    sources = {"citationSources": [{"uri": "https://y.org"}]}
    fetched = {"urlMetadata": []}
    body = answer(
        {"text": "a", "thoughtSignature": "Yg=="},
        {"text": "b"},
        call(),
        groundingMetadata=grounding,
        citationMetadata=sources,
        urlContextMetadata=fetched,
    )
    first, last, _ = decoded(PLAN, body).content
    assert isinstance(first, OutputResultText)
    assert first.citations == ()
    assert isinstance(last, OutputResultText)
    assert last.citations == (
        {"citationMetadata": sources},
        {"groundingMetadata": grounding},
        {"urlContextMetadata": fetched},
    )


def test_further_candidates_are_options() -> None:
    """The first by index is the answer, the others stand beside it."""
    body = {
        "candidates": [
            {"index": 1, "content": {"parts": [{"text": "b"}]}, "finishReason": "STOP"},
            {"index": 0, "content": {"parts": [{"text": "a"}]}, "finishReason": "MAX_TOKENS"},
        ]
    }
    result = decoded(PLAN, body)
    assert (result.text, result.stop_reason) == ("a", "length")
    assert result.options == ((OutputResultText(text="b"),),)


def test_candidates_without_index_keep_their_order() -> None:
    """The position counts where no index was sent."""
    parts = [{"content": {"parts": [{"text": text}]}} for text in "ab"]
    result = decoded(PLAN, {"candidates": parts})
    assert (result.text, result.options) == ("a", ((OutputResultText(text="b"),),))


def test_an_array_of_chunks_is_one_answer() -> None:
    """A stream that was not asked for as events is an array; it reads like its whole."""
    chunks = [
        answer({"text": "a"}, finish=None) | {"responseId": "r"},
        answer({"text": "b"}) | {"usageMetadata": {"promptTokenCount": 1}},
    ]
    result = decoded(PLAN, chunks)
    assert (result.text, result.id, result.stop_reason) == ("ab", "r", "stop")
    assert result.usage == Usage(input_tokens=1)


EXPECTED_ERRORS = {(429, "RateLimitError"), (400, "BadRequestError"), (500, "ServerError")}


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED"}},
        [{"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}}],
        {"error": "gone"},
        {"error": {"oddly": []}},
    ],
)
def test_an_error_behind_a_200_is_an_error(body: Any) -> None:
    """Also in Google's array of one, and where it is hardly a word."""
    with pytest.raises(ProviderError) as error:
        decoded(PLAN, body)
    assert error.value.endpoint == "google"
    assert (error.value.status, type(error.value).__name__) in EXPECTED_ERRORS


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"7",
        b'"text"',
        b"<html>",
        b"{}",
        b"[]",
        b'{"id": 1}',
        b'{"candidates": 3}',
        b'{"candidates": [{"content": {"parts": [7]}}]}',
        b"[" * 5000,
    ],
)
def test_bytes_that_are_no_answer(body: bytes) -> None:
    """They are a decode error that keeps their start."""
    with pytest.raises(ResponseDecodeError) as error:
        decoded(PLAN, body)
    assert error.value.body == body[:2000].decode()
    assert error.value.retryable is not body.startswith(b"<")


def test_half_a_surrogate_does_not_lose_the_answer() -> None:
    """It becomes a replacement character; whole pairs stay."""
    raw = json.dumps(answer({"text": "TEXT"})).replace("TEXT", r"a\ud83d b\ud83d\ude00").encode()
    assert decoded(PLAN, raw).text == "a\ufffd b\U0001f600"


WORDS = [
    "candidates",
    "content",
    "parts",
    "text",
    "thought",
    "functionCall",
    "name",
    "args",
    "id",
    "index",
    "finishReason",
    "promptFeedback",
    "blockReason",
    "usageMetadata",
    "promptTokenCount",
    "inlineData",
    "mimeType",
    "data",
    "error",
    "thoughtSignature",
    "willContinue",
    "partialArgs",
    "jsonPath",
    "stringValue",
]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 20) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(WORDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_give_a_result_or_a_typed_error(body: bytes) -> None:
    """Nothing a server may send comes out as a KeyError or the like."""
    try:
        result = decoded(PLAN, body)
    except LlmToolsError:
        return
    assert isinstance(result, OutputResult)
