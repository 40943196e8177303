"""Calls as bodies of `generateContent`."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from dialects.google_and_ollama import (
    CITY_SCHEMA,
    FUNCTIONS,
    PING,
    WEATHER,
    body_of,
    codes,
    encoded,
    golden,
    make_call,
    target_of,
)

from llm_tools.dialects.gemini.quirks import GeminiQuirks
from llm_tools.dialects.gemini.support import support
from llm_tools.errors import ConfigurationError, UnsupportedOptionError
from llm_tools.registry import make_target
from llm_tools.spec import SUPPORT_OPTIONS, Target

NEW = "gemini-3-flash-preview"
OLD = "gemini-2.5-flash"
PIXEL = "iVBORw0KGgo="

RICH = [
    {"role": "system", "content": "Be brief."},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "Compare."},
            {"type": "image", "data": PIXEL, "mediaType": "image/png"},
            {"type": "image", "url": "https://example.org/a.webp?size=2"},
        ],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "text": "Two cities."},
            {"type": "text", "text": "Checking."},
            {
                "type": "function_use",
                "name": "get_weather",
                "input": {"city": "Oslo"},
                "functionId": "c_1",
            },
            {
                "type": "function_use",
                "name": "get_weather",
                "input": {"city": "Lima"},
                "functionId": "c_2",
            },
            {"type": "function_use", "name": "ping", "input": {}, "functionId": "c_3"},
        ],
    },
    {"role": "function", "name": "get_weather", "functionId": "c_1", "content": {"t": 3}},
    {
        "role": "function",
        "name": "get_weather",
        "functionId": "c_2",
        "content": "no such city",
        "isError": True,
    },
    {
        "role": "function",
        "name": "ping",
        "functionId": "c_3",
        "content": [
            {"type": "text", "text": "here"},
            {"type": "image", "data": PIXEL, "mediaType": "image/png"},
        ],
    },
    {"role": "assistant", "content": "Oslo it is."},
    {"role": "user", "content": "Sure?"},
]


def calling_config(function_call: Any, *, strict: bool = False) -> Any:
    """The `functionCallingConfig` of a choice; None where there is none."""
    body = body_of("google", NEW, functions=FUNCTIONS, function_call=function_call, strict=strict)
    assert [item["name"] for item in body["tools"][0]["functionDeclarations"]] == [
        "get_weather",
        "ping",
    ]
    return body.get("toolConfig", {}).get("functionCallingConfig")


@pytest.mark.parametrize(
    ("function_call", "strict", "expected"),
    [
        (None, False, None),
        (None, True, {"mode": "VALIDATED"}),
        ("auto", False, {"mode": "AUTO"}),
        ("auto", True, {"mode": "VALIDATED"}),
        ("none", False, {"mode": "NONE"}),
        ("none", True, {"mode": "NONE"}),
        ("any", False, {"mode": "ANY"}),
        ("any", True, {"mode": "ANY"}),
        ("ping", False, {"mode": "ANY", "allowedFunctionNames": ["ping"]}),
        ({"name": "ping"}, True, {"mode": "ANY", "allowedFunctionNames": ["ping"]}),
        (
            {"names": ["ping", "get_weather"]},
            False,
            {"mode": "ANY", "allowedFunctionNames": ["ping", "get_weather"]},
        ),
        (
            {"names": ["ping"], "mode": "auto"},
            False,
            {"mode": "VALIDATED", "allowedFunctionNames": ["ping"]},
        ),
        (
            {"names": ["ping"], "mode": "auto"},
            True,
            {"mode": "VALIDATED", "allowedFunctionNames": ["ping"]},
        ),
    ],
)
def test_every_choice_is_native(function_call: Any, strict: bool, expected: Any) -> None:
    """Modes are spelled in capitals and all functions stay on the wire."""
    assert calling_config(function_call, strict=strict) == expected


@pytest.mark.parametrize("choice", [None, "auto", "none"])
def test_without_functions_nothing_is_said_of_them(choice: str | None) -> None:
    """No tools and no toolConfig go out where there are no functions."""
    assert body_of("google", NEW, function_call=choice) == {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}]
    }


def test_functions_are_declared_by_json_schema() -> None:
    """Parameters go out as parametersJsonSchema; a function without any has no schema at all."""
    assert body_of("google", NEW, functions=FUNCTIONS)["tools"] == [
        {
            "functionDeclarations": [
                {
                    "name": "get_weather",
                    "description": "The weather of a city",
                    "parametersJsonSchema": WEATHER["parameters"],
                },
                {"name": "ping", "description": "Ask whether it is there"},
            ]
        }
    ]


@pytest.mark.parametrize(
    "parameters", [None, {"type": "object"}, {"type": "object", "properties": {}}]
)
def test_no_parameters_look_alike_however_they_are_spelled(parameters: Any) -> None:
    """Gemini refuses an object without properties, so no schema goes out for one."""
    functions = [{"name": "ping", "parameters": parameters}]
    tools = body_of("google", NEW, functions=functions)["tools"]
    assert tools == [{"functionDeclarations": [{"name": "ping"}]}]


def test_a_host_of_the_openapi_kind_gets_parameters() -> None:
    """The `json_schema` quirk off, schemas go out as `parameters` and `responseSchema`."""
    target = target_of("google", NEW)
    old = Target(
        endpoint=target.endpoint,
        dialect=target.dialect,
        model=NEW,
        quirks=GeminiQuirks(json_schema=False),
    )
    call = make_call("Hi", functions=FUNCTIONS, json_schema=CITY_SCHEMA)
    body = json.loads(msgspec.json.encode(target.dialect.encode(old, call).body))
    weather, ping = body["tools"][0]["functionDeclarations"]
    assert set(weather) == {"name", "description", "parameters"}
    assert ping == {"name": "ping", "description": "Ask whether it is there"}
    assert set(body["generationConfig"]) == {"responseMimeType", "responseSchema"}


@pytest.mark.parametrize(("model", "name"), [(NEW, "gemini_rich"), (OLD, "gemini_rich_old")])
def test_a_rich_history(model: str, name: str) -> None:
    """Images, parallel calls, an error, an image in a result, and text after: one golden body."""
    body = body_of("google", model, RICH, functions=FUNCTIONS, function_call="auto")
    assert body == golden(name)


def test_what_a_rich_history_loses_is_said() -> None:
    """Foreign reasoning is left out; an old model's image goes out beside the results."""
    assert codes(encoded("google", NEW, RICH)) == ["reasoning_left_out"]
    assert codes(encoded("google", OLD, RICH)) == ["reasoning_left_out", "image_moved"]


