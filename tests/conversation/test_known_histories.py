"""A conversation that grew is rendered from where it was known, and goes out as if it never was."""

from __future__ import annotations

import copy
import gc
import threading
from typing import Any

import msgspec
import pytest
from conversation.test_every_wire import AIMS, build, cut_histories
from hypothesis import given, settings, strategies as st
from matrix.scenes import Aim

from llm_tools import (
    ConfigurationError,
    Dialogue,
    Llm,
    Message,
    OutputResultFunctionUse,
    OutputResultText,
    UnsupportedOptionError,
    remembering,
    use_llm,
)
from llm_tools.history import known

FUNCTIONS = [{"name": "f"}, {"name": "no legal.name"}, {"name": "get_weather"}, {"name": "ping"}]
LLMS = {str(aim): aim.llm() for aim in AIMS}


def said(llm: Llm, messages: Any, **options: Any) -> Any:
    """What goes out, or why nothing does."""
    try:
        request = llm.build_request(messages, **{"functions": FUNCTIONS, **options})
    except (ConfigurationError, UnsupportedOptionError) as error:
        return type(error), str(error)
    return msgspec.json.encode(request.body), request.warnings


def unknown(llm: Llm, messages: Any, **options: Any) -> Any:
    """What goes out where nothing was ever sent before."""
    kept, known._histories = known._histories, known._Histories()
    try:
        return said(llm, messages, **options)
    finally:
        known._histories = kept


def use(number: int, **given: Any) -> OutputResultFunctionUse:
    return OutputResultFunctionUse(name="f", input=given, function_id=f"call{number:05d}")


def rounds(count: int) -> list[Message]:
    """A system message, a question, and rounds of call, result, answer and question."""
    messages = [
        Message(role="system", content="Be brief."),
        Message(role="user", content="Begin."),
    ]
    for number in range(count):
        messages += [
            Message(role="assistant", content=(use(number, n=number),)),
            Message(
                role="function", content={"n": number}, name="f", function_id=f"call{number:05d}"
            ),
            Message(role="assistant", content=(OutputResultText(text=f"It is {number}."),)),
            Message(role="user", content=f"And {number + 1}?"),
        ]
    return messages


@pytest.fixture(autouse=True)
def none_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test begins with nothing known."""
    monkeypatch.setattr(known, "_histories", known._Histories())


@pytest.mark.parametrize("aim", AIMS, ids=str)
def test_every_beginning_goes_out_as_if_it_were_the_first(aim: Aim) -> None:
    """Sent after each message, with one and the same model, as an agent does."""
    llm, messages = LLMS[str(aim)], rounds(4)
    for end in range(2, len(messages) + 1):
        assert said(llm, messages[:end]) == unknown(llm, messages[:end])
    assert said(llm, messages) == unknown(llm, messages)


@pytest.mark.parametrize("aim", AIMS, ids=str)
@settings(max_examples=25, deadline=None)
@given(cut_histories(), st.lists(st.integers(1, 4), max_size=6))
def test_whatever_grows_goes_out_as_if_it_were_the_first(
    aim: Aim, dialogue: Dialogue, steps: list[int]
) -> None:
    """Broken histories, several providers' blocks, in steps of any size."""
    llm, history, end = LLMS[str(aim)], dialogue.history, 0
    for step in [*steps, len(history)]:
        end = min(end + step, len(history))
        assert said(llm, history[:end]) == unknown(llm, history[:end])


@pytest.mark.parametrize("aim", AIMS, ids=str)
def test_a_turn_goes_on_across_system_messages(aim: Aim) -> None:
    """Two assistant turns are one where the system messages between them go elsewhere."""
    llm = LLMS[str(aim)]
    messages = [
        Message(role="user", content="Begin."),
        Message(role="assistant", content="One."),
        Message(role="system", content="Be brief."),
        Message(role="system", content="Go on."),
        Message(role="assistant", content="Two."),
        Message(role="user", content="And?"),
    ]
    for end in range(1, len(messages) + 1):
        assert said(llm, messages[:end]) == unknown(llm, messages[:end])


