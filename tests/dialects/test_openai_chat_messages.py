"""Messages on the wire: turns, results, images, order."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dialects.openai_chat_cases import FUNCTIONS, PIXEL, body_of, codes, encoded, quirky, target_of

from llm_tools.content import Message, OutputResultFunctionUse, OutputResultReasoning
from llm_tools.errors import UnsupportedOptionError
from llm_tools.spec import Call

IMAGE = {"type": "image", "data": PIXEL, "mediaType": "image/png"}
IMAGE_URL = {"type": "image", "url": "https://example.org/a.png"}
ON_WIRE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}


def sent(target: Any, messages: Any, **call: Any) -> list[Any]:
    """The messages of a body."""
    return list(body_of(target, messages, **call)["messages"])


def use(name: str = "ping", function_id: str = "c1", **fields: Any) -> dict[str, Any]:
    """A call in a history."""
    return {"type": "function_use", "name": name, "input": {}, "functionId": function_id, **fields}


def turn(*parts: Any) -> dict[str, Any]:
    """An assistant's turn."""
    return {"role": "assistant", "content": list(parts)}


def result(
    content: Any, name: str = "ping", function_id: str = "c1", **fields: Any
) -> dict[str, Any]:
    """A call's result."""
    return {
        "role": "function",
        "name": name,
        "functionId": function_id,
        "content": content,
        **fields,
    }


USER = {"role": "user", "content": "U"}


# ---------------------------------------------------------------- turns


def test_a_turn_with_calls_alone_has_null_content() -> None:
    """No text: `content` is null, `tool_calls` hold arguments as a JSON string."""
    messages = [USER, turn(use(input={"a": 1, "ü": [None]})), result("R")]
    assert sent(target_of("openai"), messages)[1] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "ping", "arguments": '{"a":1,"ü":[null]}'},
            }
        ],
    }


def test_a_turn_without_calls_has_no_key_for_them() -> None:
    """`tool_calls: []` is refused by the wire."""
    assert sent(target_of("openai"), [USER, turn({"type": "text", "text": "A"}), USER])[1] == {
        "role": "assistant",
        "content": "A",
    }


def test_blank_text_is_left_out() -> None:
    """Blank parts, blank system messages and turns that say nothing do not go out."""
    messages = [
        {"role": "system", "content": " \n"},
        USER,
        turn({"type": "text", "text": " "}, use()),
        result(""),
        turn({"type": "reasoning", "text": "Foreign."}),
        {
            "role": "user",
            "content": [{"type": "text", "text": "\t"}, {"type": "text", "text": "V"}],
        },
    ]
    out = sent(target_of("openai"), messages)
    assert [message["role"] for message in out] == ["user", "assistant", "tool", "user"]
    assert out[1]["content"] is None
    assert out[2]["content"] == ""
    assert out[3]["content"] == "V"


def test_a_blank_user_message_stays() -> None:
    """What the user said is not dropped, even if it is nothing."""
    assert sent(target_of("openai"), " ") == [{"role": "user", "content": " "}]
    messages = [{"role": "user", "content": [{"type": "text", "text": " "}]}]
    assert sent(target_of("openai"), messages) == [{"role": "user", "content": ""}]


def test_texts_side_by_side_are_joined_and_texts_around_a_call_kept_apart() -> None:
    """The wire has one text per turn."""
    messages = [
        USER,
        turn(
            {"type": "text", "text": "A"},
            {"type": "text", "text": "B"},
            use(),
            {"type": "text", "text": "C"},
        ),
        result("R"),
    ]
    assert sent(target_of("openai"), messages)[1]["content"] == "AB\n\nC"


def test_unusable_input_goes_back_as_an_empty_object() -> None:
    """A call that could not be read is replayed with arguments that parse."""
    part = use(rawInput='["oops"]', inputError="not an object")
    out = sent(target_of("openai"), [USER, turn(part), result("bad", isError=True)])
    assert json.loads(out[1]["tool_calls"][0]["function"]["arguments"]) == {}
    assert out[2]["content"] == "Error: bad"


def test_a_refusal_is_a_field_only_where_the_wire_has_it() -> None:
    """OpenAI gets `refusal`, others the words as text."""
    messages = [USER, turn({"type": "refusal", "text": "No."}), USER]
    assert sent(target_of("openai"), messages)[1] == {
        "role": "assistant",
        "content": None,
        "refusal": "No.",
    }
    assert sent(target_of("groq"), messages)[1] == {"role": "assistant", "content": "No."}