def test_all_parameters() -> None:
    """Each parameter has its field in generationConfig."""
    body = body_of(
        "google",
        NEW,
        temperature=0.5,
        top_p=0.9,
        top_k=40,
        max_tokens=100,
        stop_sequences=("END",),
        seed=7,
        effort="low",
        parallel_function_calls=True,
        json_schema=CITY_SCHEMA,
    )
    assert body == golden("gemini_parameters")


@pytest.mark.parametrize(
    ("endpoint", "model", "effort", "expected"),
    [
        ("google", NEW, "minimal", {"thinkingLevel": "MINIMAL", "includeThoughts": True}),
        ("google", NEW, "xhigh", {"thinkingLevel": "XHIGH", "includeThoughts": True}),
        (
            "google",
            "gemini-3-pro-preview",
            "high",
            {"thinkingLevel": "HIGH", "includeThoughts": True},
        ),
        (
            "vertex",
            "gemini-3.1-pro",
            "medium",
            {"thinkingLevel": "MEDIUM", "includeThoughts": True},
        ),
        ("google", "some-new-model", "low", {"thinkingLevel": "LOW", "includeThoughts": True}),
        ("google", OLD, "none", {"thinkingBudget": 0, "includeThoughts": False}),
        ("google", OLD, "low", {"thinkingBudget": 1024, "includeThoughts": True}),
        ("google", "gemini-2.5-pro", "high", {"thinkingBudget": 24576, "includeThoughts": True}),
    ],
)
def test_effort_by_generation(endpoint: str, model: str, effort: str, expected: Any) -> None:
    """Gemini 3 and later take a level, 2.5 a budget."""
    body = body_of(endpoint, model, effort=effort)
    assert body["generationConfig"] == {"thinkingConfig": expected}


