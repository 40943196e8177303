"""Schemas that other clients damaged on their way out."""

from __future__ import annotations

import itertools
import json
import threading
from copy import deepcopy
from typing import Any

import pytest
from bugs.handed import (
    PROVIDERS,
    answer,
    at,
    body_of,
    handed,
    history,
    kinds,
    load,
    model,
    parameters,
    schemas,
)

from llm_tools import ConfigurationError, register_endpoint, registry, use_llm
from llm_tools.spec import Endpoint, NoAuth
from llm_tools.testing import ScriptedTransport

BOTH = pytest.mark.parametrize("strict", [False, True])
EVERYWHERE = pytest.mark.parametrize("provider", PROVIDERS)


def schema_of(provider: str, tool: dict[str, Any], **request: Any) -> Any:
    """The schema one function goes out with."""
    return next(iter(parameters(body_of(provider, functions=[tool], **request)).values()))


# ---------------------------------------------------------------- parameters named like keywords


@handed
@BOTH
@EVERYWHERE
def test_parameters_named_like_keywords_survive(provider: str, strict: bool) -> None:
    """All eight names are there at both levels, with their types, and are still required."""
    tool, expected = load("B01/tool.json"), load("B01/expected.json")
    schema = schema_of(provider, tool, function_call_strict_input=strict)
    assert set(schema["properties"]) == set(expected["property_names"])
    assert set(schema["required"]) >= set(expected["required_superset_of"])
    assert set(schema["required"]) <= set(schema["properties"])
    for name, kind in expected["property_values_keep_type"].items():
        assert kind in kinds(at(schema, name)), name
    nested = at(schema, expected["nested"]["path"].removeprefix("properties."))
    assert set(nested["properties"]) == set(expected["nested"]["property_names"])
    assert set(nested["required"]) >= set(expected["nested"]["required_superset_of"])


AWKWARD_NAMES = [
    "anyOf", "items", "enum", "const", "not", "if", "allOf", "oneOf", "definitions", "nullable",
    "description", "examples", "minimum", "strict", "name", "parameters", "prefixItems", "id",
]  # fmt: skip


@BOTH
@EVERYWHERE
def test_any_keyword_may_be_a_name(provider: str, strict: bool) -> None:
    """In objects, in items of arrays, in branches of unions and in definitions."""
    inner = {
        "type": "object",
        "properties": {name: {"type": "string", "title": "T"} for name in AWKWARD_NAMES},
        "required": AWKWARD_NAMES,
    }
    tool = {
        "name": "f",
        "parameters": {
            **inner,
            "properties": {
                **inner["properties"],  # type: ignore[dict-item]
                "properties": inner,
                "type": {"type": "array", "items": inner},
                "default": {"anyOf": [inner, {"type": "null"}]},
                "title": {"$ref": "#/$defs/required"},
            },
            "$defs": {"required": inner},
        },
    }
    schema = schema_of(provider, tool, function_call_strict_input=strict)
    for path in ("", "properties", "type.items", "default", "title"):
        found = at(schema, path)
        assert set(AWKWARD_NAMES) <= set(found["properties"]), path
        assert set(AWKWARD_NAMES) <= set(found["required"]), path


@pytest.mark.anyio
@EVERYWHERE
async def test_names_that_are_illegal_there_come_back(provider: str) -> None:
    """A property `$ref` or `naïve key` is called on the wire what is legal, and comes back."""
    tool = {
        "name": "f",
        "parameters": {
            "type": "object",
            "properties": {"$ref": {"type": "string"}, "naïve key": {"type": "integer"}},
            "required": ["$ref"],
        },
    }
    schema = schema_of(provider, tool)
    assert len(schema["properties"]) == 2
    first, second = schema["properties"]
    assert schema["required"] == [first]
    if provider.startswith("openai"):
        assert (first, second) == ("$ref", "naïve key")
    if provider != "anthropic":
        return
    reply = {
        "id": "m",
        "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {first: "a", second: 1}}],
    }
    result = await answer(provider, reply, functions=[tool])
    assert result.function_calls[0].input == {"$ref": "a", "naïve key": 1}


