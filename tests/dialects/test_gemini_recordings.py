"""Real exchanges with Gemini, decoded and rebuilt, against a reading of their own."""

from __future__ import annotations

import base64
import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from dialects.google_and_ollama import frame, make_call, target_of

from llm_tools.content import (
    FunctionUseDone,
    OutputResult,
    OutputResultReasoning,
    OutputResultText,
    TextDelta,
)
from llm_tools.dialogue import create_dialogue
from llm_tools.errors import ProviderError
from llm_tools.spec import Encoded

FOLDER = os.environ.get("LLM_TOOLS_RECORDINGS")
SENDERS_OWN = ("pyd_ai", "call_", "auto_load")
"""How ids begin that the recorded programs made up themselves."""
PLACEHOLDER = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="


def _records() -> list[Any]:
    if not FOLDER:
        return [pytest.param(None, marks=pytest.mark.skip("LLM_TOOLS_RECORDINGS is not set"))]
    lines = (Path(FOLDER) / "google.generate.jsonl").read_text().splitlines()
    return [pytest.param(record, id=record["id"]) for record in map(json.loads, lines)]


def _answered(record: Any) -> bool:
    return record is None or record["status"] == 200


RECORDS = _records()
ANSWERED = [param for param in RECORDS if _answered(param.values[0])]


def _encoded(record: Any, messages: Any = "Hi") -> Encoded:
    where = "vertex" if "aiplatform" in record["request"]["url"] else "google"
    target = target_of(where, record["model"])
    return target.dialect.encode(target, make_call(messages))


def _chunks(record: Any) -> list[Any]:
    """The answer's JSON objects: one, an array's, or an event stream's."""
    response = record["response"]
    if "stream" in response:
        lines = "".join(response["stream"]).splitlines()
        return [json.loads(line[5:]) for line in lines if line.startswith("data:")]
    body = response["body"]
    return body if isinstance(body, list) else [body]


def _decode(record: Any) -> OutputResult:
    plan = _encoded(record).plan
    dialect = plan.target.dialect
    if "stream" not in record["response"]:
        body = json.dumps(record["response"]["body"]).encode()
        return dialect.decode(plan, body, record["response"]["headers"] or {})
    decoder = dialect.open_stream(plan, {})
    for chunk in _chunks(record):
        decoder.feed(frame(chunk))
    return decoder.close()


def _parts(chunks: list[Any]) -> list[Any]:
    candidates = [choice for chunk in chunks for choice in chunk.get("candidates") or []]
    return [part for choice in candidates for part in choice.get("content", {}).get("parts", [])]


@pytest.mark.parametrize("record", ANSWERED)
def test_content_says_what_the_bytes_say(record: Any) -> None:
    """Text, thoughts, calls and signatures come out as they went over the wire."""
    chunks, result = _chunks(record), _decode(record)
    parts = _parts(chunks)
    plain = [p["text"] for p in parts if "text" in p and not p.get("thought")]
    thoughts = [p["text"] for p in parts if p.get("thought")]
    calls = [p["functionCall"] for p in parts if "functionCall" in p]
    assert result.text == "".join(plain)
    reasoning = [item.text for item in result.content if isinstance(item, OutputResultReasoning)]
    assert "".join(reasoning) == "".join(thoughts)
    uses = result.function_calls
    assert [use.name for use in uses] == [call["name"] for call in calls]
    if result.stop_reason != "error":
        assert [use.input for use in uses] == [call.get("args", {}) for call in calls]
    for use, call in zip(uses, calls, strict=True):
        assert use.function_id == call.get("id", use.function_id)
    assert len({use.function_id for use in uses}) == len(uses)
    assert _kept_signatures(result) == [
        p["thoughtSignature"] for p in parts if "thoughtSignature" in p
    ]


def _kept_signatures(result: OutputResult) -> list[str]:
    found = []
    for item in result.content:
        kept = next(iter((item.provider_metadata or {}).values()), {})
        kept = kept.get("part", kept)
        if "thoughtSignature" in kept:
            found.append(kept["thoughtSignature"])
    return found