# ---------------------------------------------------------------- replay


@pytest.mark.parametrize(
    ("key", "kept", "text", "fields"),
    [
        ("deepseek", {"field": "reasoning_content"}, "T", {"reasoning_content": "T"}),
        ("xai", {"field": "reasoning_content"}, "T", {"reasoning_content": "T"}),
        ("groq", {"field": "reasoning"}, "T", {"reasoning": "T"}),
        ("openrouter", {"field": "reasoning"}, "T", {"reasoning": "T"}),
        (
            "openrouter",
            {"details": [{"a": 1}, {"b": 2}]},
            "T",
            {"reasoning_details": [{"a": 1}, {"b": 2}]},
        ),
        ("google:openai", {"extra_content": {"google": {}}}, "", {"extra_content": {"google": {}}}),
        ("google:openai", {"field": "reasoning"}, "T", {}),
        ("openai", {"field": "reasoning_content"}, "T", {}),
        ("mistral", {"field": "reasoning"}, "T", {}),
        ("vllm", {"custom_call": {"id": "x"}}, "", {}),
    ],
)
def test_own_reasoning_goes_back_into_its_field(
    key: str, kept: dict[str, Any], text: str, fields: dict[str, Any]
) -> None:
    """What the host left is sent back verbatim, if it takes it."""
    part = {"type": "reasoning", "text": text, "providerMetadata": {key: kept}}
    out = sent(target_of(key), [USER, turn(part, {"type": "text", "text": "A"}), USER])
    assert out[1] == {"role": "assistant", "content": "A", **fields}


def test_chunks_go_back_in_their_order() -> None:
    """Mistral's thinking chunks make the content a list again."""
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "T"}], "signature": "s"}
    other = {"type": "reference", "reference_ids": [1]}
    parts = [
        {"type": "reasoning", "text": "T", "providerMetadata": {"mistral": {"chunk": thinking}}},
        {"type": "text", "text": "A"},
        {"type": "reasoning", "text": "", "providerMetadata": {"mistral": {"chunk": other}}},
    ]
    out = sent(target_of("mistral"), [USER, turn(*parts), USER])
    assert out[1]["content"] == [thinking, {"type": "text", "text": "A"}, other]
    assert sent(target_of("openai"), [USER, turn(*parts), USER])[1]["content"] == "A"


def test_signatures_stay_on_their_calls() -> None:
    """Gemini's compatible endpoint gets its signature on the call; a foreign turn a stand-in."""
    signed = {"google": {"thought_signature": "c2ln"}}
    own = use(providerMetadata={"google:openai": {"extra_content": signed}})
    second = use(function_id="c2")
    messages = [USER, turn(own, second), result("R"), result("S", function_id="c2")]
    calls = sent(target_of("google:openai"), messages)[1]["tool_calls"]
    assert [call.get("extra_content") for call in calls] == [signed, None]
    foreign = [USER, turn(use(), second), result("R"), result("S", function_id="c2")]
    calls = sent(target_of("google:openai"), foreign)[1]["tool_calls"]
    assert (
        calls[0]["extra_content"]["google"]["thought_signature"]
        == "skip_thought_signature_validator"
    )
    assert "extra_content" not in calls[1]
    older = sent(target_of("google:openai", "gemini-2.5-pro"), foreign)[1]["tool_calls"]
    assert not any("extra_content" in call for call in older)
    assert not any(
        "extra_content" in call for call in sent(target_of("openai"), messages)[1]["tool_calls"]
    )


def test_nothing_of_the_caller_is_changed() -> None:
    """Encoding reads messages, never writes to them."""
    signed = {"google:openai": {"extra_content": {"google": {"thought_signature": "s"}}}}
    messages = [USER, turn(use(providerMetadata=signed, input={"a": {"b": 1}})), result({"c": [1]})]
    before = json.dumps(messages)
    for key in ("google:openai", "mistral", "deepseek", "openai"):
        encoded(target_of(key), messages, functions=FUNCTIONS, strict=True)
    assert json.dumps(messages) == before


# ---------------------------------------------------------------- results


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        ("", ""),
        ({"a": 1}, '{"a":1}'),
        ([1, 2], "[1,2]"),
        (True, "true"),
        (None, "null"),
        ([{"type": "text", "text": "A"}, {"type": "text", "text": "B"}], "A\nB"),
    ],
)
def test_a_result_is_text(content: Any, text: str) -> None:
    """Every JSON value goes out as a string."""
    out = sent(target_of("openai"), [USER, turn(use()), result(content)])
    assert out[2] == {"role": "tool", "tool_call_id": "c1", "content": text}


