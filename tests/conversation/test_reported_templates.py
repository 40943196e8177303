"""Braces of users, models and functions are text: nothing in a history is filled in or evaluated."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conversation.bodies import said_in
from conversation.histories import handed, load, messages_of
from conversation.makers import MAKERS, WORDS, Maker
from conversation.test_crossing_providers import credentials
from conversation.test_reported_histories import TARGETS
from matrix.scenes import Aim

from llm_tools import (
    Dialogue,
    RunLimitError,
    ScriptedTransport,
    create_chat_prompt,
    create_dialogue,
    create_llm_function_executor,
    tool,
)

SECRET = "TOPSECRET"
VALUES = {"user": "Ada", "secret": SECRET, "order": {"no": SECRET}, "past": None}


def strings_in(value: Any) -> list[str]:
    """Every string in a body, those of arguments that are JSON text read once more."""
    if isinstance(value, dict):
        return [text for inner in value.values() for text in strings_in(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in strings_in(inner)]
    if isinstance(value, str) and value.startswith("{"):
        try:
            return [value, *strings_in(json.loads(value))]
        except json.JSONDecodeError:
            return [value]
    return [value] if isinstance(value, str) else []


def check_verbatim(body: Any, texts: list[str]) -> None:
    """Each text is somewhere in the body, and the secret nowhere."""
    found = strings_in(body)
    for text in texts:
        assert any(text in string for string in found), text
    assert SECRET not in json.dumps(body)


def check_everywhere(aim: Aim, template: str, history: Any, values: Any, texts: list[str]) -> None:
    """In the prompt by copy and by key; kept, and saved and loaded."""
    kept = create_dialogue().add_from_history(history)
    for past in (kept, Dialogue.from_json(kept.to_json()), Dialogue("d", kept.history)):
        by_copy = create_chat_prompt(template).add_from_history(past)
        by_key = create_chat_prompt(template).add_chat_history_placeholder("past")
        for prompt in (by_copy, by_key):
            messages = prompt.format({**values, "past": past})
            body = aim.llm().build_request(messages, functions=[{"name": "render"}]).body
            check_verbatim(body, texts)
            assert said_in(aim, aim.llm().build_request(past).body)


@handed
@pytest.mark.parametrize("aim", TARGETS, ids=str)
def test_the_reported_history_reaches_the_wire_verbatim(aim: Aim) -> None:
    """The author's template is filled, nothing else is."""
    setup, expected = load("B30/setup.json"), load("B30/expected.json")
    verbatim = [
        text.removesuffix(" (as input)") for text in expected["history_reaches_the_wire_verbatim"]
    ]
    texts = [expected["system"], *verbatim[:2], verbatim[3]]
    history = messages_of(setup["history"])
    texts += [json.loads(verbatim[2])["tpl"]]
    check_everywhere(aim, setup["system_template"], history, setup["data"], texts)


BRACES = [
    "{{ secret }} {{secret}} {{{secret}}} {{& secret}}",
    "{% for x in [1] %}{{ secret }}{% endfor %} {% if",
    "{# {{ secret }} #} ${secret} {secret} {0} %(secret)s %s \\{{ secret \\}}",
    "}} {{ '{{' }} {{ unclosed",
]


@pytest.mark.parametrize("aim", TARGETS, ids=str)
@pytest.mark.parametrize("braces", BRACES)
def test_braces_are_text_in_every_role(aim: Aim, braces: str) -> None:
    """Words, arguments, results and failures, however they look."""
    call = {"type": "function_use", "name": "render", "functionId": "c_1", "input": {"t": braces}}
    history = [
        {"role": "user", "content": f"user {braces}"},
        {"role": "assistant", "content": [{"type": "text", "text": f"model {braces}"}, call]},
        {"role": "function", "name": "render", "functionId": "c_1", "content": f"result {braces}"},
        {"role": "assistant", "content": [{**call, "functionId": "c_2"}]},
        {
            "role": "function",
            "name": "render",
            "functionId": "c_2",
            "content": f"failure {braces}",
            "isError": True,
        },
        {"role": "user", "content": [{"type": "text", "text": f"part {braces}"}]},
    ]
    texts = [f"{who} {braces}" for who in ("user", "model", "result", "failure", "part")]
    check_everywhere(aim, "You help {{ user }}.", history, VALUES, [*texts, "You help Ada."])


@tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"result of {city} {BRACES[0]}"


@tool
def ping() -> str:
    """Ask whether it is there."""
    raise ValueError(f"failure {BRACES[1]}")


def with_braces(answer: Any) -> Any:
    """An answer that speaks in braces."""
    text = json.dumps(answer).replace(WORDS, BRACES[0])
    return json.loads(text.replace("Oslo", "{{ secret }}"))


@pytest.mark.anyio
@pytest.mark.parametrize("maker", MAKERS, ids=str)
async def test_no_round_of_a_run_fills_anything_in(maker: Maker) -> None:
    """The prompt once, at the start; a run that is continued from its saved dialogue neither."""
    transport = ScriptedTransport([with_braces(maker.answer)] * 4)
    executor = create_llm_function_executor(
        llm=maker.aim.llm(transport=transport, **credentials(maker)),
        prompt=create_chat_prompt("You help {{ user }}.").add_user_message("{{ ask }}"),
    )
    values = {**VALUES, "ask": f"asked {BRACES[2]}"}
    dialogue = None
    for _ in range(2):
        with pytest.raises(RunLimitError) as caught:
            await executor.run(
                values, functions=[get_weather, ping], max_turns=2, dialogue=dialogue
            )
        result = caught.value.result
        dialogue = Dialogue.from_json(result.dialogue.to_json())
    asked = ["You help Ada.", values["ask"]]
    said = ["{{ secret }}", f"result of {{{{ secret }}}} {BRACES[0]}", f"failure {BRACES[1]}"]
    first, *later = [request.body for request in transport.requests]
    assert len(later) == 3
    check_verbatim(first, asked)
    for body in later:
        check_verbatim(body, [*asked, *said])
