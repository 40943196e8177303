"""Reading a model's arguments: what is taken, what is mended, and what is an error."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from llm_tools.functions.arguments import MAX_NESTING, Arguments, read_arguments
from llm_tools.functions.mending import mend_surrogates

PARIS = {"city": "Paris"}


@pytest.mark.parametrize("raw", [None, "", "  \n", "null", " null ", b"", b" ", b"null", "{}", {}])
@pytest.mark.parametrize("repair", [True, False])
def test_nothing_means_no_arguments(raw: Any, repair: bool) -> None:
    """Empty, missing and `null` are `{}`, without a note, whether or not repairs are on."""
    read = read_arguments(raw, repair=repair)
    assert (read.input, read.error, read.repairs) == ({}, None, ())


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ('{"city": "Paris"}', PARIS),
        (b'{"city": "Paris"}', PARIS),
        (bytearray(b'{"city": "Paris"}'), PARIS),
        (memoryview(b'{"city": "Paris"}'), PARIS),
        ({"city": "Paris"}, PARIS),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ('{"n": 123456789012345678901234567890}', {"n": 123456789012345678901234567890}),
        ('{"n": -9007199254740993}', {"n": -9007199254740993}),
        (r'{"s": "\ud83d\ude00 it\u0027s"}', {"s": "\U0001f600 it's"}),
        ('{"s": "```"}', {"s": "```"}),
        ('{"s": "a,}"}', {"s": "a,}"}),
    ],
)
@pytest.mark.parametrize("repair", [True, False])
def test_objects_are_exact(raw: Any, value: Any, repair: bool) -> None:
    """An object is taken as it is; of a repeated key the last one counts."""
    read = read_arguments(raw, repair=repair)
    assert (read.input, read.error, read.repairs) == (value, None, ())


FENCE = "a code fence was taken off"
GLUED = "an empty object in front was taken off"
COMMAS = "trailing commas were taken out"
QUOTES = "single quotes became double ones"
CONTROLS = "raw control characters in strings were escaped"
TWICE = "an object encoded twice was decoded twice"


@pytest.mark.parametrize(
    ("raw", "value", "repairs"),
    [
        ('```json\n{"city": "Paris"}\n```', PARIS, (FENCE,)),
        ('```\n{"city": "Paris"}\n```\n', PARIS, (FENCE,)),
        (' ```JSON {"city": "Paris"}``` ', PARIS, (FENCE,)),
        ('```{"city": "Paris"}```', PARIS, (FENCE,)),
        ('{"city": "Paris",}', PARIS, (COMMAS,)),
        ('{"l": [1, 2, ], "o": {"x": 1 , }\n}', {"l": [1, 2], "o": {"x": 1}}, (COMMAS,)),
        ("{'city': 'Paris'}", PARIS, (QUOTES,)),
        (
            """{'s': 'it\\'s "so"', "t": "it's"}""",
            {"s": 'it\'s "so"', "t": "it's"},
            (QUOTES,),
        ),
        ('{"city": "a\nb\tc"}', {"city": "a\nb\tc"}, (CONTROLS,)),
        ('"{\\"city\\": \\"Paris\\"}"', PARIS, (TWICE,)),
        ('{}{"city": "Paris"}', PARIS, (GLUED,)),
        (' {} { } {"city": "Paris"}', PARIS, (GLUED,)),
        ("{}{}", {}, (GLUED,)),
        (
            "```json\n{}{'city': 'Par\nis',}\n```",
            {"city": "Par\nis"},
            (FENCE, GLUED, COMMAS, QUOTES, CONTROLS),
        ),
        ('"```json\\n{\\"city\\": \\"Paris\\"}\\n```"', PARIS, (TWICE, FENCE)),
        ('```\n"{\\"city\\": \\"Paris\\",}"\n```', PARIS, (FENCE, TWICE, COMMAS)),
        (b"{'city': 'Paris'}", PARIS, (QUOTES,)),
    ],
)
def test_repairs(raw: Any, value: Any, repairs: tuple[str, ...]) -> None:
    """Each repair leaves a note and keeps the text; without repairs it is an error."""
    text = raw.decode() if isinstance(raw, bytes) else raw
    assert read_arguments(raw, repair=True) == Arguments(input=value, raw=text, repairs=repairs)
    unmended = read_arguments(raw, repair=False)
    assert unmended.input == {}
    assert unmended.raw == text
    assert unmended.error
    assert unmended.repairs == ()


@pytest.mark.parametrize(
    "raw",
    [
        '{"a": 1}{"b": 2}',
        '{}{"a": 1}{"b": 2}',
        '{"a": 1}{}',
        '{"city": "Paris"} thanks',
        'Sure: {"city": "Paris"}',
        '{"city": "Paris"}</parameter>',
        '```json\n{"a": 1}\n```\nDone.',
        '```json\n{"a": 1}\n```\n```json\n{"b": 2}\n```',
        '{"x": NaN}',
        '{"x": Infinity}',
        '{"x": -Infinity}',
        '{"x": 1e400}',
        '{"x": 01}',
        "{'x': True, 'y': None}",
        "{city: Paris}",
        '{"city": "Par',
        "{'city': 'Par",
        '{"city": "Par\\',
        "{'city': 'Par\\",
        '{"city"',
        "{",
        "``````",
        "```json```",
        '["oops"]',
        "[]",
        "7",
        "1.5",
        "true",
        '"Paris"',
        '""',
        '"null"',
        '"[1]"',
        '"\\"{}\\""',
        "\ufeff{}",
        "{" * 100_000,
        '{"a":' * 300 + "1" + "}" * 300,
        "[" * 3000 + "]" * 3000,
        '{"a": ' + "9" * 6000 + "}",
    ],
)
@pytest.mark.parametrize("repair", [True, False])
def test_not_usable(raw: str, repair: bool) -> None:
    """Anything else is an error, nothing is guessed, and the text is kept."""
    read = read_arguments(raw, repair=repair)
    assert read.input == {}
    assert read.raw == raw
    assert read.error
    assert read.repairs == ()


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        ("[1]", "the arguments must be a JSON object, not an array"),
        ("7", "the arguments must be a JSON object, not a number"),
        ("true", "the arguments must be a JSON object, not a boolean"),
        ('"x"', "the arguments must be a JSON object, not a string"),
        ([1], "the arguments must be a JSON object, not an array"),
        (True, "the arguments must be a JSON object, not a boolean"),
        (object(), "the arguments must be a JSON object, not some other value"),
        ({"x": float("nan")}, "the arguments hold nan, which is not JSON"),
        ({"x": [{"y": float("-inf")}]}, "the arguments hold -inf, which is not JSON"),
        ({1: 2}, "the arguments have a key that is no string"),
        ({"x": {1}}, "the arguments hold a set, which is not JSON"),
    ],
)
def test_what_the_error_says(raw: Any, error: str) -> None:
    """The error is for the model to read; a decoded value is kept as text."""
    read = read_arguments(raw, repair=True)
    assert read.error == error
    assert read.raw is not None