@pytest.mark.parametrize("record", ANSWERED)
def test_the_rest_says_what_the_bytes_say(record: Any) -> None:
    """Model, id, usage and reason come from the last chunk that has them."""
    chunks, result = _chunks(record), _decode(record)
    last = chunks[-1]
    usage = last["usageMetadata"]
    assert result.name == last.get("modelVersion", record["model"])
    assert result.id == last.get("responseId", "")
    assert result.usage is not None
    assert result.usage.input_tokens == usage["promptTokenCount"] + usage.get(
        "toolUsePromptTokenCount", 0
    )
    thoughts = usage.get("thoughtsTokenCount", 0)
    assert result.usage.output_tokens == usage.get("candidatesTokenCount", 0) + thoughts
    assert result.usage.total_tokens == usage["totalTokenCount"]
    assert result.usage.reasoning_tokens == thoughts
    assert result.usage.cached_input_tokens == usage.get("cachedContentTokenCount", 0)
    assert (result.stop_reason, result.provider_stop_reason) == _expected_stop(chunks)


def _expected_stop(chunks: list[Any]) -> tuple[str, str]:
    reason = chunks[-1]["candidates"][0]["finishReason"]
    name = {1: "STOP"}.get(reason, reason)
    calls = any("functionCall" in part for part in _parts(chunks))
    known = {"MAX_TOKENS": "length", "SAFETY": "content_filter", "UNEXPECTED_TOOL_CALL": "error"}
    return known.get(name, "function_use" if calls else "stop"), name


@pytest.mark.parametrize(
    "record",
    [p for p in ANSWERED if p.values[0] is None or len(_chunks(p.values[0])) > 1],
)
def test_a_stream_equals_its_array(record: Any) -> None:
    """The chunks in one array decode to what they stream to, and every delta is part of it."""
    plan = _encoded(record, "Hi").plan
    chunks = _chunks(record)
    decoder = plan.target.dialect.open_stream(plan, {})
    events = [event for chunk in chunks for event in decoder.feed(frame(chunk))]
    result = decoder.close()
    whole = plan.target.dialect.decode(plan, json.dumps(chunks).encode(), {})
    assert _without_minted_ids(result) == _without_minted_ids(whole)
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == result.text
    done = [e.function_use for e in events if isinstance(e, FunctionUseDone)]
    assert done == result.function_calls


def _without_minted_ids(result: OutputResult) -> Any:
    given = [(item.provider_metadata or {}) for item in result.content]
    texts = [item.text for item in result.content if isinstance(item, OutputResultText)]
    calls = [(use.name, use.input, use.input_error) for use in result.function_calls]
    return given, texts, calls, result.usage, result.stop_reason, result.id, result.name


@pytest.mark.parametrize("record", [p for p in RECORDS if not _answered(p.values[0])])
def test_error_bodies_are_errors_even_behind_a_200(record: Any) -> None:
    """An error body never passes for an answer."""
    plan = _encoded(record).plan
    body = json.dumps(record["response"]["body"]).encode()
    with pytest.raises(ProviderError):
        plan.target.dialect.decode(plan, body, {})


def _steps() -> list[Any]:
    """Exchanges whose last turns were made by an exchange recorded before them."""
    by_id = {param.values[0]["id"]: param.values[0] for param in ANSWERED if param.values[0]}
    pairs = [("026", "027"), ("037", "038"), ("019", "020"), ("040", "041")]
    known = [(f"google.generate-{a}", f"google.generate-{b}") for a, b in pairs]
    if not FOLDER:
        return RECORDS
    return [pytest.param((by_id[a], by_id[b]), id=b) for a, b in known if a in by_id and b in by_id]


@pytest.mark.parametrize("step", _steps())
def test_the_next_request_is_rebuilt(step: Any) -> None:
    """An answer kept in a dialogue goes back with its ids, signatures and arguments in place."""
    before, after = step
    result = _decode(before)
    sent = after["request"]["body"]["contents"]
    answers = [_snake(part)["functionResponse"] for part in sent[-1]["parts"]]
    dialogue = create_dialogue("rebuilt").add_user_message("ask").add_from_output(result)
    for use, answer in zip(result.function_calls, answers, strict=True):
        dialogue.add_function_message(answer["response"], use.name, use.function_id)
    plan_source = _encoded(after, dialogue.history)
    _, model, user = plan_source.body["contents"]
    own = [part for part in model["parts"] if not part.get("thought")]
    expected = [_snake(part) for part in sent[-2]["parts"]]
    received = [p for p in _parts(_chunks(before)) if not p.get("thought") and p != {"text": ""}]
    assert [_signature(part) for part in own] == [_signature(part) for part in received]
    calls = [part for part in own if "functionCall" in part]
    assert [_call(part) for part in calls] == [_call(part) for part in expected]
    assert [_signature(p) for p in calls] == [_signature(p) for p in expected]
    ids = [part["functionCall"].get("id") for part in received if "functionCall" in part]
    assert [part["functionResponse"].get("id") for part in user["parts"]] == ids
    assert [part["functionResponse"]["name"] for part in user["parts"]] == [
        answer["name"] for answer in answers
    ]
    assert [_result(part) for part in user["parts"]] == [a["response"] for a in answers]