# ---------------------------------------------------------------- recursion

REF_FREE = ("ollama", "ollama_v1")


def resolves(schema: Any) -> bool:
    """Whether every reference leads somewhere inside."""
    for inner in schemas(schema):
        if "$ref" in inner:
            place = schema
            for step in inner["$ref"].removeprefix("#").strip("/").split("/"):
                place = place[step] if step else place
    return True


@handed
@BOTH
@EVERYWHERE
@pytest.mark.parametrize("name", ["recursive", "draft7_definitions", "self_root"])
def test_recursive_schemas_end(provider: str, name: str, strict: bool) -> None:
    """Conversion ends, stays small, and every reference that remains leads somewhere."""
    expected = load("B02/expected.json")
    body = body_of(
        provider, functions=[load(f"B02/{name}.json")], function_call_strict_input=strict
    )
    assert len(json.dumps(body)) <= expected["all_inputs"]["payload_bytes_max"]
    (schema,) = parameters(body).values()
    assert resolves(schema)
    if provider in REF_FREE:
        text = json.dumps(schema)
        for key in expected["ref_free_target_gemini_parameters"]["no_key_anywhere"]:
            assert f'"{key}"' not in text


@handed
@pytest.mark.parametrize("provider", [*REF_FREE, "openapi"])
def test_what_is_used_twice_is_written_out_twice(provider: str) -> None:
    """Where references are not taken, only the loop is cut; words beside a reference stay."""
    tool, expected = load("B02/recursive.json"), load("B02/expected.json")
    rule = expected["ref_free_target_gemini_parameters"]
    if provider == "openapi":
        schema = openapi_parameters([tool])["file_org"]
    else:
        schema = schema_of(provider, tool)
    for name in rule["Address_fully_expanded_at"]:
        assert set(at(schema, name)["properties"]) == {"street", "zip"}
    assert schema["properties"]["work"]["description"] == rule["work_description_kept"]
    assert set(at(schema, "root")["properties"]) == set(rule["Person_level_1_has"])


OPENAPI = Endpoint(
    key="openapi",
    dialect="gemini",
    base_url="https://gemini.example/v1",
    auth=NoAuth(),
    quirks={"json_schema": False},
)
"""A host that takes functions in Gemini's OpenAPI terms."""