@pytest.mark.parametrize(
    ("endpoint", "model", "effort", "takes"),
    [
        ("google", NEW, "none", "minimal, low, medium, high, xhigh"),
        ("vertex", NEW, "xhigh", "minimal, low, medium, high"),
        ("google", "gemini-3-pro-preview", "medium", "low, high"),
        ("google", "gemini-3.1-pro-preview", "minimal", "low, medium, high"),
        ("google", "gemini-3.7-flash", "minimal", "low, medium, high"),
        ("google", "gemini-4-argon", "minimal", "low, medium, high"),
        ("google", "gemini-2.5-pro", "none", "minimal, low, medium, high"),
        ("google", OLD, "max", "none, minimal, low, medium, high"),
        ("google", "gemini-2.0-flash", "low", "no effort at all, leave it out"),
    ],
)
def test_an_effort_the_model_lacks_is_refused(
    endpoint: str, model: str, effort: str, takes: str
) -> None:
    """The error names the effort and those there are."""
    with pytest.raises(UnsupportedOptionError) as error:
        encoded(endpoint, model, effort=effort)
    assert str(error.value) == (
        f"{model} at {endpoint} cannot take effort={effort!r}; it takes {takes}."
    )


def test_one_call_at_a_time_is_refused() -> None:
    """Gemini has no such switch, and says so before any I/O."""
    with pytest.raises(UnsupportedOptionError, match="parallel_function_calls=False"):
        encoded("google", NEW, functions=FUNCTIONS, parallel_function_calls=False)


def test_a_schema_beside_functions() -> None:
    """Native on Gemini 3; before, the prompt holds it, with a warning."""
    new = encoded("google", NEW, functions=FUNCTIONS, json_schema=CITY_SCHEMA)
    assert new.body["generationConfig"] == {
        "responseMimeType": "application/json",
        "responseJsonSchema": CITY_SCHEMA,
    }
    assert codes(new) == []
    old = encoded("google", OLD, functions=FUNCTIONS, json_schema=CITY_SCHEMA)
    assert "generationConfig" not in old.body
    [part] = old.body["systemInstruction"]["parts"]
    assert json.loads(part["text"].partition("\n")[2]) == CITY_SCHEMA
    assert codes(old) == ["json_schema_emulated"]
    assert old.plan.output is not None
    assert old.plan.output.output.schema == CITY_SCHEMA


def test_a_schema_alone_is_native_on_every_model() -> None:
    """Without functions, older models are held to the schema as well."""
    alone = encoded("google", OLD, json_schema=CITY_SCHEMA)
    assert alone.body["generationConfig"]["responseJsonSchema"] == CITY_SCHEMA
    assert codes(alone) == []


@pytest.mark.parametrize(
    ("content", "response"),
    [
        ("plain", {"output": "plain"}),
        ("", {"output": ""}),
        ({"a": 1}, {"a": 1}),
        ({"error": "no"}, {"output": {"error": "no"}}),
        ({"output": 1, "b": 2}, {"output": {"output": 1, "b": 2}}),
        ([1, 2], {"output": [1, 2]}),
        ([], {"output": []}),
        (0, {"output": 0}),
        (False, {"output": False}),
        (None, {"output": None}),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], {"output": "a\nb"}),
    ],
)
def test_a_result_is_always_an_object(content: Any, response: Any) -> None:
    """Objects go out as they are unless Google's own words would change their meaning."""
    assert _response(content) == response


@pytest.mark.parametrize(
    ("content", "response"),
    [
        ("boom", {"error": "boom"}),
        ("", {"error": "the function failed"}),
        ({"code": 7}, {"error": {"code": 7}}),
    ],
)
def test_an_error_is_told_as_one(content: Any, response: Any) -> None:
    """A failed function's result stands under `error`."""
    assert _response(content, is_error=True) == response


