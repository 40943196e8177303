"""Calls of tools that are no functions: kept, sent back to their maker, and to nobody else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conversation.bodies import complaints
from matrix.scenes import ENDPOINTS, Aim

from llm_tools import Dialogue, ScriptedTransport, create_dialogue
from llm_tools.history import NOT_COMPLETED

CUSTOM = {"id": "call_c", "type": "custom", "custom": {"name": "sh", "input": "ls -l"}}
FUNCTION = {"id": "call_f", "type": "function", "function": {"name": "ping", "arguments": "{}"}}
CHAT = Aim("openai.chat.v1", "gpt-4o-mini")
CHAT_ANSWER = {"choices": [{"message": {"content": "Now.", "tool_calls": [CUSTOM, FUNCTION]}}]}

ITEM = {
    "type": "custom_tool_call",
    "id": "ctc_1",
    "call_id": "call_c",
    "name": "sh",
    "input": "ls -l",
}
RESPONSES_ANSWER = {"id": "r", "status": "completed", "output": [ITEM]}


async def after(aim: Aim, answer: Any) -> Dialogue:
    """A conversation that holds the answer, and the result of its function."""
    llm = aim.llm(api_key="k", transport=ScriptedTransport([answer]))
    result = await llm.call("Go.", functions=[{"name": "ping"}])
    dialogue = create_dialogue().add_user_message("Go.").add_from_output(result)
    for call in result.function_calls:
        dialogue.add_function_message("pong", call.name, call.function_id)
    return dialogue.add_user_message("And?")


@pytest.mark.anyio
async def test_chat_gets_its_custom_call_back() -> None:
    """In its place among the calls; each has a result right after them, and that is told."""
    request = CHAT.llm().build_request(await after(CHAT, CHAT_ANSWER))
    _, turn, custom, function, _ = request.body["messages"]
    assert turn == {"role": "assistant", "content": "Now.", "tool_calls": [CUSTOM, FUNCTION]}
    assert custom == {"role": "tool", "tool_call_id": "call_c", "content": NOT_COMPLETED}
    assert function == {"role": "tool", "tool_call_id": "call_f", "content": "pong"}
    assert [warning.code for warning in request.warnings] == ["call_not_completed"]
    assert "call_c" in request.warnings[0].detail


@pytest.mark.anyio
@pytest.mark.parametrize("key", ["openai.responses.v1", "azure.responses.v1"])
async def test_responses_gets_its_custom_call_back(key: str) -> None:
    """As it came, with an output after it."""
    aim = Aim(key, "gpt-5.6")
    request = aim.llm().build_request(await after(aim, RESPONSES_ANSWER))
    output = {
        "type": "custom_tool_call_output",
        "call_id": "call_c",
        "output": NOT_COMPLETED,
    }
    assert request.body["input"][1:3] == [ITEM, output]
    assert [warning.code for warning in request.warnings] == ["call_not_completed"]
    assert complaints(aim, request.body) == []


@pytest.mark.anyio
async def test_who_runs_its_tools_itself_wants_no_output() -> None:
    """xAI's own search comes as such a call, already made."""
    aim = Aim("xai.responses.v1", "grok-4.3")
    request = aim.llm().build_request(await after(aim, RESPONSES_ANSWER))
    assert request.body["input"][1:] == [ITEM, {"role": "user", "content": "And?"}]
    assert request.warnings == ()


@pytest.mark.anyio
@pytest.mark.parametrize("aim", [aim for aim in ENDPOINTS if aim.endpoint != "openai"], ids=str)
async def test_nobody_else_sees_it(aim: Aim) -> None:
    """It is left out, and that is told, where another made it."""
    for maker, answer in ((CHAT, CHAT_ANSWER), (Aim("openai.responses.v1", "m"), RESPONSES_ANSWER)):
        dialogue = await after(maker, answer)
        request = aim.llm().build_request(dialogue)
        assert "ls -l" not in json.dumps(request.body)
        assert "reasoning_left_out" in [warning.code for warning in request.warnings]


@pytest.mark.anyio
async def test_the_two_wires_of_one_host_do_not_mix_them_up() -> None:
    """What came as an item is no call of the other wire, and the other way round."""
    dialogue = await after(Aim("openai.responses.v1", "gpt-5.6"), RESPONSES_ANSWER)
    assert "ls -l" not in json.dumps(CHAT.llm().build_request(dialogue).body)
    dialogue = await after(CHAT, CHAT_ANSWER)
    body = Aim("openai.responses.v1", "gpt-5.6").llm().build_request(dialogue).body
    assert "ls -l" not in json.dumps(body)


@pytest.mark.parametrize(
    "call", [{"id": "x"}, {"id": 1, "type": "custom", "custom": {}}, "x", None, {"type": "custom"}]
)
def test_what_is_no_custom_call_stays_out(call: Any) -> None:
    """Metadata that somebody changed is not sent on."""
    reasoning = {"type": "reasoning", "providerMetadata": {"openai": {"custom_call": call}}}
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": [reasoning]},
        {"role": "user", "content": "And?"},
    ]
    request = CHAT.llm().build_request(messages)
    assert [message["role"] for message in request.body["messages"]] == ["user", "user"]
    assert [warning.code for warning in request.warnings] == ["reasoning_left_out"]