@pytest.fixture(autouse=True)
def openapi(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registered for one test."""
    registry.list_endpoints()
    monkeypatch.setattr(registry, "_endpoints", dict(registry._endpoints))
    register_endpoint(OPENAPI)


def openapi_parameters(tools: list[dict[str, Any]]) -> dict[str, Any]:
    """The schemas in OpenAPI terms."""
    return parameters(use_llm("openapi.x").build_request("Hi", functions=tools).body)


RECURSIONS: dict[str, dict[str, Any]] = {
    "through allOf": {
        "type": "object",
        "properties": {"n": {"$ref": "#/$defs/N"}},
        "$defs": {
            "N": {
                "allOf": [
                    {"type": "object", "properties": {"v": {"type": "integer"}}},
                    {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}},
                ]
            }
        },
    },
    "through a map": {
        "type": "object",
        "properties": {"t": {"$ref": "#/$defs/T"}},
        "$defs": {"T": {"type": "object", "additionalProperties": {"$ref": "#/$defs/T"}}},
    },
    "three in a ring": {
        "type": "object",
        "properties": {"a": {"$ref": "#/definitions/A"}},
        "definitions": {
            "A": {"type": "object", "properties": {"b": {"$ref": "#/definitions/B"}}},
            "B": {"type": "array", "items": {"$ref": "#/definitions/C"}},
            "C": {"anyOf": [{"$ref": "#/definitions/A"}, {"type": "null"}]},
        },
    },
    "the root by its properties": {
        "type": "object",
        "properties": {
            "a": {"type": "object", "properties": {"x": {"$ref": "#/properties/a"}}},
            "b": {"$ref": "#/properties/a/properties/x"},
        },
    },
    "required of itself": {
        "type": "object",
        "properties": {"n": {"$ref": "#/$defs/N"}},
        "required": ["n"],
        "$defs": {
            "N": {"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}}, "required": ["n"]}
        },
    },
    "names that are escaped": {
        "type": "object",
        "properties": {"n": {"$ref": "#/$defs/a~1b%20c"}},
        "$defs": {"a/b c": {"type": "object", "properties": {"n": {"$ref": "#/$defs/a~1b%20c"}}}},
    },
}


@BOTH
@EVERYWHERE
@pytest.mark.parametrize("name", RECURSIONS)
def test_rings_of_every_shape_end(provider: str, name: str, strict: bool) -> None:
    """Wherever the loop runs, the body is small and legal JSON."""
    tool = {"name": "f", "parameters": RECURSIONS[name]}
    body = body_of(provider, functions=[tool], function_call_strict_input=strict)
    assert len(json.dumps(body)) <= 65536
    if provider in REF_FREE:
        assert not any("$ref" in inner for inner in schemas(parameters(body)["f"]))


def test_a_ring_without_a_schema_in_it_is_refused() -> None:
    """References that lead to each other alone mean nothing; the error says where they are."""
    ring = {
        "type": "object",
        "properties": {"n": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}},
    }
    for provider in PROVIDERS:
        with pytest.raises(ConfigurationError, match=r"leads back to itself"):
            body_of(provider, functions=[{"name": "f", "parameters": ring}])


def test_what_branches_is_not_written_out_without_end() -> None:
    """Definitions that use the next one several times grow by powers if they are written out."""
    definitions = {
        f"D{n}": {
            "type": "object",
            "properties": {f"p{i}": {"$ref": f"#/$defs/D{n + 1}"} for i in range(4)},
        }
        for n in range(12)
    }
    tool = {
        "name": "f",
        "parameters": {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/D0"}},
            "$defs": {**definitions, "D12": {"type": "string"}},
        },
    }
    for provider in PROVIDERS:
        assert len(json.dumps(body_of(provider, functions=[tool]))) < 1_000_000


# ---------------------------------------------------------------- nulls, constants and enums


def alike(found: Any, wanted: Any) -> bool:
    """Equal but for the case of type names, descriptions, and titles."""
    if isinstance(wanted, dict):
        kept = {key: value for key, value in found.items() if key not in ("description", "title")}
        wanted = {key: value for key, value in wanted.items() if not key.startswith("_")}
        return kept.keys() == wanted.keys() and all(
            kept[key].lower() == wanted[key].lower()
            if key == "type"
            else alike(kept[key], wanted[key])
            for key in wanted
        )
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(alike, found, wanted))
    return bool(found == wanted)


@handed
def test_openapi_terms_of_nulls_constants_and_enums() -> None:
    """`parameters` holds what Gemini's own Schema has words for, and nothing else."""
    tool, expected = load("B03/tool.json"), load("B03/expected.json")
    schema = openapi_parameters([tool])["probe"]
    for name, forms in expected["when_sent_as_parameters"].items():
        found = schema["properties"][name]
        assert any(alike(found, form) for form in forms["any_of_these"]), (name, found)
    assert schema["required"] == expected["required"]
    for inner in schemas(schema):
        assert not isinstance(inner.get("type"), list)
        assert "const" not in inner
        assert all(isinstance(value, str) for value in inner.get("enum", []))
        assert ("items" in inner) == (kinds(inner) == {"array"})


@handed
@BOTH
@pytest.mark.parametrize("provider", ["gemini", "gemini_old", "vertex", "gemini_compat"])
def test_json_schema_terms_at_gemini(provider: str, strict: bool) -> None:
    """`parametersJsonSchema` may hold the original, without `parameters` beside it."""
    tool = load("B03/tool.json")
    body = body_of(provider, functions=[tool], function_call_strict_input=strict)
    (schema,) = parameters(body).values()
    assert set(schema["properties"]) == set(tool["parameters"]["properties"])
    assert '"parameters": ' not in json.dumps(body) or provider == "gemini_compat"
    assert "$schema" not in json.dumps(body)
    assert schema["required"] == ["a_type_list", "c_nullable_array"]


@pytest.mark.anyio
async def test_numbers_sent_as_text_come_back_as_numbers() -> None:
    """An integer enum may be text on the wire; the function still gets the integer."""
    tool = {
        "name": "pick",
        "parameters": {
            "type": "object",
            "properties": {
                "size": {"type": "integer", "enum": [1, 2, 4]},
                "sizes": {"type": "array", "items": {"type": "integer", "enum": [1, 2]}},
                "word": {"type": "string", "enum": ["1", "2"]},
            },
        },
    }
    args = {"size": "2", "sizes": ["1", "2"], "word": "2"}
    part = {"functionCall": {"name": "pick", "args": args}}
    wire = ScriptedTransport(
        [{"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}]
    )
    result = await use_llm("openapi.x", transport=wire).call("Hi", functions=[tool])
    assert result.function_calls[0].input == {"size": 2, "sizes": [1, 2], "word": "2"}


# ---------------------------------------------------------------- no parameters, no items


@handed
@EVERYWHERE
def test_functions_without_parameters(provider: str) -> None:
    """The three spellings of nothing go out alike, in the form the provider takes."""
    tools, expected = load("B04/tools.json"), load("B04/expected.json")
    found = parameters(body_of(provider, functions=tools))
    ping = found["ping"]
    assert found["list_cameras"] == found["refresh"] == ping
    if provider in ("gemini", "gemini_old", "vertex"):
        assert ping is None
    else:
        assert ping["type"] == expected["anthropic"]["no_arg_tools"]["input_schema"]["type"]
        assert ping.get("properties", {}) == {}
    assert '"parameters": null' not in json.dumps(body_of(provider, functions=tools))


@handed
@BOTH
@EVERYWHERE
def test_arrays_have_items(provider: str, strict: bool) -> None:
    """Plain ones, nested ones, those in a union, and tuples."""
    tools, expected = load("B04/tools.json"), load("B04/expected.json")
    body = body_of(provider, functions=tools, function_call_strict_input=strict)
    schema = parameters(body)["write_rows"]
    for inner in schemas(schema):
        if "array" in kinds(inner):
            assert "items" in inner, inner
    paths = expected["all"]["write_rows_every_array_node_has_items"]
    assert {path.split(".")[0].split("[")[0] for path in paths} == set(schema["properties"])


NOTHING: list[Any] = [
    None,
    {},
    {"type": "object"},
    {"type": "object", "properties": {}},
    {"type": "object", "properties": {}, "required": []},
    {
        "type": "object",
        "properties": {},
        "title": "PingArgs",
        "$schema": "https://json-schema.org/",
    },
]


@BOTH
@EVERYWHERE
def test_every_spelling_of_nothing_goes_out_alike(provider: str, strict: bool) -> None:
    """However a function says that it takes nothing, the wire gets the same form."""
    tools = [
        {"name": f"f{n}", **({} if nothing is None else {"parameters": nothing})}
        for n, nothing in enumerate(NOTHING)
    ]
    found = parameters(body_of(provider, functions=tools, function_call_strict_input=strict))
    first, *others = found.values()
    assert all(other == first for other in others), found


@BOTH
@EVERYWHERE
def test_arrays_without_items_anywhere(provider: str, strict: bool) -> None:
    """In definitions, in items, in maps and in lists of types as well."""
    tool = {
        "name": "f",
        "parameters": {
            "type": "object",
            "properties": {
                "a": {"type": ["array", "null"]},
                "b": {"$ref": "#/$defs/L"},
                "c": {"type": "array", "items": {"anyOf": [{"type": "array"}, {"type": "string"}]}},
                "d": {"type": "object", "properties": {"e": {"type": "array", "items": True}}},
                "g": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}]},
            },
            "$defs": {"L": {"type": "array"}},
        },
    }
    (schema,) = parameters(
        body_of(provider, functions=[tool], function_call_strict_input=strict)
    ).values()
    for inner in schemas(schema):
        if "array" in kinds(inner):
            assert isinstance(inner.get("items"), dict | bool), inner