def _response(content: Any, *, is_error: bool = False) -> Any:
    use = {"type": "function_use", "name": "ping", "input": {}, "functionId": "c"}
    messages = [
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": [use]},
        {
            "role": "function",
            "name": "ping",
            "functionId": "c",
            "content": content,
            "isError": is_error,
        },
    ]
    [part] = body_of("google", OLD, messages, functions=[PING])["contents"][-1]["parts"]
    assert set(part["functionResponse"]) == {"name", "response"}
    return part["functionResponse"]["response"]


def _turn(key: str | None, *, first: Any = None, second: Any = None, text: Any = None) -> Any:
    """A turn of a text and two calls, with what `key` keeps on them."""

    def item(fields: dict[str, Any], kept: Any) -> dict[str, Any]:
        return fields | ({} if kept is None else {"providerMetadata": {key: kept}})

    def use(city: str) -> dict[str, Any]:
        name, given = "get_weather", {"city": city}
        return {"type": "function_use", "name": name, "input": given, "functionId": city}

    content = [
        item({"type": "text", "text": "On it."}, text),
        item(use("Oslo"), first),
        item(use("Lima"), second),
    ]
    answers = [
        {"role": "function", "name": "get_weather", "functionId": city, "content": "3"}
        for city in ("Oslo", "Lima")
    ]
    return [{"role": "user", "content": "Go"}, {"role": "assistant", "content": content}, *answers]


def _model_parts(endpoint: str, model: str, messages: Any) -> list[Any]:
    body = body_of(endpoint, model, messages, functions=FUNCTIONS)
    [content] = [content for content in body["contents"] if content["role"] == "model"]
    return content["parts"]


def _signatures(parts: list[Any]) -> list[Any]:
    return [part.get("thoughtSignature") for part in parts]


PLACEHOLDER = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="


def test_own_signatures_go_back_on_the_very_part() -> None:
    """Signatures stay where they were, also on text; an unsigned sibling stays unsigned."""
    messages = _turn(
        "google", first={"thoughtSignature": "U0lH"}, text={"thoughtSignature": "VA=="}
    )
    assert _signatures(_model_parts("google", NEW, messages)) == ["VA==", "U0lH", None]
    later = _turn("google", first={"thoughtSignature": "QQ=="}, second={"thoughtSignature": "Qg=="})
    assert _signatures(_model_parts("google", NEW, later)) == [None, "QQ==", "Qg=="]


def test_an_own_turn_without_a_signature_on_the_call_is_not_touched() -> None:
    """What Gemini made goes back exactly as received."""
    messages = _turn("google", text={"thoughtSignature": "VA=="})
    assert _signatures(_model_parts("google", NEW, messages)) == ["VA==", None, None]


@pytest.mark.parametrize("key", ["vertex", "anthropic"])
def test_foreign_signatures_never_go_out(key: str) -> None:
    """A foreign turn's first call gets the documented placeholder, its sibling nothing."""
    messages = _turn(key, first={"thoughtSignature": "U0lH"}, second={"functionCall": {"id": "x"}})
    parts = _model_parts("google", NEW, messages)
    assert _signatures(parts) == [None, PLACEHOLDER, None]
    assert [part["functionCall"] for part in parts[1:]] == [
        {"name": "get_weather", "args": {"city": "Oslo"}},
        {"name": "get_weather", "args": {"city": "Lima"}},
    ]


def test_vertex_keeps_its_own() -> None:
    """The Gemini API's signatures are foreign at Vertex, and Vertex's are at home there."""
    theirs = _turn("google", first={"thoughtSignature": "U0lH"})
    assert _signatures(_model_parts("vertex", NEW, theirs)) == [None, PLACEHOLDER, None]
    ours = _turn("vertex", first={"thoughtSignature": "U0lH"})
    assert _signatures(_model_parts("vertex", NEW, ours)) == [None, "U0lH", None]


@pytest.mark.parametrize("model", [OLD, "gemini-2.0-flash", "gemma-3-27b-it"])
def test_models_before_3_need_no_placeholder(model: str) -> None:
    """They take unsigned calls, so nothing is invented for them."""
    assert _signatures(_model_parts("google", model, _turn(None))) == [None, None, None]


