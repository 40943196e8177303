"""Wrong values end in an error of ours that says what to do, or mean something; nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from misuse.values import CALL, SWITCHES, WAYS, WRONG, executor, f, outcome, scripted

from llm_tools import (
    ConfigurationError,
    LlmToolsError,
    create_callable_executor,
    create_core_executor,
    create_llm_executor,
    create_parser,
    create_state,
    dispatch,
    tool,
    use_executors,
    use_llm,
)

OPTIONS = [(room, name) for room, ways in WAYS.items() for name in ways]


@pytest.mark.anyio
@pytest.mark.parametrize(("room", "name"), OPTIONS)
async def test_any_value(room: str, name: str) -> None:
    """Whatever is given, nothing but an `LlmToolsError` is raised."""
    broken = {}
    for label, value in WRONG.items():
        try:
            await outcome(WAYS[room][name], value)
        except LlmToolsError:
            continue
        except Exception as error:
            broken[label] = repr(error)
    assert broken == {}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("room", "name"), [(room, name) for room, name in OPTIONS if name in SWITCHES]
)
async def test_switches(room: str, name: str) -> None:
    """What is on or off takes True and False only: "no" counts as true in Python."""
    taken, said = [], set()
    for label, value in WRONG.items():
        try:
            await outcome(WAYS[room][name], value)
            taken.append(label)
        except ConfigurationError as error:
            said.add("true or false" in str(error).lower())
    assert said == {True}
    assert taken in (["True"], ["None", "True"])


SAID: dict[str, tuple[Any, str]] = {
    "llm_options": (
        lambda: executor().execute("hi", llm_options=5),
        "llm_options must be a dict of options of use_llm() by name, got 5.",
    ),
    "llm_options of run": (
        lambda: executor().run("hi", functions=[f], llm_options=[]),
        "llm_options must be a dict of options of use_llm() by name, got [].",
    ),
    "keys of llm_options": (
        lambda: create_llm_executor(llm=scripted(), prompt="x").execute(llm_options={5: 1}),
        "llm_options must be a dict of options of use_llm() by name, got {5: 1}.",
    ),
    "has_function": (
        lambda: use_executors([f]).has_function([]),
        "A function's name must be a string, got [].",
    ),
    "strict": (
        lambda: use_llm("openai.gpt-4o", api_key="k").build_request(
            "hi",
            functions=[f],
            function_call_strict_input="no",
        ),
        "function_call_strict_input must be True or False, got 'no'.",
    ),
    "start_early": (
        lambda: executor().run("hi", functions=[f], start_early=1),
        "start_early must be True or False, got 1.",
    ),
    "hooks": (
        lambda: create_core_executor(str, hooks=[str]),
        f"hooks must be a dict of functions by event, got [{str!r}].",
    ),
    "event": (
        lambda: executor().off("on_end", str),
        "There is no event 'on_end'; there are on_complete, on_error, on_function, on_success, "
        "on_turn.",
    ),
    "attributes": (
        lambda: create_callable_executor(name="g", handler=str, attributes="x"),
        "attributes must be a dict of values by name, got 'x'.",
    ),
    "retries": (
        lambda: tool(retries=1.5)(f.source),
        "@tool: retries must be a whole number of at least 0, got 1.5.",
    ),
    "group": (
        lambda: tool(group=[])(f.source),
        "@tool: group must be a string, got [].",
    ),
    "max_turns": (
        lambda: executor().run("hi", functions=[f], max_turns=True),
        "max_turns must be a number from zero up, got True.",
    ),
    "max_concurrency": (
        lambda: dispatch([CALL], [f], max_concurrency=True),
        "max_concurrency must be a whole number above zero, got True.",
    ),
    "timeout": (
        lambda: dispatch([CALL], [f], timeout=True),
        "timeout must be seconds above zero, got True.",
    ),
    "schema of a parser": (
        lambda: create_parser("json", schema=[]),
        "[] is neither a type nor a JSON Schema: give a dict, or a msgspec.Struct, dataclass or "
        "TypedDict type.",
    ),
    "dialogue": (
        lambda: create_state().add_dialogue("chat"),
        "'chat' is no dialogue: pass create_dialogue(name).",
    ),
    "context item": (
        lambda: create_state().create_context_item("user"),
        "'user' is no context item: pass create_state_item(name, default).",
    ),
}


@pytest.mark.anyio
@pytest.mark.parametrize("case", SAID)
async def test_what_is_said(case: str) -> None:
    """The error names the option, what it takes and what it got."""
    way, said = SAID[case]
    with pytest.raises(ConfigurationError) as caught:
        await outcome(lambda _: way(), None)
    assert str(caught.value) == said
