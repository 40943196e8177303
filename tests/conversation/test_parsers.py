"""Parsers read what models write, and refuse what is not clear."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, TypedDict
from uuid import UUID

import msgspec
import pytest
from hypothesis import given, strategies as st

from llm_tools.content import OutputResult
from llm_tools.errors import ConfigurationError, ParserError
from llm_tools.parsers import create_custom_parser, create_parser


def refused(kind: Any, text: Any, **options: Any) -> str:
    with pytest.raises(ParserError) as caught:
        create_parser(kind, **options).parse(text)
    assert caught.value.text == (text if isinstance(text, str) else "")
    return str(caught.value)


def test_a_string_parser_changes_nothing() -> None:
    """The default: the text as it came, blank or not."""
    assert create_parser().parse(" a\r\n") == " a\r\n"
    assert create_parser("string").parse("") == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", True), ("True", True), ("yes", True), ("Y", True), ("1", True), ("on", True),
        ("false", False), ("No", False), ("n", False), ("0", False), ("off", False),
        ("  yes \n", True), ("**Yes**", True), ("`false`", False), ("Yes.", True), ('"no"!', False),
        ("Yes, no doubt.", True), ("No. That is true.", False), ("no - it is true", False),
        ("The answer is true.", True), ("Decision: no.", False), ("yes, true, and yes", True),
        ("It is not true", False), ("That is not  false.", True),
    ],
)  # fmt: skip
def test_a_boolean_is_found(text: str, expected: bool) -> None:
    """Alone, marked up, leading, or the only one in prose."""
    assert create_parser("boolean").parse(text) is expected


@pytest.mark.parametrize("text", ["", "maybe", "true and false", "Yesterday", "yes and no", "10"])
def test_what_is_no_clear_boolean_is_refused(text: str) -> None:
    """Nothing is guessed."""
    assert "true or false" in refused("boolean", text)


def test_an_exact_boolean_stands_alone() -> None:
    """With `match="exact"` prose is refused."""
    assert create_parser("boolean", match="exact").parse(" Yes. ") is True
    assert "nothing else" in refused("boolean", "The answer is yes", match="exact")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("42", 42), ("The answer is 42.", 42), ("-7", -7), ("+7", 7), ("\u22125", -5),
        ("3.14", 3.14), (".5", 0.5), ("-.25", -0.25), ("1e3", 1000.0), ("-2.5e2", -250.0),
        ("1,000", 1000), ("1,234,567.5", 1234567.5), ("12,34,567", 1234567),
        ("1.234.567", 1234567), ("1.234,5", 1234.5), ("1\u00a0234\u202f567", 1234567),
        ("1'234.5", 1234.5), ("1 234", None), ("1\u2009234,5", 1234.5), ("1_000", 1000),
        ("$1,200", 1200), ("42%", 42), ("10km", 10), ("GPT-4 gives 7", 7), ("v2: 5", 5),
        ("42 (forty-two, 42)", 42), ("12345678901234567890", 12345678901234567890),
        ("Total=3", 3), ("(5)", 5), ("1.50", 1.5),
    ],
)  # fmt: skip
def test_a_number_is_found(text: str, expected: float | None) -> None:
    """Thousands separators, currency, units and prose are passed over."""
    if expected is None:
        refused("number", text)
        return
    value = create_parser("number").parse(text)
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(
    "text",
    ["", "none", "from 1 to 10", "3-5", "1,2", "1.2.3", "5'10", "1e999", "1e99999999999999999999"],
)
def test_what_is_no_clear_number_is_refused(text: str) -> None:
    """Several numbers, or one that could be read in two ways."""
    refused("number", text)


def test_an_exact_number_stands_alone() -> None:
    """With `match="exact"` prose is refused."""
    assert create_parser("number", match="exact").parse(" 1,000 ") == 1000
    for text in ("$5", "5 dollars", "1 2", "1,00"):
        refused("number", text, match="exact")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("stop", "stop"), ("Go Forward.", "go forward"), ("I would turn LEFT now", "turn left"),
        ("stop, stop!", "stop"), ("forward", "forward"), ("C++ it is", "C++"),
    ],
)  # fmt: skip
def test_one_of_several_words_is_found(text: str, expected: str) -> None:
    """As a whole word, the longest first, spelled as in `enum`."""
    enum = ["stop", "forward", "go forward", "turn left", "C++", "a.b"]
    assert create_parser("string_extract", enum=enum).parse(text) == expected


def test_words_are_matched_as_asked() -> None:
    """Substrings, exact text, and case."""
    assert create_parser("string_extract", enum=["no"], match="substring").parse("nope") == "no"
    assert create_parser("string_extract", enum=("no",), match="exact").parse(" NO ") == "no"
    assert "found none" in refused("string_extract", "nope", enum=["no"])
    assert "found none" in refused("string_extract", "acb", enum=["a.b"])
    assert "found none" in refused("string_extract", "no way", enum=["no"], match="exact")
    assert "found none" in refused("string_extract", "no", enum=["No"], ignore_case=False)
    assert "found several" in refused("string_extract", "yes and no", enum=["yes", "no"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a\n- b", ["a", "b"]),
        ("* a\r\n* b\n", ["a", "b"]),
        ("\u2022 a\n\u2022 b", ["a", "b"]),
        ("1. a\n2. b\n10) c", ["a", "b", "c"]),
        ("(1) a\n(2) b", ["a", "b"]),
        ("a) x\nb) y", ["x", "y"]),
        ("- [ ] a\n- [x] b", ["a", "b"]),
        ("Sure, here:\n\n- a\n  goes on\n- b\n\nAnything else?", ["a goes on", "b"]),
        ("- a\nnot more of a\n- b", ["a", "b"]),
        ("- a\n  - b", ["a", "b"]),
        ("apple\n\nbanana", ["apple", "banana"]),
        ("Fruits:\napple\nbanana", ["apple", "banana"]),
        ("Fruits:", ["Fruits:"]),
        ("```\n- a\n- b\n```", ["a", "b"]),
        ('["a", "b", 1, true]', ["a", "b", "1", "true"]),
        ('```json\n["a"]\n```', ["a"]),
        ("a\n---\nb", ["a", "b"]),
        ("-5 degrees", ["-5 degrees"]),
        ("one line", ["one line"]),
    ],
)
def test_a_list_becomes_its_items(text: str, expected: list[str]) -> None:
    """Markers, prose around and fences are taken off."""
    assert create_parser("list_to_array").parse(text) == expected


def test_no_text_is_no_list() -> None:
    """Blank text, or rules alone."""
    for text in ("", " \n", "---"):
        assert "found no text" in refused("list_to_array", text)


def test_key_value_lines_are_kept_in_order() -> None:
    """Split at the first colon; keys may come twice; other lines are left out."""
    text = "Sure:\n- **Name:** Ada: Countess\n- Age: 36\nand so on\n- Age:\n"
    assert create_parser("list_to_key_value").parse(text) == [
        {"key": "Name", "value": "Ada: Countess"},
        {"key": "Age", "value": "36"},
        {"key": "Age", "value": ""},
    ]
    assert "found none" in refused("list_to_key_value", "nothing here\n: x")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"firstName": "Ada", "homeTown": {"zipCode": "9", "city": "X"}, "endNote": "z"}),
        (
            {"key_transform": "snake_case"},
            {"first_name": "Ada", "home_town": {"zip_code": "9", "city": "X"}, "end_note": "z"},
        ),
        (
            {"key_transform": "preserve"},
            {"First Name": "Ada", "home-town": {"zipCode": "9", "City": "X"}, "End note": "z"},
        ),
    ],
)
def test_key_value_lines_become_an_object(options: dict[str, Any], expected: Any) -> None:
    """Keys are spelled as asked, deeper lines nest."""
    text = "First Name: Ada\nhome-town:\n  - zipCode: 9\n  - City: X\nsome text\nEnd note: z"
    assert create_parser("list_to_json", **options).parse(text) == expected


def test_an_object_of_lines_can_have_a_schema() -> None:
    """Texts are read as the types it asks for, then checked."""
    schema = {
        "type": "object",
        "properties": {
            "age": {"type": "integer"},
            "zip": {"type": "string"},
            "ok": {"type": "boolean"},
            "any": True,
        },
        "required": ["age"],
    }
    parser = create_parser("list_to_json", schema=schema)
    text = "Age: 36\nZip: 01234\nOk: true\nAny: 1\nMore: 2"
    assert parser.parse(text) == {"age": 36, "zip": "01234", "ok": True, "any": "1", "more": "2"}
    assert parser.json_schema is None
    assert "/age" in refused("list_to_json", "Age: old", schema=schema)


def test_deeper_lines_have_the_types_of_the_schema_too() -> None:
    """A text stays one where a text is fine and what it could be read as is not."""
    nested = {
        "floor": {"type": "integer"},
        "zip": {"type": ["string", "null"]},
        "size": {"type": ["string", "number"]},
        "flat": {"type": ["string", "number"]},
        "gate": {"type": ["string", "null"]},
    }
    schema = {"type": "object", "properties": {"home": {"properties": nested}}}
    text = "Home:\n  Floor: 3\n  Zip: 12345\n  Size: 40\n  Flat: true\n  Gate: null\n  Any: 1"
    assert create_parser("list_to_json", schema=schema).parse(text) == {
        "home": {"floor": 3, "zip": "12345", "size": 40, "flat": "true", "gate": None, "any": "1"}
    }
    said = refused("list_to_json", "Home:\n  Floor: top", schema=schema)
    assert "/home/floor" in said


def test_keys_are_not_lost_in_an_object() -> None:
    """A key that comes twice, or no key at all, is refused."""
    assert "'age' is there twice" in refused("list_to_json", "Age: 1\nage: 2")
    assert "found none" in refused("list_to_json", "just text")


def test_a_key_of_signs_stays() -> None:
    """There is nothing to spell differently in it."""
    assert create_parser("list_to_json").parse("$$: x\n1st Key: y") == {"$$": "x", "1stKey": "y"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```python\nx = 1\n\ny\n```", ("python", "x = 1\n\ny")),
        ("Here:\n\n~~~\na\n~~~\nbye", ("", "a")),
        ("````md\n```\na\n```\n````", ("md", "```\na\n```")),
        ("  ```js title=x\n    a\n   b\n c\n  ```", ("js", "  a\n b\nc")),
        ("```js\nnever closed\n", ("js", "never closed")),
        ("```json {\"a\": 1}```", ("json", '{"a": 1}')),
        ("```x```", ("", "x")),
        ("```\n```", ("", "")),
    ],
)  # fmt: skip
def test_the_first_code_block_is_found(text: str, expected: tuple[str, str]) -> None:
    """With its language; the fence may be longer, indented, or cut off."""
    block = create_parser("markdown_code_block").parse(text)
    assert block == {"language": expected[0], "code": expected[1]}


def test_all_code_blocks_are_found() -> None:
    """In order; none is an empty list, but no first one."""
    text = "```a\n1\n```\ntext\n```b\n2\n```"
    assert create_parser("markdown_code_blocks").parse(text) == [
        {"language": "a", "code": "1"},
        {"language": "b", "code": "2"},
    ]
    assert create_parser("markdown_code_blocks").parse("```js x```\n```y```") == [
        {"language": "js", "code": "x"},
        {"language": "", "code": "y"},
    ]
    assert create_parser("markdown_code_blocks").parse("none") == []
    assert "found none" in refused("markdown_code_block", "`none`")


def test_named_places_are_filled_and_nothing_is_evaluated() -> None:
    """Only `{{ name }}` is a place; the rest of the model's text is text."""
    parser = create_parser("replace_string_template", values={"name": "{{ id }}", "id": 5})
    text = "Hi {{name}}, #{{ id }} {% x %} {{ a.b }} {{ 1 + 1 }} {id}"
    assert parser.parse(text) == "Hi {{ id }}, #5 {% x %} {{ a.b }} {{ 1 + 1 }} {id}"
    assert "'z'" in refused("replace_string_template", "{{ z }}")


