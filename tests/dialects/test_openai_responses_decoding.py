"""Answers of the Responses wire as results."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dialects.responses_cases import (
    FUNCTIONS,
    PIXEL,
    answer,
    decode,
    function_call,
    message,
    reasoning,
)
from hypothesis import given, strategies as st

from llm_tools.content import (
    OutputResult,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultReasoning,
    OutputResultRefusal,
    OutputResultText,
    Usage,
)
from llm_tools.errors import ProviderError, RateLimitError, ResponseDecodeError, ServerError


def test_whole_answer() -> None:
    """Head, usage and items are all there, in the provider's order."""
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 40, "cache_write_tokens": 10},
        "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 30},
        "total_tokens": 150,
    }
    annotation = {"type": "url_citation", "url": "https://example.org", "title": "E"}
    said = message("")
    said["content"] = [{"type": "output_text", "text": "Let me see.", "annotations": [annotation]}]
    body = answer(reasoning("Hm."), said, function_call(), usage=usage)
    result = decode(body, headers={"x-request-id": "req_1"})
    assert result.id == "resp_1"
    assert result.name == "gpt-5.6-2026"
    assert result.created == 1770000000
    assert result.request_id == "req_1"
    assert result.stop_reason == "function_use"
    assert result.provider_stop_reason == "completed"
    assert result.usage == Usage(
        input_tokens=100,
        output_tokens=50,
        cached_input_tokens=40,
        cache_write_tokens=10,
        reasoning_tokens=30,
    )
    thought, text, use = result.content
    assert isinstance(thought, OutputResultReasoning)
    assert thought.text == "Hm."
    assert isinstance(text, OutputResultText)
    assert (text.text, text.citations) == ("Let me see.", (annotation,))
    assert isinstance(use, OutputResultFunctionUse)
    assert (use.name, use.input, use.function_id) == ("get_weather", {"city": "Oslo"}, "call_1")
    assert result.warnings == ()


@pytest.mark.parametrize(
    ("status", "reason", "stop", "provider_reason"),
    [
        ("completed", None, "stop", "completed"),
        ("incomplete", "max_output_tokens", "length", "max_output_tokens"),
        ("incomplete", "content_filter", "content_filter", "content_filter"),
        ("incomplete", "steered", "other", "steered"),
        ("incomplete", None, "other", "incomplete"),
        ("queued", None, "pause", "queued"),
        ("in_progress", None, "pause", "in_progress"),
        ("cancelled", None, "error", "cancelled"),
        ("reincarnated", None, "other", "reincarnated"),
        (None, None, "stop", None),
    ],
)
def test_stop_reasons(status: Any, reason: Any, stop: str, provider_reason: Any) -> None:
    """Status and incomplete reason give the stop reason; the raw word is kept."""
    details = {"reason": reason} if reason else None
    result = decode(answer(message("Hi."), status=status, incomplete_details=details))
    assert result.stop_reason == stop
    assert result.provider_stop_reason == provider_reason


def test_hosts_of_few_words() -> None:
    """A message whose content is a bare string, or that has no type, is a message."""
    assert decode(answer(message("", content="Hi."))).text == "Hi."
    assert decode(answer({"content": message("Ho.")["content"]})).text == "Ho."


def test_text_under_another_type() -> None:
    """Parts of type `text` are the answer's text, streamed or whole."""
    said = message("Hi")
    said["content"][0]["type"] = "text"
    assert decode(answer(said)).text == "Hi"


def test_queued_answer() -> None:
    """A background answer that has not begun is a pause, with a warning that it is empty."""
    result = decode(answer(status="queued", usage=None))
    assert result.stop_reason == "pause"
    assert result.content == ()
    assert result.usage is None
    assert [warning.code for warning in result.warnings] == ["empty_answer"]


def test_refusal() -> None:
    """A refusal is its own part and its own stop reason."""
    refused = message("", content=[{"type": "refusal", "refusal": "I can't."}])
    result = decode(answer(refused))
    assert result.content == (OutputResultRefusal(text="I can't."),)
    assert result.stop_reason == "refusal"