@pytest.mark.parametrize("form", ["structs", "dicts"])
@pytest.mark.parametrize("aim", AIMS, ids=str)
def test_what_is_known_is_not_rendered_again(aim: Aim, form: str) -> None:
    """Of a long conversation only the end costs anything, in either form."""
    llm = LLMS[str(aim)]
    messages: list[Any] = rounds(100)
    if form == "dicts":
        messages = [msgspec.to_builtins(message) for message in messages]
    said(llm, messages[:-4])
    elements: list[int] = []
    encoded = remembering._encoded
    patch = pytest.MonkeyPatch()
    patch.setattr(
        remembering,
        "_encoded",
        lambda fresh, *more: elements.append(len(fresh.elements)) or encoded(fresh, *more),
    )
    assert messages_read(lambda: said(llm, messages)) == 4
    assert messages_read(lambda: said(llm, messages)) == 0
    patch.undo()
    assert elements == [4]


def messages_read(work: Any) -> int:
    """How many messages are looked at one by one."""
    read: list[int] = []
    original = known.read_list

    def counting(given: Any, start: int = 0) -> Any:
        read.append(len(given))
        return original(given, start)

    patch = pytest.MonkeyPatch()
    patch.setattr(known, "read_list", counting)
    patch.setattr(known, "read_messages", lambda given: counting(given))
    work()
    patch.undo()
    return sum(read)