class Person(msgspec.Struct, rename="camel"):
    first_name: str
    age: int


@dataclasses.dataclass
class Point:
    x: int


class Pair(TypedDict):
    a: int


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        (' \ufeff{"a": 1}\n', {"a": 1}),
        ("[1]", [1]),
        ("42", 42),
        ('"x"', "x"),
        ("null", None),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('Sure!\n```\n[1]\n```\nand\n```\nnot json\n```', [1]),
        ('The answer {"a": "}\\"{"} fits.', {"a": '}"{'}),
        ('See [1]: {"a": 1}', {"a": 1}),
        ('Only {this} and ["x"]', ["x"]),
        ('{"a": 1} or, again, {"a": 1.0}' , None),
        ('{"a": 1} or, again, { "a":1 }', {"a": 1}),
        ('{"a": 1,}', {"a": 1}),
        ("{'a': 'b'}", {"a": "b"}),
        ("```json\n{'a': 1,}\n```", {"a": 1}),
        ('{"n": 123456789012345678901234567890}', {"n": 123456789012345678901234567890}),
    ],
)  # fmt: skip
def test_json_is_found(text: str, expected: Any) -> None:
    """Alone, in a fence, among prose, with the slips that calls are mended for."""
    if text.startswith('{"a": 1} or') and expected is None:
        assert "found 2" in refused("json", text)
        return
    assert create_parser("json").parse(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "no", "NaN", '{"a": ', '{"a": "', "{" * 300_000, "[" * 9999 + "]" * 9999, '{"a": NaN}', "{}}{"],
)  # fmt: skip
def test_what_is_no_json_is_refused(text: str) -> None:
    """Quickly, however it is made."""
    if text == "{}}{":
        assert create_parser("json").parse(text) == {}
    else:
        assert "JSON" in refused("json", text)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"b": 1}',
        'Here: {"a": [1, 2], "b": {"c": 1}, "d": "and th',
        '```json\n{"items": [{"x": 1}, {"x"',
        "{'a': {'b': 1}",
        '[{"a": 1}, {"a":',
        '[["a"], ["b"]',
    ],
)
def test_a_piece_of_json_that_is_cut_off_is_no_answer(text: str) -> None:
    """What was whole inside of it was not all that the model meant to say."""
    assert "cut off" in refused("json", text)


