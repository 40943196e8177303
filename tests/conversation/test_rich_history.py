"""One history that holds everything a history can hold, sent to every endpoint."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conversation.bodies import complaints, said_in
from matrix.scenes import AIMS, PING, WEATHER, Aim
from recordings.reading_requests import Said

from llm_tools import Request, UnsupportedOptionError
from llm_tools.dialogue import Dialogue

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = {"type": "image", "data": PNG, "mediaType": "image/png"}
LONG_ID = "functions.get_weather:0 / of a shape and a length that no wire takes " + "x" * 40
FUNCTIONS = [WEATHER, PING, {"name": "get_map", "parameters": WEATHER["parameters"]}]


def call(name: str, function_id: str, **given: Any) -> dict[str, Any]:
    return {"type": "function_use", "name": name, "input": given, "functionId": function_id}


def result(name: str, function_id: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "role": "function", "name": name, "functionId": function_id, "content": content, **more,
    }  # fmt: skip


SCALARS = ["", 0, False, None, [], 1.5, "null"]
RICH = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Paris and Lima?"},
    {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "text": "Two cities, so two calls."},
            {"type": "text", "text": "Let me look."},
            call("get_weather", LONG_ID, city="Paris"),
            {"type": "text", "text": "And the map."},
            call("get_map", "toolu_vrtx_01", city="Lima — é \U0001f5fa", unit=None),
            call("ping", "call_2"),
        ],
    },
    result("get_weather", LONG_ID, {"degrees": 20, "sky": ["blue"]}),
    result("get_map", "toolu_vrtx_01", [{"type": "text", "text": "A map."}, IMAGE]),
    result("ping", "call_2", "nobody answers", isError=True),
    {
        "role": "assistant",
        "content": [call("ping", f"chatcmpl-tool-{n}") for n in range(len(SCALARS))],
    },
    *[result("ping", f"chatcmpl-tool-{n}", value) for n, value in enumerate(SCALARS)],
    {"role": "assistant", "content": "Sunny in Paris, and here is Lima."},
    {"role": "user", "content": "And tomorrow?"},
]
CALLS = [
    ("get_weather", {"city": "Paris"}),
    ("get_map", {"city": "Lima — é \U0001f5fa", "unit": None}),
    ("ping", {}),
    *[("ping", {})] * len(SCALARS),
]
WORDS = [
    "Be brief.", "Paris and Lima?", "Let me look.", "And the map.", "nobody answers",
    "Sunny in Paris, and here is Lima.", "And tomorrow?",
]  # fmt: skip
NO_FUNCTIONS = {"perplexity.chat.v1"}
SEES_NOTHING = {"deepseek.chat.v1", "deepseek.responses.v1", "local.chat.v1"}
every_aim = pytest.mark.parametrize(
    "aim", [aim for aim in AIMS if aim.key not in NO_FUNCTIONS], ids=str
)


def ask(aim: Aim, messages: Any = RICH) -> Request:
    return aim.llm().build_request(messages, functions=FUNCTIONS)


@pytest.mark.parametrize("key", NO_FUNCTIONS)
def test_who_takes_no_functions_says_so(key: str) -> None:
    """Before anything is sent, and with what to do instead."""
    with pytest.raises(UnsupportedOptionError, match="takes no functions: use json_schema"):
        ask(Aim(key, "some-model"))


@every_aim
def test_the_vendor_takes_it(aim: Aim) -> None:
    """The body keeps the vendor's types and documented rules."""
    assert complaints(aim, ask(aim).body) == []


@every_aim
def test_everything_is_said(aim: Aim) -> None:
    """All calls with their arguments, one result each right after them, every word once."""
    body = ask(aim).body
    said = said_in(aim, body)
    calls = [part for turn in said for part in turn.calls]
    assert [(part.call, part.arguments) for part in calls] == CALLS
    assert len({part.id for part in calls}) == len(calls)
    assert_answered(said)
    text = json.dumps(body, ensure_ascii=False)
    assert [word for word in WORDS if text.count(word) != 1] == []


def assert_answered(said: list[Said]) -> None:
    """Every call has one result, in the order of the calls, before anybody else speaks."""
    waiting: list[str | None] = []
    for turn in said:
        if turn.role == "result":
            assert turn.id == waiting.pop(0)
        else:
            assert waiting == []
            waiting = [part.id for part in turn.calls]
    assert waiting == []


@every_aim
def test_what_is_lost_or_moved_is_told(aim: Aim) -> None:
    """Reasoning is another's and stays out; the image is in its result, beside it, or left out."""
    request = ask(aim)
    codes = [warning.code for warning in request.warnings]
    text = json.dumps(request.body)
    assert "Two cities" not in text
    assert codes.count("reasoning_left_out") == 1
    results = [json.dumps(t.wire) for t in said_in(aim, request.body) if t.role == "result"]
    seen = text.count(PNG)
    assert seen == (aim.key not in SEES_NOTHING)
    assert codes.count("image_left_out") == (not seen)
    assert codes.count("image_moved") == (seen and not any(PNG in result for result in results))


@every_aim
def test_results_say_what_they_are(aim: Aim) -> None:
    """JSON goes out as JSON, nothing as nothing or a word for it, a failure as one."""
    said = [turn for turn in said_in(aim, ask(aim).body) if turn.role == "result"]
    weather, _, failed, *scalars = said
    assert json.loads(weather.text) == {"degrees": 20, "sky": ["blue"]}
    assert failed.failed or failed.text == "Error: nobody answers"
    assert not any(turn.failed for turn in said if turn is not failed)
    assert [turn.text for turn in scalars] == ["", "0", "false", "null", "[]", "1.5", "null"]


@every_aim
def test_a_saved_history_goes_out_alike(aim: Aim) -> None:
    """Saved, loaded and built again, it is the same request, and the dialogue as it was."""
    dialogue = Dialogue("rich", RICH)
    saved = dialogue.to_json()
    request = ask(aim, dialogue)
    assert ask(aim, Dialogue.from_json(saved)) == request == ask(aim)
    assert dialogue.to_json() == saved


SEEING = [
    aim for aim in AIMS if aim.llm().target.dialect.support(aim.llm().target)["image"] != "refused"
]


@pytest.mark.parametrize("aim", SEEING, ids=str)
def test_an_image_of_the_users_goes_out(aim: Aim) -> None:
    """Once, in a body that the vendor takes."""
    words = [{"type": "text", "text": "What is this?"}, IMAGE]
    body = aim.llm().build_request([{"role": "user", "content": words}]).body
    assert json.dumps(body).count(PNG) == 1
    assert complaints(aim, body) == []


@pytest.mark.parametrize("aim", [aim for aim in AIMS if aim not in SEEING], ids=str)
def test_an_image_is_refused_by_a_model_that_sees_none(aim: Aim) -> None:
    """Before anything is sent."""
    with pytest.raises(UnsupportedOptionError, match="image"):
        aim.llm().build_request([{"role": "user", "content": [IMAGE]}])