# ---------------------------------------------------------------- strict


@handed
@pytest.mark.parametrize("provider", ["openai_chat", "openai_responses", "azure", "groq"])
def test_strict_closes_and_requires_every_object(provider: str) -> None:
    """At every depth; what was optional is nullable, what was required is not."""
    tool, expected = load("B05/tool.json"), load("B05/expected.json")
    before = deepcopy(tool)
    schema = schema_of(provider, tool, function_call_strict_input=True)
    assert schema == expected["one_valid_form"] or all_closed(schema)
    for path in expected["now_nullable"]:
        assert nullable(schema, path), path
    for path in expected["stay_not_nullable"]:
        assert not nullable(schema, path), path
    assert tool == before
    plain = schema_of(provider, tool, function_call_strict_input=False)
    assert plain == tool["parameters"]


def all_closed(schema: Any) -> bool:
    """Whether every object is closed and requires all it has."""
    return all(
        inner.get("additionalProperties") is False
        and set(inner.get("required", [])) == set(inner.get("properties", {}))
        for inner in schemas(schema)
        if "object" in kinds(inner)
    )


def nullable(schema: Any, path: str) -> bool:
    """Whether the value at a path may be null, `enum` included."""
    place: Any = schema
    for step in path.replace("anyOf[0]", "anyOf").split("."):
        if step == "anyOf":
            place = place["anyOf"][0]
        elif step == "$defs":
            place = place["$defs"]
        elif isinstance(place, dict) and step in place.get("properties", {}):
            place = place["properties"][step]
        else:
            place = place[step]
    branches = [place, *place.get("anyOf", [])]
    allows = any("null" in kinds(branch) for branch in branches)
    return allows and all(None in b["enum"] for b in branches[:1] if "enum" in b)


