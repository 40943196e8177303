"""Every call of the outgoing copy has exactly one result, right after its turn."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from llm_tools.content import Message, OutputResultFunctionUse, OutputResultText
from llm_tools.errors import ConfigurationError
from llm_tools.history import NOT_COMPLETED, mend


def use(name: str, function_id: str, **fields: object) -> OutputResultFunctionUse:
    return OutputResultFunctionUse(name=name, input={}, function_id=function_id, **fields)


def calls(*uses: OutputResultFunctionUse) -> Message:
    return Message(role="assistant", content=(OutputResultText(text="t"), *uses))


def result(name: str | None, function_id: str | None, content: object = "out") -> Message:
    return Message(role="function", name=name, function_id=function_id, content=content)


def missing(name: str, function_id: str) -> Message:
    return Message(
        role="function", name=name, function_id=function_id, content=NOT_COMPLETED, is_error=True
    )


USER = Message(role="user", content="go on")
SAID = Message(role="assistant", content="fine")
BOTH = calls(use("a", "c1"), use("b", "c2"))


@pytest.mark.parametrize(
    "messages",
    [
        (),
        (USER,),
        (USER, SAID, USER),
        (USER, BOTH, result("a", "c1"), result("b", "c2"), USER),
        (BOTH, result("a", "c1"), result("b", "c2"), BOTH, result("a", "c1"), result("b", "c2")),
        (calls(use("a", "c1", input_error="cut off")), result("a", "c1")),
    ],
)
def test_a_whole_history_passes_as_the_same_object(messages: tuple[Message, ...]) -> None:
    """Nothing is copied and nothing is said, strict or not; also where ids come again later."""
    for strict in (True, False):
        mended, warnings = mend(messages, strict=strict)
        assert mended is messages
        assert warnings == ()


@pytest.mark.parametrize(
    ("messages", "expected", "codes"),
    [
        pytest.param(
            (USER, BOTH, result("b", "c2"), result("a", "c1")),
            (USER, BOTH, result("a", "c1"), result("b", "c2")),
            [],
            id="results are put into call order, which loses nothing",
        ),
        pytest.param(
            (BOTH, result("b", "c2"), USER),
            (BOTH, missing("a", "c1"), result("b", "c2"), USER),
            ["call_not_completed"],
            id="a call without a result gets an error result",
        ),
        pytest.param(
            (BOTH,),
            (BOTH, missing("a", "c1"), missing("b", "c2")),
            ["call_not_completed", "call_not_completed"],
            id="a history that ends with calls is completed",
        ),
        pytest.param(
            (USER, result("z", "c9"), USER),
            (USER, USER),
            ["orphan_result"],
            id="a result without a call is left out",
        ),
        pytest.param(
            (result("a", "c1"), calls(use("a", "c1"))),
            (calls(use("a", "c1")), missing("a", "c1")),
            ["orphan_result", "call_not_completed"],
            id="a result before its call is none of it",
        ),
        pytest.param(
            (calls(use("a", "c1")), result("a", "c1", 1), result("a", "c1", 2)),
            (calls(use("a", "c1")), result("a", "c1", 1)),
            ["duplicate_result"],
            id="of two results the first counts",
        ),
        pytest.param(
            (BOTH, result("a", "c1"), USER, SAID, result("b", "c2")),
            (BOTH, result("a", "c1"), result("b", "c2"), USER, SAID),
            ["result_moved"],
            id="a late result is pulled to its turn",
        ),
        pytest.param(
            (
                calls(use("a", "c1")),
                USER,
                calls(use("a", "c1")),
                result("a", "c1", "second"),
            ),
            (
                calls(use("a", "c1")),
                missing("a", "c1"),
                USER,
                calls(use("a", "c1")),
                result("a", "c1", "second"),
            ),
            ["call_not_completed"],
            id="an id belongs to the last turn that used it",
        ),
        pytest.param(
            (
                calls(use("a", "c1"), use("b", "c1"), use("d", "c1_2")),
                result("a", "c1", 1),
                result("b", "c1", 2),
                result("d", "c1_2", 3),
            ),
            (
                calls(use("a", "c1"), use("b", "c1_3"), use("d", "c1_2")),
                result("a", "c1", 1),
                result("b", "c1_3", 2),
                result("d", "c1_2", 3),
            ),
            ["function_id_replaced"],
            id="an id used twice in a turn is told apart, by order",
        ),
        pytest.param(
            (calls(use("a", ""), use("b", "")), result("a", "", 1), result("b", None, 2)),
            (
                calls(use("a", "call_2"), use("b", "call_3")),
                result("a", "call_2", 1),
                result("b", "call_3", 2),
            ),
            ["function_id_replaced", "function_id_replaced"],
            id="an empty id is replaced",
        ),
        pytest.param(
            (calls(use("a", "c1")), result(None, "c1")),
            (calls(use("a", "c1")), result("a", "c1")),
            [],
            id="a result without a name gets its call's",
        ),
        pytest.param(
            (calls(use("a", "c1")), result("other", "c1")),
            (calls(use("a", "c1")), result("a", "c1")),
            ["result_renamed"],
            id="a result under another name gets its call's, and that is said",
        ),
        pytest.param(
            (
                calls(
                    OutputResultFunctionUse(
                        name="a", input={"x": 1}, function_id="c1", input_error="bad", raw_input="{"
                    )
                ),
                result("a", "c1"),
            ),
            (calls(use("a", "c1", input_error="bad", raw_input="{")), result("a", "c1")),
            [],
            id="a call that could not run goes out with empty input",
        ),
        pytest.param(
            (Message(role="user", content=(use("a", "c1"),)), result("a", "c1")),
            (Message(role="user", content=(use("a", "c1"),)),),
            ["orphan_result"],
            id="only assistant turns make calls",
        ),
    ],
)
def test_a_broken_history_is_mended(
    messages: tuple[Message, ...], expected: tuple[Message, ...], codes: list[str]
) -> None:
    """The copy is legal, says what was lost, and needs no second mending."""
    before = list(messages)
    mended, warnings = mend(messages, strict=False)
    assert mended == expected
    assert [warning.code for warning in warnings] == codes
    assert list(messages) == before
    again, silence = mend(mended, strict=True)
    assert again is mended
    assert silence == ()


def test_the_same_history_goes_out_alike_every_time() -> None:
    """Replaced ids are not random: a prompt cache must find them again."""
    messages = (calls(use("a", "x"), use("b", "x")), result("a", "x"), result("b", "x"))
    assert mend(messages, strict=False) == mend(messages, strict=False)


def test_strict_history_is_refused_with_its_ids() -> None:
    """The error names every id and says what to do."""
    messages = (BOTH, result("b", "c2"), result("z", "c9"))
    with pytest.raises(ConfigurationError, match=r"'c9'.*'c1'.*strict_history"):
        mend(messages, strict=True)


def test_order_alone_is_no_flaw() -> None:
    """Results in another order than the calls are put right without a word, strict or not."""
    messages = (BOTH, result("b", "c2"), result("a", "c1"))
    mended, _ = mend(messages, strict=True)
    assert mended == (BOTH, result("a", "c1"), result("b", "c2"))


def test_the_very_same_call_twice_in_a_turn_is_two_calls() -> None:
    """One object, added twice: each place gets an id and a result of its own."""
    part = OutputResultFunctionUse(name="f", input={"a": 1}, function_id="c1")
    turn = Message(role="assistant", content=(part, OutputResultText(text="and"), part))
    mended, warnings = mend((turn,), strict=False)
    first, words, second = mended[0].content
    assert (first, words) == (part, OutputResultText(text="and"))
    assert second == replace(part, function_id="c1_2")
    assert [message.function_id for message in mended[1:]] == ["c1", "c1_2"]
    assert [warning.code for warning in warnings].count("function_id_replaced") == 1