def test_decoded_objects_pass() -> None:
    """What a provider sends as an object is taken as it is."""
    value = {"a": [1, 1.5, None, True, "x", {"b": []}]}
    read = read_arguments(value, repair=True)
    assert read.input is value
    assert read.raw is None


def test_nesting() -> None:
    """Objects up to the limit are read, one level more is an error."""

    def nested(levels: int) -> str:
        return '{"a":' * levels + "1" + "}" * levels

    assert read_arguments(nested(MAX_NESTING), repair=True).error is None
    assert "nested" in str(read_arguments(nested(MAX_NESTING + 1), repair=True).error)
    deep: Any = 1
    for _ in range(5000):
        deep = {"a": deep}
    assert "nested" in str(read_arguments(deep, repair=True).error)
    mended = read_arguments(f"```{nested(MAX_NESTING + 1)}```", repair=True)
    assert "nested" in str(mended.error)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (r'{"s": "a\ud83d b"}', {"s": "a\ufffd b"}),
        (r'{"s": "\ude00\ud83d"}', {"s": "\ufffd\ufffd"}),
        (r'{"s": "\ud83d\ud83d\ude00"}', {"s": "\ufffd\U0001f600"}),
        (r'{"s": "\\ud83d"}', {"s": "\\ud83d"}),
        (r'{"\udfff": "\\\ud800"}', {"\ufffd": "\\\ufffd"}),
        ('{"s": "\ud800"}', {"s": "\ufffd"}),
        ('{"s": "\ud83d\ude00"}', {"s": "\U0001f600"}),
    ],
)
def test_half_characters(raw: str, value: Any) -> None:
    """Lone surrogates, escaped or not, become U+FFFD; whole pairs stay."""
    for repair in (True, False):
        read = read_arguments(raw, repair=repair)
        assert (read.input, read.error) == (value, None)
        assert read.input["s" if "s" in value else "\ufffd"]
    broken = read_arguments(raw + "x", repair=True)
    assert broken.error is not None


def test_mend_surrogates() -> None:
    """Whole bodies can be mended before they are decoded."""
    assert mend_surrogates(rb'{"a":"\ud800\\ud800\n\uDBFF\uDFFF"}') == (
        rb'{"a":"\ufffd\\ud800\n\uDBFF\uDFFF"}'
    )
    assert mend_surrogates(b'"x\\') == b'"x\\'


def test_invalid_utf8() -> None:
    """Bytes that are no text are an error."""
    for raw in (b'{"a": "\xff"}', b'{"a": "\xed\xa0\x80"}'):
        read = read_arguments(raw, repair=True)
        assert read.error == "the arguments are not valid UTF-8"
        assert read.raw is not None
        assert "\\x" in read.raw


@given(st.text() | st.binary() | st.text("{}[]'\"\\,: \n`jsonu0d8a1", max_size=40), st.booleans())
def test_any_text(raw: Any, repair: bool) -> None:
    """Any text gives an object or an error, never an exception."""
    read = read_arguments(raw, repair=repair)
    assert isinstance(read.input, dict)
    assert read.error is None or read.input == {}


@given(
    st.dictionaries(
        st.text(max_size=3), st.integers() | st.text(max_size=3) | st.none() | st.booleans()
    ),
    st.sampled_from(['{}{}', '```json\n{}\n```', '{}{}{}']),
)  # fmt: skip
def test_mended_objects_are_the_same(value: Any, frame: str) -> None:
    """A repair gives back exactly the object inside."""
    import msgspec

    text = msgspec.json.encode(value).decode()
    framed = (
        frame.replace("{}", "\0", frame.count("{}") - 1).replace("{}", text).replace("\0", "{}")
    )
    framed = f"```json\n{text}\n```" if "`" in frame else framed
    read = read_arguments(framed, repair=True)
    assert (read.input, read.error) == (value, None)


@pytest.mark.parametrize(
    "raw",
    [
        '{"a": "' + '\\"' * 200_000,
        "{'a': '" + "\\'" * 200_000,
        "{" + ",  " * 200_000,
        "```" + " " * 400_000,
        "{} " * 200_000,
        "{}" + " " * 400_000 + "x",
        '{"a": "' + "\n" * 200_000 + '",}',
        "'" * 200_000,
        "\\ud800" * 100_000,
    ],
)
def test_time_is_linear(raw: str) -> None:
    """Nothing a model writes takes long to read; quadratic work would run into the timeout."""
    read = read_arguments(raw, repair=True)
    assert read.raw == raw
