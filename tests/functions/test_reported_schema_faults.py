"""Faults other clients had with schemas, names and arguments, from a folder of cases.

Our own small inputs for the same kinds are in the other files here.
"""

from __future__ import annotations

import copy
import json
import os
import re
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from functions import subset_rules
from functions.wires import WIRES, prepared

from llm_tools.functions.arguments import read_arguments
from llm_tools.functions.definitions import normalize_functions
from llm_tools.functions.naming import legal_names
from llm_tools.functions.preparing import prepare_functions
from llm_tools.functions.subsets import GEMINI_NAMES, NameRule

_FOLDER = os.environ.get("LLM_TOOLS_BUG_CASES")
pytestmark = pytest.mark.skipif(
    not _FOLDER, reason="LLM_TOOLS_BUG_CASES names no folder of reported faults"
)


def case(name: str) -> Any:
    """One file of the folder."""
    return json.loads((Path(_FOLDER or "") / name).read_text())


def lowered(schema: Any) -> Any:
    """Type names in lower case, and no added descriptions."""
    if isinstance(schema, list):
        return [lowered(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: value.lower() if key == "type" and isinstance(value, str) else lowered(value)
        for key, value in schema.items()
        if key != "description"
    }


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("wire", WIRES)
def test_parameters_named_like_keywords(wire: str, strict: bool) -> None:
    """They survive, at both levels, with their types, and stay required."""
    tool, expected = case("B01/tool.json"), case("B01/expected.json")
    schema = prepared(tool["parameters"], WIRES[wire], strict=strict).schema
    assert schema is not None
    assert list(schema["properties"]) == expected["property_names"]
    assert set(schema["required"]) >= set(expected["required_superset_of"])
    for name, kind in expected["property_values_keep_type"].items():
        assert kind in [item.lower() for item in subset_rules.types(schema["properties"][name])]
    nested = schema["properties"]["properties"]
    assert list(nested["properties"]) == expected["nested"]["property_names"]
    assert set(nested["required"]) >= set(expected["nested"]["required_superset_of"])


@pytest.mark.parametrize("name", ["recursive", "draft7_definitions", "self_root"])
@pytest.mark.parametrize("wire", WIRES)
def test_recursive_references(wire: str, name: str) -> None:
    """They end; where references are kept each one leads somewhere."""
    tool, expected = case(f"B02/{name}.json"), case("B02/expected.json")
    for strict in (True, False):
        schema = prepared(tool["parameters"], WIRES[wire], strict=strict).schema
        assert len(json.dumps(schema)) < expected["all_inputs"]["payload_bytes_max"]
        assert subset_rules.dangling(schema) == []
    if wire == "openapi":
        text = json.dumps(schema)
        ref_free = expected["ref_free_target_gemini_parameters"]
        assert not [key for key in ref_free["no_key_anywhere"] if f'"{key}"' in text]


def test_recursion_written_out() -> None:
    """A definition used twice is there twice, and the loop is cut to an object."""
    tool, expected = case("B02/recursive.json"), case("B02/expected.json")
    ref_free = expected["ref_free_target_gemini_parameters"]
    schema = prepared(tool["parameters"], WIRES["openapi"], strict=False).schema
    assert schema is not None
    properties = schema["properties"]
    for name in ref_free["Address_fully_expanded_at"]:
        assert set(properties[name]["properties"]) == {"street", "zip"}
    assert properties["work"]["description"] == ref_free["work_description_kept"]
    person = properties["root"]["properties"]
    assert list(person) == ref_free["Person_level_1_has"]
    assert lowered(person["reports"]["items"]) in ref_free["recursion_cut_to_one_of"]


def test_openapi_shapes() -> None:
    """Null unions, constants and enums in the one form Gemini's `parameters` takes."""
    tool, expected = case("B03/tool.json"), case("B03/expected.json")
    item = prepared(tool["parameters"], WIRES["openapi"], strict=False)
    assert item.schema is not None
    assert item.schema["required"] == expected["required"]
    for name, forms in expected["when_sent_as_parameters"].items():
        accepted = [
            lowered({key: value for key, value in form.items() if key != "_then"})
            for form in forms["any_of_these"]
        ]
        assert lowered(item.schema["properties"][name]) in accepted, name
    assert item.restore is not None
    assert item.restore({"f_int_enum": "2"}) == {"f_int_enum": 2}
    assert subset_rules.gemini_openapi(item.schema) == []


def test_no_parameters_and_arrays_without_items() -> None:
    """Every spelling of no parameters alike; items at every array."""
    tools, expected = case("B04/tools.json"), case("B04/expected.json")
    for wire, rules in WIRES.items():
        items = prepare_functions(normalize_functions(tools), rules, strict=False).items
        assert items[0].schema == items[1].schema == items[2].schema
        if wire in ("gemini", "openapi"):
            assert items[0].schema is None
        else:
            assert items[0].schema is not None
            assert items[0].schema["type"] == "object"
        rows = items[3].schema
        assert rows is not None
        for place in expected["all"]["write_rows_every_array_node_has_items"]:
            node: Any = rows["properties"]
            for step in re.findall(r"\w+", place):
                node = node[int(step)] if step.isdecimal() else node[step]
            assert "items" in node


@pytest.mark.parametrize("wire", ["openai", "groq"])
def test_strict_closes_every_object(wire: str) -> None:
    """All objects closed and fully required; what was optional is nullable, nothing else."""
    tool, expected = case("B05/tool.json"), case("B05/expected.json")
    before = copy.deepcopy(tool)
    item = prepared(tool["parameters"], WIRES[wire])
    assert tool == before
    assert item.schema == expected["one_valid_form"]
    assert (item.strict, item.validate) == (True, False)
    open_map = case("B05/open_map_tool.json")
    plain = prepared(open_map["parameters"], WIRES[wire])
    assert plain.strict is False
    assert plain.schema == open_map["parameters"]
    assert prepared(tool["parameters"], WIRES[wire], strict=False).schema == tool["parameters"]


def test_order_of_providers_does_not_matter() -> None:
    """Each wire gets the same, whichever was built before, and the caller's list is untouched."""
    tools = case("B06/tools.json")
    before = copy.deepcopy(tools)
    wires = ("openapi", "anthropic", "openai", "plain", "bedrock")
    seen: dict[str, Any] = {}
    for order in list(permutations(wires))[::7]:
        functions = normalize_functions(copy.deepcopy(tools))
        fresh = type(functions)(functions.definitions)
        for wire in (*order, *order):
            schema = prepare_functions(fresh, WIRES[wire], strict=True).items[0].schema
            assert seen.setdefault(wire, copy.deepcopy(schema)) == schema
    assert tools == before


def test_names() -> None:
    """Illegal names are told apart on every wire."""
    names, expected = case("B07/names.json"), case("B07/expected.json")
    rules = {"gemini": GEMINI_NAMES}
    for provider, pattern in expected["wire_pattern"].items():
        wire = legal_names(names, rules.get(provider, NameRule()))
        assert len(set(wire.values())) == len(names)
        assert all(re.match(pattern, item) for item in wire.values())
        for legal in ("stock_find", "dry-run", "dry_run"):
            assert wire[legal] == legal
    back = case("B07/model_calls_back.json")
    prepared_ = prepare_functions(
        normalize_functions([{"name": name} for name in names]), WIRES["plain"], strict=False
    )
    called = prepared_.by_wire_name[prepared_.wire_name(names[0])]
    assert called.definition.name == back["expected_normalized_name"]


def _arguments(body: Any) -> Any:
    (first, *_) = body["choices"][0]["message"]["tool_calls"]
    return first["function"].get("arguments")


def test_no_arguments() -> None:
    """Nothing, in any spelling, is an empty object; a placeholder in front is taken off."""
    for body in case("B16/openai_chat_bodies.json").values():
        assert read_arguments(_arguments(body), repair=True).input == {}
        assert read_arguments(_arguments(body), repair=True).error is None
    glued = _arguments(case("B16/openai_braces_glued_body.json"))
    assert read_arguments(glued, repair=True).input == {"city": "Oslo"}


def test_malformed_arguments() -> None:
    """Never a silent `{}`: an error that keeps the text, or the one right repair."""
    bodies, expected = case("B17/openai_bodies.json"), case("B17/expected.json")
    for name, body in bodies.items():
        text = _arguments(body)
        read = read_arguments(text, repair=True)
        assert read.raw == text
        if read.error is None:
            assert name in expected["may_repair"]
            assert read.input == expected["if_repaired"][name]
        else:
            assert read.input == {}