CHANGES: dict[str, Any] = {
    "an input": lambda messages: messages[2].content[0].input.update(n=True),
    "an input's inside": lambda messages: (
        messages[6].content[0].input.setdefault("x", []).append(1)
    ),
    "a result": lambda messages: messages[3].content.update(n=1.0),
    "metadata": lambda messages: messages[2].content[0].provider_metadata["x"].update(y=1),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_behind_a_struct_is_seen(change: str) -> None:
    """Structs are frozen, what they hold is not; 1, 1.0 and true are different things."""
    llm, messages = LLMS[str(AIMS[0])], rounds(3)
    messages[2] = Message(
        role="assistant",
        content=(
            OutputResultFunctionUse(
                name="f",
                input={"n": 1},
                function_id="call00000",
                provider_metadata={"x": {"y": 0}},
            ),
        ),
    )
    for _ in range(2):
        said(llm, messages)
    CHANGES[change](messages)
    assert said(llm, messages) == unknown(llm, messages)
    assert said(llm, [*messages, *rounds(1)[2:3]]) == unknown(llm, [*messages, *rounds(1)[2:3]])


def test_what_changes_in_dicts_is_seen() -> None:
    """A caller may write over the messages it sent."""
    llm = LLMS[str(AIMS[0])]
    messages = [msgspec.to_builtins(message) for message in rounds(3)]
    said(llm, messages)
    messages[1]["content"] = "Begin again."
    messages[2]["content"][0]["input"]["n"] = True
    assert b"Begin again." in said(llm, messages)[0]
    assert said(llm, messages) == unknown(llm, messages)


def test_dicts_made_anew_are_known_by_what_they_say() -> None:
    """As an application makes them that reads its conversation from a database."""
    llm = LLMS[str(AIMS[0])]
    messages = [msgspec.to_builtins(message) for message in rounds(50)]
    said(llm, messages[:-4])
    anew = copy.deepcopy(messages)
    assert messages_read(lambda: said(llm, anew)) == 4
    assert said(llm, anew) == unknown(llm, anew)


def test_structs_made_anew_are_known_by_what_they_say() -> None:
    """As a prompt makes them that is formatted for each call."""
    llm, messages = LLMS[str(AIMS[0])], rounds(50)
    said(llm, messages[:-4])
    anew = copy.deepcopy(messages)
    assert messages_read(lambda: said(llm, anew)) == 4
    assert said(llm, anew) == unknown(llm, anew)


def test_functions_choice_and_model_are_not_mixed_up() -> None:
    """Names on the wire, instructions and the model are part of what is remembered."""
    messages = rounds(3)
    llms = [LLMS[str(aim)] for aim in AIMS[:6]]
    ways: list[dict[str, Any]] = [
        {},
        {"functions": [{"name": "f"}, {"name": "a b"}]},
        {"functions": [{"name": "a b"}, {"name": "f"}]},
        {"json_schema": {"type": "object", "properties": {"x": {"type": "string"}}}},
        {"functions": None},
    ]
    for _ in range(2):
        for llm in llms:
            for way in ways:
                assert said(llm, messages, **way) == unknown(llm, messages, **way)


def test_branches_of_one_conversation_stay_apart() -> None:
    """Two continuations of one beginning."""
    llm, base = LLMS[str(AIMS[0])], rounds(2)
    said(llm, base)
    for word in ("left", "right", "left"):
        branch = [
            *base,
            Message(role="assistant", content=word),
            Message(role="user", content="Go on."),
        ]
        assert said(llm, branch) == unknown(llm, branch)


def test_an_id_used_again_is_told_apart_as_ever() -> None:
    """A wire that wants ids unique gets them, though the first use was rendered long ago."""
    llm = LLMS[str(AIMS[14])]
    messages = rounds(2)
    said(llm, messages)
    again = [*messages, *rounds(1)[2:]]
    assert said(llm, again) == unknown(llm, again)


def test_what_is_remembered_is_bounded() -> None:
    """By number and by bytes; what is too large for all is not kept."""
    llm = LLMS[str(AIMS[0])]
    kept = known._histories
    for number in range(2 * known._MOST):
        said(llm, [*rounds(1), Message(role="user", content=f"Turn {number}")])
    assert len(kept._kept) == known._MOST
    huge = Message(role="user", content="x" * (known._MOST_BYTES // 2))
    for number in range(3):
        said(llm, [*rounds(1), huge, Message(role="user", content=f"{number}")])
    assert kept._bytes <= known._MOST_BYTES
    assert kept._bytes == sum(size for _, size in kept._kept.values())
    said(llm, [*rounds(1), huge, huge, huge])
    assert kept._bytes == 0


def test_a_first_question_is_not_remembered() -> None:
    """Single requests leave nothing behind."""
    llm = LLMS[str(AIMS[0])]
    said(llm, "Hi")
    said(llm, rounds(0))
    said(llm, [msgspec.to_builtins(message) for message in rounds(0)])
    assert not known._histories._kept


def test_histories_that_had_to_be_mended_are_not_remembered() -> None:
    """They are read with care each time."""
    llm = LLMS[str(AIMS[0])]
    broken = rounds(2)
    del broken[3]
    request = llm.build_request(broken, functions=FUNCTIONS)
    assert [warning.code for warning in request.warnings] == ["call_not_completed"]
    assert not known._histories._kept
    strict = llm.with_options(strict_history=True)
    with pytest.raises(ConfigurationError, match="history is broken"):
        strict.build_request(broken, functions=FUNCTIONS)


def test_a_strict_history_is_held_to_it_when_its_end_is_new() -> None:
    """What is known was whole; the end has to be, too."""
    llm = use_llm("openai.gpt-4o-mini", api_key="k", strict_history=True)
    messages = rounds(2)
    llm.build_request(messages, functions=FUNCTIONS)
    orphan = Message(role="function", content="late", name="f", function_id="call_9")
    with pytest.raises(ConfigurationError, match="history is broken"):
        llm.build_request([*messages, orphan], functions=FUNCTIONS)


def test_a_malformed_message_is_named_by_its_place() -> None:
    """Also behind a beginning that was read before."""
    llm, messages = LLMS[str(AIMS[0])], rounds(2)
    said(llm, messages)
    kind, complaint = said(llm, [*messages, {"role": "assistant", "contents": "x"}])
    assert kind is ConfigurationError
    assert complaint.startswith("messages[10] at /contents: no such key.")


def test_what_is_no_json_is_not_remembered() -> None:
    """It goes out as what it says, each time."""
    llm, messages = LLMS[str(AIMS[0])], rounds(2)
    odd = use(7, at=object())
    messages += [
        Message(role="assistant", content=(odd,)),
        Message(role="function", content="x", name="f", function_id="call_7"),
    ]
    first = said(llm, messages)
    assert first == said(llm, messages)
    assert b"<object object>" in first[0]


def test_many_threads_share_what_is_known() -> None:
    """Each gets its own conversation out, whoever else is there."""
    llm = LLMS[str(AIMS[0])]
    shared, wrong = rounds(3), []

    def work(name: str) -> None:
        messages = [*shared]
        for number in range(20):
            messages += [
                Message(role="assistant", content=f"{name} {number}"),
                Message(role="user", content="Go on."),
            ]
            body = said(llm, messages)[0]
            if body.count(name.encode()) != number + 1:
                wrong.append(body)

    threads = [threading.Thread(target=work, args=(f"thread-{n}-",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_built_dialogues_grow_by_their_snapshots() -> None:
    """A dialogue that is sent, grows and is sent again."""
    llm = LLMS[str(AIMS[0])]
    dialogue = build([("add_system_message", "Be brief."), ("add_user_message", "Begin.")])
    for number in range(5):
        dialogue.add_function_call_message("f", {"n": number}, f"call{number:05d}")
        dialogue.add_function_message({"n": number}, "f", f"call{number:05d}")
        assert said(llm, dialogue) == unknown(llm, dialogue)
    gc.collect()
    assert said(llm, dialogue) == unknown(llm, dialogue)
