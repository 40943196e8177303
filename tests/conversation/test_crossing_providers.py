"""A conversation that one provider began goes on with another, and then with the first again."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from itertools import permutations
from typing import Any

import anyio
import pytest
from conversation.bodies import complaints, said_in
from conversation.makers import FUNCTIONS, MAKERS, WORDS, Maker
from conversation.test_rich_history import assert_answered
from recordings.reading_requests import Said
from recordings.rebuilding import stories

from llm_tools import Dialogue, OutputResult, Request, ScriptedTransport, create_dialogue

LEGAL_IDS = {
    "openai_chat": r"\S{1,64}",
    "openai_responses": r"[a-zA-Z0-9_-]{1,64}",
    "anthropic_messages": r"[a-zA-Z0-9_-]{1,64}",
    "bedrock_converse": r"[a-zA-Z0-9_.:-]{1,64}",
    "gemini": r".+",
    "ollama": r".+",
    "mistral": r"[a-zA-Z0-9]{9}",
}


async def answered(maker: Maker) -> OutputResult:
    """The maker's own answer, as the library reads it."""
    llm = maker.aim.llm(transport=ScriptedTransport([maker.answer]), **credentials(maker))
    result = await llm.call("Go.", functions=FUNCTIONS)
    assert [(call.name, call.input) for call in result.function_calls] == [
        ("get_weather", {"city": "Oslo"}),
        ("ping", {}),
    ]
    return result


@lru_cache
def answer_of(maker_number: int) -> OutputResult:
    """The answer of a maker, read once."""
    return anyio.run(answered, MAKERS[maker_number])


def add_round(dialogue: Dialogue, result: OutputResult) -> None:
    """An answer and the results of its calls join the dialogue."""
    dialogue.add_from_output(result)
    for call in result.function_calls:
        dialogue.add_function_message({"of": call.name}, call.name, call.function_id)


def credentials(maker: Maker) -> dict[str, str]:
    return {"access_token": "t"} if maker.aim.key.startswith("vertex") else {"api_key": "k"}


def ask(maker: Maker, dialogue: Dialogue) -> Request:
    return maker.aim.llm().build_request(dialogue, functions=FUNCTIONS)


def check(maker: Maker, request: Request) -> list[Said]:
    """The vendor takes it, calls are answered, ids are legal there."""
    assert complaints(maker.aim, request.body) == []
    said = said_in(maker.aim, request.body)
    assert_answered(said)
    endpoint = maker.aim.llm().target.endpoint
    pattern = LEGAL_IDS.get(endpoint.key, LEGAL_IDS[endpoint.dialect])
    ids = [str(part.id) for turn in said for part in turn.calls]
    assert [one for one in ids if not re.fullmatch(pattern, one)] == []
    assert len(set(ids)) == len(ids)
    return said


def secrets_of(maker: Maker, body: Any) -> int:
    return json.dumps(body).count(maker.secret)


@pytest.mark.anyio
@pytest.mark.parametrize("maker", MAKERS, ids=str)
async def test_an_answer_goes_back_to_its_maker_as_it_was(maker: Maker) -> None:
    """What it must see again is all there, in its place, and nothing has to be said of it."""
    dialogue = create_dialogue().add_user_message("Go.")
    add_round(dialogue, await answered(maker))
    request = ask(maker, Dialogue.from_json(dialogue.to_json()))
    said = check(maker, request)
    assert stories(said) == [maker.order]
    assert [turn.text for turn in said if turn.role == "model"] in ([WORDS], [""])
    assert request.warnings == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(one, other, id=f"{MAKERS[one]}-{MAKERS[other]}")
        for one, other in permutations(range(len(MAKERS)), 2)
    ],
)
def test_it_goes_on_elsewhere_and_comes_back(one: int, other: int) -> None:
    """Nothing of the one leaks to the other, both take it, and each sees its own turn as it was."""
    first, second = MAKERS[one], MAKERS[other]
    dialogue = create_dialogue().add_system_message("Be brief.").add_user_message("Go.")
    add_round(dialogue, answer_of(one))
    alone = check(first, ask(first, dialogue))
    request = ask(second, dialogue)
    check(second, request)
    assert secrets_of(first, request.body) == 0
    add_round(dialogue, answer_of(other))
    dialogue.add_user_message("And then?")
    request = ask(second, dialogue)
    theirs = check(second, request)
    assert stories(theirs)[1:] == [second.order]
    assert secrets_of(first, request.body) == 0
    back = ask(first, dialogue)
    ours = check(first, back)
    assert secrets_of(second, back.body) == 0
    assert stories(ours)[0] == first.order
    assert ours[: len(alone)] == alone