def test_image() -> None:
    """A generated image is a part; one that failed is carried along."""
    item = {"type": "image_generation_call", "id": "ig_1", "result": PIXEL}
    (image,) = decode(answer(item)).content
    assert isinstance(image, OutputResultImage)
    assert (image.data, image.media_type) == (PIXEL, "image/png")
    (failed,) = decode(answer({**item, "result": None})).content
    assert isinstance(failed, OutputResultReasoning)


@pytest.mark.parametrize(
    "item",
    [
        {"type": "custom_tool_call", "call_id": "", "name": "x_search", "input": "cats"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "tool_search_call", "call_id": None, "arguments": {"paths": ["tools"]}},
        {"type": "telepathy", "thought": [1]},
    ],
)
def test_what_the_provider_runs_itself(item: dict[str, Any]) -> None:
    """Hosted tools and unknown items are no calls of the caller's; they are kept for replay."""
    result = decode(answer(item, message("Done.")))
    assert result.function_calls == []
    assert result.stop_reason == "stop"
    assert result.content[0] == OutputResultReasoning(provider_metadata={"openai": {"item": item}})


def test_reasoning_shown_in_several_sections() -> None:
    """Summaries and full thoughts are told apart by a blank line; sealed ones are empty."""
    shown = reasoning(
        summary=[{"text": "One."}, {"text": ""}, {"text": "Two."}],
        content=[{"type": "reasoning_text", "text": "Three."}],
    )
    result = decode(answer(shown, reasoning()))
    texts = [part.text for part in result.content if isinstance(part, OutputResultReasoning)]
    assert texts == ["One.\n\nTwo.\n\nThree.", ""]


@pytest.mark.parametrize("call_id", ["", None, "null"])
def test_missing_ids(call_id: Any) -> None:
    """A call without an id gets a fresh one, never the item's, and two of one id are told apart."""
    calls = decode(answer(function_call(call_id=call_id), function_call(call_id="a"),
                          function_call(call_id="a"))).function_calls  # fmt: skip
    ids = [call.function_id for call in calls]
    assert ids[1] == "a"
    assert all(ids)
    assert len(set(ids)) == 3
    assert "fc_1" not in ids


def test_call_without_an_item_id() -> None:
    """A host that names its item otherwise is read all the same."""
    item = function_call(item_id="fc_9", output_index=1)
    del item["id"]
    (use,) = decode(answer(item)).function_calls
    assert use.function_id == "call_1"


@pytest.mark.parametrize("arguments", ["", None, "null", "{}", {}])
def test_no_arguments(arguments: Any) -> None:
    """Absent arguments are an empty object."""
    (use,) = decode(answer(function_call(arguments))).function_calls
    assert use.input == {}
    assert use.input_error is None


@pytest.mark.parametrize("arguments", ["[1]", "7", '"x"', '{"city":', "city: Oslo"])
def test_unusable_arguments(arguments: str) -> None:
    """Arguments that are no object never run, and their text is kept; siblings are fine."""
    bad, good = decode(answer(function_call(arguments), function_call(call_id="b"))).function_calls
    assert bad.input == {}
    assert bad.input_error is not None
    assert bad.raw_input == arguments
    assert good.input == {"city": "Oslo"}


def test_cut_off_call() -> None:
    """The last call of a cut answer never runs, whatever its JSON looks like."""
    details = {"reason": "max_output_tokens"}
    body = answer(
        function_call(), function_call("{}", call_id="b"), status="incomplete",
        incomplete_details=details,
    )  # fmt: skip
    first, last = decode(body).function_calls
    assert first.input_error is None
    assert last.input_error is not None