def test_a_failure_says_so() -> None:
    """The wire has no flag: the text tells."""
    out = sent(target_of("openai"), [USER, turn(use()), result("", isError=True)])
    assert out[2]["content"].startswith("Error: ")
    assert len(out[2]["content"]) > len("Error: ")


@pytest.mark.parametrize(("key", "named"), [("mistral", True), ("openai", False), ("groq", False)])
def test_results_are_named_where_the_wire_wants_it(key: str, named: bool) -> None:
    """Mistral's results carry the function's name."""
    messages = [USER, turn(use(function_id="abcdefgh1")), result("R", function_id="abcdefgh1")]
    assert ("name" in sent(target_of(key), messages)[2]) is named


# ---------------------------------------------------------------- ids


def test_ids_are_made_legal_and_stay_paired() -> None:
    """Mistral wants nine letters and digits, OpenAI at most forty; legal ones are kept."""
    long = "chatcmpl-tool-0123456789abcdef0123456789abcdef"
    messages = [
        USER,
        turn(use(function_id=long), use(function_id="abcdefgh1")),
        result("R", function_id=long),
        result("S", function_id="abcdefgh1"),
    ]
    for key, legal in (("mistral", 9), ("openai", 40)):
        out = sent(target_of(key), messages)
        ids = [call["id"] for call in out[1]["tool_calls"]]
        assert [message["tool_call_id"] for message in out[2:]] == ids
        assert ids[1] == "abcdefgh1"
        assert ids[0] != long
        assert len(ids[0]) <= legal
        assert out == sent(target_of(key), messages)
    kept = sent(target_of("vllm"), messages)[1]["tool_calls"]
    assert [call["id"] for call in kept] == [long, "abcdefgh1"]


def test_an_id_used_in_two_turns_stays_paired_in_both() -> None:
    """A server that counts calls from zero in every turn does not confuse the next one."""
    messages = [
        USER,
        turn(use(function_id="call_0", input={"q": "x"})),
        result("rx", function_id="call_0"),
        USER,
        turn(use(function_id="call_0", input={"q": "y"})),
        result("ry", function_id="call_0"),
    ]
    out = sent(target_of("openai"), messages)
    pairs = [(out[i]["tool_calls"][0]["id"], out[i + 1]["tool_call_id"]) for i in (1, 4)]
    assert all(call == answer for call, answer in pairs)
    assert pairs[0] != pairs[1]
    assert [out[2]["content"], out[5]["content"]] == ["rx", "ry"]


# ---------------------------------------------------------------- images


def test_images_of_the_user() -> None:
    """By URL or inline, in their order among the texts."""
    content = [{"type": "text", "text": "A"}, IMAGE, IMAGE_URL]
    out = sent(target_of("openai"), [{"role": "user", "content": content}])
    url = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    assert out[0]["content"] == [{"type": "text", "text": "A"}, ON_WIRE, url]


def test_images_are_refused_where_the_model_sees_none() -> None:
    """DeepSeek's chat takes text alone."""
    with pytest.raises(UnsupportedOptionError, match="images"):
        encoded(target_of("deepseek"), [{"role": "user", "content": [IMAGE]}])


def test_image_urls_are_refused_where_nothing_is_fetched() -> None:
    """Local servers take the bytes; the message says so."""
    for key in ("lmstudio", "ollama:openai"):
        assert sent(target_of(key), [{"role": "user", "content": [IMAGE]}])[0]["content"] == [
            ON_WIRE
        ]
        with pytest.raises(UnsupportedOptionError, match="data"):
            encoded(target_of(key), [{"role": "user", "content": [IMAGE_URL]}])


def test_images_in_results_move_behind_all_results() -> None:
    """Where a result is text, its images follow in a user message, after the turn's last result."""
    messages = [
        USER,
        turn(use(function_id="c1"), use(function_id="c2")),
        result([{"type": "text", "text": "chart"}, IMAGE], function_id="c1"),
        result([IMAGE], function_id="c2"),
        turn({"type": "text", "text": "A"}),
    ]
    request = encoded(target_of("openai"), messages)
    out = sent(target_of("openai"), messages)
    assert [message["role"] for message in out] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
        "assistant",
    ]
    assert out[2]["content"] == "chart"
    assert out[3]["content"].strip()
    words = {"type": "text", "text": "Returned by ping:"}
    assert out[4]["content"] == [words, ON_WIRE, words, ON_WIRE]
    assert codes(request) == ["image_moved", "image_moved"]