@handed
@EVERYWHERE
def test_an_open_map_is_never_closed(provider: str) -> None:
    """It goes out plain, to be validated here, with a warning; its values keep their type."""
    tool = load("B05/open_map_tool.json")
    request = model(provider).build_request("Hi", functions=[tool], function_call_strict_input=True)
    (schema,) = parameters(request.body).values()
    labels = at(schema, "labels")
    assert labels.get("additionalProperties") is not False
    assert not labels.get("properties")
    codes = {warning.code for warning in request.warnings}
    if provider not in ("gemini", "gemini_old", "vertex", "vllm"):  # these hold a map to its type
        assert codes & {"strict_unavailable", "strict_emulated"}


@pytest.mark.anyio
@pytest.mark.parametrize("provider", ["openai_chat", "groq", "deepseek"])
async def test_invented_nulls_vanish_at_every_depth(provider: str) -> None:
    """The function gets what the caller's schema says, whatever the wire's had to say."""
    tool = {
        "name": "store",
        "parameters": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "note": {"type": ["string", "null"]},
                "size": {"type": "integer"},
                "address": {
                    "type": "object",
                    "properties": {"street": {"type": "string"}, "unit": {"type": "integer"}},
                    "required": ["street"],
                },
                "tags": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"k": {"type": "string"}}},
                },
                "shape": {
                    "anyOf": [
                        {"type": "object", "properties": {"r": {"type": "number"}}},
                        {"type": "null"},
                    ]
                },
            },
            "required": ["name", "shape"],
        },
    }
    sent = {
        "name": "x", "note": None, "size": None, "address": {"street": "s", "unit": None},
        "tags": [{"k": None}, {"k": "v"}], "shape": {"r": None},
    }  # fmt: skip
    call = {"id": "c1", "type": "function"}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{**call, "function": {"name": "store", "arguments": json.dumps(sent)}}],
    }
    reply = {
        "id": "x",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
    }
    result = await answer(provider, reply, functions=[tool], function_call_strict_input=True)
    (use,) = result.function_calls
    assert use.input_error is None
    assert use.input == {
        "name": "x", "note": None, "address": {"street": "s"}, "tags": [{}, {"k": "v"}],
        "shape": {},
    }  # fmt: skip