def test_an_id_goes_back_only_where_gemini_gave_one() -> None:
    """Call and result carry the provider's id; minted ids stay here."""
    messages = _turn("google", first={"functionCall": {"id": "g1"}})
    body = body_of("google", NEW, messages, functions=FUNCTIONS)
    assert [part["functionCall"].get("id") for part in body["contents"][1]["parts"][1:]] == [
        "g1",
        None,
    ]
    assert [part["functionResponse"] for part in body["contents"][2]["parts"]] == [
        {"id": "g1", "name": "get_weather", "response": {"output": "3"}},
        {"name": "get_weather", "response": {"output": "3"}},
    ]


def test_ids_used_again_in_a_later_turn_stay_paired() -> None:
    """Each result takes its name and id from the turn it follows."""
    use = {"type": "function_use", "functionId": "call_0", "input": {}}
    kept = {"providerMetadata": {"google": {"functionCall": {"id": "g"}}}}
    messages = [
        {"role": "user", "content": "1"},
        {"role": "assistant", "content": [use | {"name": "ping"} | kept]},
        {"role": "function", "name": "ping", "functionId": "call_0", "content": "rx"},
        {"role": "assistant", "content": [use | {"name": "get_weather"}]},
        {"role": "function", "name": "get_weather", "functionId": "call_0", "content": "ry"},
    ]
    contents = body_of("google", OLD, messages, functions=FUNCTIONS)["contents"]
    answers = [
        part["functionResponse"]
        for c in contents
        for part in c["parts"]
        if "functionResponse" in part
    ]
    assert answers == [
        {"id": "g", "name": "ping", "response": {"output": "rx"}},
        {"name": "get_weather", "response": {"output": "ry"}},
    ]


def test_carried_blocks_and_lone_signatures_go_back_verbatim() -> None:
    """Hosted tools, thoughts and empty signed texts return in place; foreign ones do not."""
    block = {"executableCode": {"language": "PYTHON", "code": "1+1"}, "thoughtSignature": "Yg=="}

    def reasoning(text: str, key: str, kept: Any) -> Any:
        return {"type": "reasoning", "text": text, "providerMetadata": {key: kept}}

    messages = [
        {"role": "user", "content": "Go"},
        {
            "role": "assistant",
            "content": [
                reasoning("Thinking.", "google", {"thought": True}),
                reasoning("", "google", {"part": block}),
                reasoning("Elsewhere.", "vertex", {"thought": True}),
                {"type": "text", "text": "2"},
                reasoning("", "google", {"thoughtSignature": "ZQ=="}),
                {"type": "refusal", "text": "No more."},
                {
                    "type": "image",
                    "data": PIXEL,
                    "mediaType": "image/png",
                    "providerMetadata": {"google": {"thoughtSignature": "aQ=="}},
                },
            ],
        },
        {"role": "user", "content": "Next"},
    ]
    assert _model_parts("google", NEW, messages) == [
        {"text": "Thinking.", "thought": True},
        block,
        {"text": "2"},
        {"text": "", "thoughtSignature": "ZQ=="},
        {"text": "No more."},
        {"inlineData": {"mimeType": "image/png", "data": PIXEL}, "thoughtSignature": "aQ=="},
    ]


@pytest.mark.parametrize(
    ("raw", "args"),
    [('{"city":"Os', {}), ('{"city":"Oslo"}', {"city": "Oslo"}), ("[1]", {})],
)
def test_a_call_that_could_not_run_goes_back_as_an_object(raw: str, args: Any) -> None:
    """Arguments are an object on this wire, whatever the model had written."""
    use = {
        "type": "function_use",
        "name": "get_weather",
        "input": {},
        "functionId": "c",
        "rawInput": raw,
        "inputError": "broken",
    }
    messages = [{"role": "user", "content": "Go"}, {"role": "assistant", "content": [use]}]
    [part] = _model_parts("google", OLD, messages)
    assert part == {"functionCall": {"name": "get_weather", "args": args}}