def test_moved_images_join_the_users_next_message() -> None:
    """No two user messages in a row are made."""
    messages = [USER, turn(use()), result([IMAGE]), {"role": "user", "content": "Look."}]
    out = sent(target_of("openai"), messages)
    assert [message["role"] for message in out] == ["user", "assistant", "tool", "user"]
    assert out[3]["content"][-1] == {"type": "text", "text": "Look."}
    assert ON_WIRE in out[3]["content"]


def test_images_in_results_stay_where_the_wire_takes_them() -> None:
    """Mistral, Groq and OpenRouter take chunks in results."""
    messages = [USER, turn(use()), result([{"type": "text", "text": "chart"}, IMAGE])]
    for key in ("mistral", "groq", "openrouter"):
        request = encoded(target_of(key), messages, functions=FUNCTIONS)
        assert request.body["messages"][2]["content"] == [
            {"type": "text", "text": "chart"},
            ON_WIRE,
        ]
        assert codes(request) == []
    only = [USER, turn(use()), result([IMAGE])]
    assert sent(target_of("groq"), only)[2]["content"] == [ON_WIRE]


def test_images_in_results_are_named_where_the_model_sees_none() -> None:
    """The run goes on; the text says that there was an image, and a warning that it is gone."""
    messages = [USER, turn(use()), result([{"type": "text", "text": "chart"}, IMAGE])]
    request = encoded(target_of("deepseek", "deepseek-chat"), messages)
    assert request.body["messages"][2]["content"].startswith("chart\n[")
    assert codes(request)[-1] == "image_left_out"


def test_images_the_model_made() -> None:
    """They go back into their turn where that is possible, else to the user's side."""
    kept = {"image": {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}}
    part = {**IMAGE, "providerMetadata": {"openrouter": kept}}
    messages = [
        USER,
        turn({"type": "text", "text": "A"}, part),
        {"role": "user", "content": "Darker."},
    ]
    own = sent(target_of("openrouter"), messages)
    assert own[1] == {"role": "assistant", "content": "A", "images": [kept["image"]]}
    request = encoded(target_of("openai"), messages)
    other = sent(target_of("openai"), messages)
    assert other[1] == {"role": "assistant", "content": "A"}
    assert other[2]["content"] == [
        {"type": "text", "text": "An image the assistant made:"},
        ON_WIRE,
        {"type": "text", "text": "Darker."},
    ]
    assert codes(request) == ["image_moved"]
    assert codes(encoded(target_of("deepseek"), messages)) == ["image_left_out"]


# ---------------------------------------------------------------- order


@pytest.mark.parametrize(("key", "moved"), [("mistral", True), ("vllm", True), ("openai", False)])
def test_a_conversation_without_a_user(key: str, moved: bool) -> None:
    """Where the wire wants a user, the last system message is the user's, with a warning."""
    messages = [{"role": "system", "content": "A"}, {"role": "system", "content": "B"}]
    request = encoded(target_of(key), messages)
    roles = [message["role"] for message in request.body["messages"]]
    assert roles == (["system", "user"] if moved else ["system", "system"])
    assert codes(request) == (["system_as_user"] if moved else [])


def test_a_conversation_with_a_user_stays() -> None:
    """Nothing moves where there is a user, or nothing that could move."""
    messages = [{"role": "system", "content": "A"}, USER]
    assert codes(encoded(target_of("mistral"), messages)) == []
    alone = encoded(target_of("mistral"), [turn({"type": "text", "text": "A"})])
    assert [message["role"] for message in alone.body["messages"]] == ["assistant"]


def test_parts_without_metadata() -> None:
    """Structs built by hand go out like any other."""
    messages = (
        Message(role="user", content="U"),
        Message(
            role="assistant",
            content=(
                OutputResultReasoning(text="T"),
                OutputResultFunctionUse(name="ping", input={}, function_id="c1"),
            ),
        ),
        Message(role="function", name="ping", function_id="c1", content="R"),
    )
    target = quirky(reasoning_required=True, reasons=True, thinking=True)
    body = target.dialect.encode(target, Call(messages=messages)).body
    assert body["thinking"] == {"type": "disabled"}
    assert "reasoning_content" not in body["messages"][1]