# ---------------------------------------------------------------- the caller's objects


@handed
def test_the_callers_objects_stay_as_they_are() -> None:
    """Whatever was built before, and by whom at the same time."""
    tools, said = load("B06/tools.json"), history(load("B06/history.json"))
    check_untouched(tools, said, ["gemini", "anthropic", "openai_chat", "bedrock_converse"])


def check_untouched(tools: list[Any], said: list[Any], providers: list[str]) -> None:
    """Bodies do not depend on each other, and share nothing with what they were made of."""
    before = deepcopy((tools, said))

    def build(provider: str, strict: bool) -> Any:
        return body_of(provider, said, functions=tools, function_call_strict_input=strict)

    first = {(p, s): build(p, s) for p in providers for s in (False, True)}
    for order in itertools.permutations(providers):
        for provider in order:
            for strict in (True, False):
                assert build(provider, strict) == first[provider, strict]
    seen: list[Any] = []
    threads = [
        threading.Thread(target=lambda p=p: seen.append((p, build(p, True)))) for p in providers * 4
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == len(threads)
    assert all(body == first[provider, True] for provider, body in seen)
    scribble(first)
    assert (tools, said) == before
    assert build(providers[0], False) != first[providers[0], False]


def scribble(value: Any) -> None:
    """Change everything that can be changed."""
    if isinstance(value, dict):
        for inner in value.values():
            scribble(inner)
        value["scribbled"] = True
    elif isinstance(value, list):
        for inner in value:
            scribble(inner)
        value.append("scribbled")


def test_nothing_of_the_callers_is_kept_or_changed() -> None:
    """Nested schemas, shared parts, results that are objects, and images."""
    shared = {"type": "object", "properties": {"x": {"type": ["number", "null"], "default": None}}}
    tools = [
        {
            "name": "plot the.points",
            "parameters": {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "type": "object",
                "properties": {"from": shared, "to": shared, "kind": {"const": "line"}},
                "required": ["from"],
                "additionalProperties": False,
            },
        },
        {"type": "function", "function": {"name": "ping", "parameters": shared, "strict": None}},
    ]
    said = [
        {"role": "user", "content": [{"type": "text", "text": "Plot."}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Now."},
                {
                    "type": "function_use",
                    "name": "plot the.points",
                    "input": {"from": {"x": 1}},
                    "functionId": "an id",
                },
            ],
        },
        {
            "role": "function",
            "name": "plot the.points",
            "functionId": "an id",
            "content": {"done": [1, {"deep": None}]},
        },
    ]
    check_untouched(tools, said, ["openai_chat", "mistral", "gemini", "ollama"])


def test_a_changed_list_is_a_new_list() -> None:
    """The cache goes by content: what the caller edits between two calls goes out edited."""
    tool: dict[str, Any] = {
        "name": "f",
        "parameters": {"type": "object", "properties": {"a": {"type": "string"}}},
    }
    llm = model("openai_chat")
    first = llm.build_request("Hi", functions=[tool]).body
    tool["parameters"]["properties"]["b"] = {"type": "integer"}
    second = llm.build_request("Hi", functions=[tool]).body
    assert set(parameters(first)["f"]["properties"]) == {"a"}
    assert set(parameters(second)["f"]["properties"]) == {"a", "b"}