@pytest.mark.parametrize(
    ("image", "part"),
    [
        (
            {"url": "https://x.org/a.JPG"},
            {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://x.org/a.JPG"}},
        ),
        (
            {"url": "gs://b/o", "mediaType": "image/gif"},
            {"fileData": {"mimeType": "image/gif", "fileUri": "gs://b/o"}},
        ),
        ({"url": "https://x.org/a"}, {"fileData": {"fileUri": "https://x.org/a"}}),
        (
            {"url": "data:image/webp;base64,UklGRg=="},
            {"inlineData": {"mimeType": "image/webp", "data": "UklGRg=="}},
        ),
    ],
)
def test_images(image: Any, part: Any) -> None:
    """Bytes go inline, a URL as fileData with the type its name tells."""
    messages = [{"role": "user", "content": [{"type": "image", **image}]}]
    assert body_of("google", NEW, messages)["contents"] == [{"role": "user", "parts": [part]}]


def test_a_lone_system_message_is_the_user_turn() -> None:
    """Gemini wants a user turn; the last system message becomes it, with a warning."""
    encoding = encoded("google", NEW, [{"role": "system", "content": "Write a haiku."}])
    assert encoding.body == {"contents": [{"role": "user", "parts": [{"text": "Write a haiku."}]}]}
    assert codes(encoding) == ["system_as_user"]


def test_nothing_to_send_is_an_error() -> None:
    """A conversation without any text is refused before any I/O."""
    with pytest.raises(ConfigurationError, match="nothing to send"):
        encoded("google", NEW, [])


def test_extra_body_is_merged_at_any_depth() -> None:
    """The caller's additions win; hosted tools stand beside the functions."""
    extra = {
        "generationConfig": {"temperature": 1, "responseModalities": ["TEXT"]},
        "tools": [{"googleSearch": {}}],
        "safetySettings": [],
    }
    body = body_of("google", NEW, functions=[PING], temperature=0.1, top_k=3, extra_body=extra)
    assert body["generationConfig"] == {
        "temperature": 1,
        "topK": 3,
        "responseModalities": ["TEXT"],
    }
    assert body["tools"] == [
        {"functionDeclarations": [{"name": "ping", "description": "Ask whether it is there"}]},
        {"googleSearch": {}},
    ]
    assert body["safetySettings"] == []
    alone = body_of("google", NEW, extra_body={"tools": [{"googleSearch": {}}]})
    assert alone["tools"] == [{"googleSearch": {}}]


def test_encoding_changes_nothing_of_the_call() -> None:
    """Two encodings of one call are alike, and what was kept on parts is as before."""
    target = target_of("google", NEW)
    messages = _turn("google", first={"functionCall": {"id": "g"}, "thoughtSignature": "U0lH"})
    call = make_call(RICH[:-2] + messages, functions=FUNCTIONS, extra_body={"tools": [{"a": {}}]})
    before = msgspec.json.encode(call.messages)
    first = msgspec.json.encode(target.dialect.encode(target, call).body)
    assert msgspec.json.encode(target.dialect.encode(target, call).body) == first
    assert msgspec.json.encode(call.messages) == before


def test_support_is_told_for_every_option() -> None:
    """One call at a time is refused everywhere, effort on models that cannot think."""
    served = support(target_of("google", NEW))
    assert served == dict.fromkeys(SUPPORT_OPTIONS, "native") | {"parallel_off": "refused"}
    assert support(target_of("google", "gemini-2.0-flash"))["effort"] == "refused"


def test_a_record_can_send_more_with_every_request() -> None:
    """What an endpoint's record says for every body is under what the call says."""
    endpoint = msgspec.structs.replace(
        target_of("google", NEW).endpoint,
        body={"generationConfig": {"temperature": 0}, "labels": {"a": "b"}},
    )
    target = make_target(endpoint, NEW, {})
    body = target.dialect.encode(target, make_call("Hi", temperature=1.0, top_k=2)).body
    assert body["generationConfig"] == {"temperature": 1.0, "topK": 2}
    assert body["labels"] == {"a": "b"}