def _result(part: Any) -> Any:
    """What the model sees as the result; `output` around it is the wire's own word for it."""
    response = part["functionResponse"]["response"]
    inner = response.get("output")
    return inner if isinstance(inner, dict) else response


def _call(part: Any) -> Any:
    call = _snake(part)["functionCall"]
    return call["name"], call.get("args", {})


def _signature(part: Any) -> bytes | None:
    """The signature's bytes: senders spell base64 in two alphabets."""
    found = _snake(part).get("thoughtSignature")
    return None if found is None else base64.b64decode(found.replace("-", "+").replace("_", "/"))


def _snake(part: Any) -> Any:
    """A part in the wire's own spelling; some senders used snake_case."""
    names = {
        "function_call": "functionCall",
        "thought_signature": "thoughtSignature",
        "function_response": "functionResponse",
    }
    return {names.get(key, key): value for key, value in part.items()}


def _history(record: Any) -> list[Any]:
    """The recorded request as neutral messages, with what Gemini had left on the parts."""
    key = "vertex" if "aiplatform" in record["request"]["url"] else "google"
    messages: list[Any] = []
    names: dict[str, list[str]] = {}
    for turn, content in enumerate(record["request"]["body"]["contents"]):
        parts = [_snake(part) for part in content["parts"]]
        if content.get("role") == "model":
            messages.append({"role": "assistant", "content": []})
            for number, part in enumerate(parts):
                messages[-1]["content"].append(_item(part, key, f"{turn}.{number}", names))
        elif any("functionResponse" in part for part in parts):
            for part in parts:
                answer = part["functionResponse"]
                function_id = answer.get("id") or names[answer["name"]].pop(0)
                messages.append(
                    {
                        "role": "function",
                        "name": answer["name"],
                        "functionId": function_id,
                        "content": answer["response"],
                    }
                )
        else:
            texts = [{"type": "text", "text": part["text"]} for part in parts if "text" in part]
            messages.append({"role": "user", "content": texts})
    return messages


def _item(part: Any, key: str, position: str, names: dict[str, list[str]]) -> Any:
    signature = part.get("thoughtSignature")
    kept: Any = {"thoughtSignature": signature} if signature not in (None, PLACEHOLDER) else {}
    if "text" in part:
        item = {"type": "text", "text": part["text"]}
    else:
        call = part["functionCall"]
        given = call.get("id")
        if given and not given.startswith(SENDERS_OWN):
            kept["functionCall"] = {"id": given}
        names.setdefault(call["name"], []).append(position)
        item = {
            "type": "function_use",
            "name": call["name"],
            "input": call.get("args", {}),
            "functionId": given or position,
        }
    return item | ({"providerMetadata": {key: kept}} if kept else {})


@pytest.mark.parametrize(
    "record",
    [
        param
        for param in ANSWERED
        if param.values[0] is None or "tool_result" in param.values[0]["tags"]
    ],
)
def test_recorded_histories_go_out_again(record: Any) -> None:
    """A recorded conversation, held neutrally, becomes the recorded contents once more."""
    body = _encoded(record, _history(record)).body
    sent = [part for content in record["request"]["body"]["contents"] for part in content["parts"]]
    ours = [part for content in body["contents"] for part in content["parts"]]
    sent = [_snake(part) for part in sent if _snake(part) != {"text": ""}]
    ours = [part for part in ours if part != {"text": "(no text)"}]
    assert [_call(p) for p in ours if "functionCall" in p] == [
        _call(p) for p in sent if "functionCall" in p
    ]
    assert [_signature(p) for p in ours if "functionCall" in p] == [
        _signature(p) for p in sent if "functionCall" in p
    ]
    assert [p["functionResponse"]["name"] for p in ours if "functionResponse" in p] == [
        p["functionResponse"]["name"] for p in sent if "functionResponse" in p
    ]
    assert [p["text"] for p in ours if "text" in p] == [p["text"] for p in sent if "text" in p]
    roles = [content["role"] for content in body["contents"]]
    assert all(one != other for one, other in pairwise(roles))