def test_json_stands_behind_a_lone_brace() -> None:
    """One that begins no value is prose."""
    assert create_parser("json").parse('Mind the { and [: {"a": 1}') == {"a": 1}


def test_exact_json_stands_alone() -> None:
    """With `match="exact"` nothing may be around it."""
    assert create_parser("json", match="exact").parse(" [1] ") == [1]
    assert "no JSON" in refused("json", 'x {"a": 1}', match="exact")


def test_json_in_the_shape_of_a_schema() -> None:
    """Checked exactly, sets json_schema, and chooses among several values."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    parser = create_parser("json", schema=schema)
    assert parser.json_schema is schema
    assert parser.parse('{"b": 1} then {"a": 2}') == {"a": 2}
    assert "/a" in refused("json", '{"a": "2"}', schema=schema)
    assert "found 2" in refused("json", '{"a": 1} or {"a": 2}', schema=schema)
    assert create_parser("json").json_schema is None


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        (Annotated[list[str | UUID], msgspec.Meta(min_length=1)], "[]", "minItems 1"),
        (list[Annotated[str | UUID, msgspec.Meta(max_length=2)]], '["abc"]', "at /0: "),
    ],
)
def test_limits_of_what_holds_a_union_are_checked(kind: Any, text: str, said: str) -> None:
    """Also where msgspec cannot read the union itself."""
    assert said in refused("json", text, schema=kind)


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (Person, '{"firstName": "Ada", "age": 36.0}', Person(first_name="Ada", age=36)),
        (Point, "```json\n{\"x\": 1}\n```", Point(x=1)),
        (Pair, '{"a": 1}', {"a": 1}),
        (list[Point], '[{"x": 1}]', [Point(x=1)]),
    ],
)  # fmt: skip
def test_json_in_the_shape_of_a_type(kind: Any, text: str, expected: Any) -> None:
    """An instance comes back, and the type goes out as json_schema."""
    parser = create_parser("json", schema=kind)
    assert parser.json_schema is kind
    assert parser.parse(text) == expected
    assert type(parser.parse(text)) is type(expected)
    assert "Parser 'json'" in refused("json", "{}", schema=Person)


def test_a_custom_parser_is_a_function_of_the_text() -> None:
    """What it raises becomes a `ParserError` that keeps text, result and cause."""
    parser = create_custom_parser("length", len)
    assert (parser.name, parser.json_schema, parser.parse("abc")) == ("length", None, 3)
    assert repr(parser) == "<Parser 'length'>"
    result = OutputResult(id="r", name="m", created=0, usage=None, stop_reason="stop", content=())
    with pytest.raises(ParserError, match="Parser 'int': ValueError") as caught:
        create_custom_parser("int", int).parse("abc", result)
    assert caught.value.text == "abc"
    assert caught.value.result is result
    assert isinstance(caught.value.__cause__, ValueError)
    with pytest.raises(ConfigurationError, match="needs a function"):
        create_custom_parser("x", 5)


def test_only_text_is_parsed() -> None:
    """Something else is a typed error, too."""
    assert "expected text, got NoneType" in refused("number", None)


@pytest.mark.parametrize(
    ("kind", "options", "expected"),
    [
        ("numbr", {}, "Did you mean 'number'"),
        ("xyz", {}, "Known: string, boolean"),
        ("number", {"mach": "exact"}, "Did you mean 'match'"),
        ("string", {"match": "exact"}, "It takes none"),
        ("list_to_json", {"zzz": 1}, "Known: "),
        ("json", {"schema": complex}, "JSON has no word for"),
        ("number", {"match": "some"}, "'extract' or 'exact'"),
        ("string_extract", {}, "at least one"),
        ("string_extract", {"enum": "yes"}, "the strings it may return"),
        ("string_extract", {"enum": [1]}, "the strings it may return"),
        ("replace_string_template", {"values": [1]}, "by name"),
    ],
)
def test_what_no_parser_can_be_made_of_is_refused(kind: Any, options: Any, expected: str) -> None:
    """Kinds and options are checked when the parser is made."""
    with pytest.raises(ConfigurationError, match=expected):
        create_parser(kind, **options)


_EVERY = [
    create_parser(), create_parser("boolean"), create_parser("number"), create_parser("json"),
    create_parser("json", schema=Person), create_parser("list_to_array"),
    create_parser("list_to_json"), create_parser("list_to_key_value"),
    create_parser("markdown_code_block"), create_parser("markdown_code_blocks"),
    create_parser("replace_string_template"), create_parser("string_extract", enum=["a", "ß"]),
]  # fmt: skip


@given(st.text() | st.text(alphabet="{}[]\"':,-*`~ \n1.e5ayesno\\"))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    """Never another exception than `ParserError`, and the text is kept."""
    kept = []
    for parser in _EVERY:
        try:
            parser.parse(text)
        except ParserError as error:
            kept.append(error.text)
    assert set(kept) <= {text}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    )
)
def test_every_json_value_is_found_in_a_fence(value: Any) -> None:
    """Whatever the value holds, also fences and braces in its strings."""
    text = msgspec.json.encode(value).decode()
    assert create_parser("json").parse(f"Here:\n`````json\n{text}\n`````\nbye") == value


@given(st.dictionaries(st.text(), st.integers() | st.text(), min_size=1))
def test_every_object_is_found_in_prose(value: Any) -> None:
    """With words on both sides."""
    text = msgspec.json.encode(value).decode()
    assert create_parser("json").parse(f"I think {text} it is") == value


def test_values_of_a_call_fill_what_the_parsers_own_do_not() -> None:
    """An executor hands its input over; the values of the parser itself stand before them."""
    parser = create_parser("replace_string_template", values={"name": "Ada"})
    filled = parser.parse("{{ name }} {{ city }}", values={"name": "Bob", "city": "{{ name }}"})
    assert filled == "Ada {{ name }}"
    assert parser.takes_values
    assert not create_parser("string").takes_values
    assert create_parser("string").parse("{{ name }}", values={"name": "Bob"}) == "{{ name }}"