@pytest.mark.parametrize(
    ("status", "item_status", "runs"),
    [
        ("completed", "completed", True),
        ("completed", "in_progress", True),
        ("completed", None, True),
        ("completed", "incomplete", False),
        ("incomplete", "incomplete", False),
        ("in_progress", "in_progress", False),
    ],
)
def test_calls_the_provider_broke_off(status: str, item_status: Any, runs: bool) -> None:
    """A call that is marked unfinished never runs, even if its JSON happens to parse."""
    (use,) = decode(answer(function_call("{}", status=item_status), status=status)).function_calls
    assert (use.input_error is None) is runs


def test_strict_nulls_vanish() -> None:
    """A null the strict schema forced disappears again."""
    body = answer(function_call('{"city":"Oslo","days":null}'))
    (use,) = decode(body, functions=FUNCTIONS, strict=True).function_calls
    assert use.input == {"city": "Oslo"}


def test_failed_answer() -> None:
    """An answer that failed is the error its code names, and holds what there was."""
    error = {"code": "rate_limit_exceeded", "message": "Slow down."}
    with pytest.raises(RateLimitError, match="Slow down") as caught:
        decode(answer(message("Half"), status="failed", error=error))
    assert caught.value.status == 429
    assert caught.value.code == "rate_limit_exceeded"
    assert isinstance(caught.value.result, OutputResult)
    assert caught.value.result.text == "Half"
    assert caught.value.result.stop_reason == "error"


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"code": "server_error", "message": "boom"}},
        {"code": "internal", "error": "boom"},
        {"status": "failed", "output": [], "error": None},
    ],
)
def test_errors_inside_a_200_answer(body: dict[str, Any]) -> None:
    """An error is an error, however it is spelled."""
    with pytest.raises(ServerError):
        decode(body)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>Bad gateway</html>",
        b"[]",
        b"{}",
        b'{"choices": []}',
        b'{"output": [1]}',
        b'{"output": "x"}',
        b"[" * 100_000,
        b'{"output": [], "usage": {"input_tokens": 1e999}}',
        b'{"output": [{"type": "\xff"}]}',
    ],
)
def test_bytes_that_are_no_answer(body: bytes) -> None:
    """What is no answer of this wire is a typed error that shows its start."""
    with pytest.raises(ResponseDecodeError) as caught:
        decode(body)
    assert caught.value.body == body[:2000].decode(errors="replace")


def test_lone_surrogates() -> None:
    """Half a surrogate pair becomes the replacement character; whole pairs stay."""
    body = json.dumps(answer(message("a\ud83d b\U0001f600"))).encode()
    assert decode(body).text == "a\ufffd b\U0001f600"


ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
FIELDS = st.sampled_from(
    ["id", "call_id", "name", "arguments", "status", "content", "summary", "text", "result",
     "annotations", "refusal", "encrypted_content", "output_format"]
)  # fmt: skip
TYPES = st.sampled_from(
    ["message", "reasoning", "function_call", "image_generation_call", "output_text", "refusal", 5]
)
PARTS = st.dictionaries(FIELDS, ODD).flatmap(lambda part: TYPES.map(lambda t: part | {"type": t}))
ITEMS = PARTS.flatmap(
    lambda item: (
        st.lists(PARTS, max_size=3).map(lambda parts: item | {"content": parts}) | st.just(item)
    )
)


@given(st.lists(ITEMS, max_size=4), st.sampled_from(["completed", "incomplete", "in_progress"]))
def test_any_items_decode(items: list[Any], status: str) -> None:
    """Whatever a host puts into its items, the result is a result."""
    result = decode(answer(*items, status=status))
    assert isinstance(result, OutputResult)
    ids = [call.function_id for call in result.function_calls]
    assert len(set(ids)) == len(ids)


@given(st.binary(max_size=200) | ODD.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_decode_or_fail_typed(body: bytes) -> None:
    """Any bytes give a result or a typed error."""
    outcome: Any
    try:
        outcome = decode(body)
    except (ResponseDecodeError, ProviderError) as error:
        outcome = error
    assert isinstance(outcome, OutputResult | ResponseDecodeError | ProviderError)
