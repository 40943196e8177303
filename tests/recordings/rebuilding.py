"""Recorded conversations, rebuilt through the public API: answer by answer, request by request."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recordings import (
    reading_anthropic,
    reading_chat,
    reading_converse,
    reading_gemini,
    reading_ollama,
    reading_requests as requests,
    reading_responses,
)
from recordings.reading import Reading, Record, arguments_value
from recordings.reading_requests import Said

from llm_tools import Llm, OutputResult, ScriptedTransport, create_dialogue, use_llm
from llm_tools.testing.scripted_transport import ScriptedResponse


@dataclass(frozen=True)
class Wire:
    """How a wire's requests and answers are read, and how an answer holds a model's turn."""

    turns: Callable[[Any], list[Said]]
    read: Callable[[Record], Reading]
    answer: Callable[[Any], Any]


_WIRES: dict[str, Wire] = {
    "openai_chat": Wire(
        requests.chat, reading_chat.read, lambda turn: {"choices": [{"message": turn}]}
    ),
    "openai_responses": Wire(
        requests.responses,
        reading_responses.read,
        lambda items: {"status": "completed", "output": items},
    ),
    "anthropic_messages": Wire(
        requests.claude,
        lambda record: (
            reading_anthropic.read_wrapped if "/invoke" in record.url else reading_anthropic.read
        )(record),
        lambda blocks: {"type": "message", "content": blocks},
    ),
    "bedrock_converse": Wire(
        requests.converse,
        reading_converse.read,
        lambda blocks: {"output": {"message": {"content": blocks}}},
    ),
    "gemini": Wire(
        requests.gemini,
        reading_gemini.read,
        lambda parts: {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]},
    ),
    "ollama": Wire(
        requests.chat, reading_ollama.read, lambda turn: {"message": turn, "done": True}
    ),
}

_AWS = {"region": "us-east-1"}
_VERTEX = {"project": "p", "location": "global", "access_token": "t"}
_PLACES: dict[str, tuple[tuple[str, str, dict[str, str]], ...]] = {
    "anthropic.messages": (
        ("aiplatform", "vertex:anthropic.chat.v1", _VERTEX),
        ("", "anthropic.chat.v1", {}),
    ),
    "bedrock.converse": (("", "amazon.converse.v1", _AWS),),
    "bedrock.invoke": (("", "amazon:anthropic.chat.v1", _AWS),),
    "deepseek.chat": (("", "deepseek.chat.v1", {}),),
    "google.generate": (("aiplatform", "vertex.chat.v1", _VERTEX), ("", "google.chat.v1", {})),
    "groq.chat": (("", "groq.chat.v1", {}),),
    "mistral.chat": (("", "mistral.chat.v1", {}),),
    "ollama.chat": (("", "ollama.chat.v1", {}),),
    "openai.chat": (("", "openai.chat.v1", {}),),
    "openai.responses": (("", "openai.responses.v1", {}),),
    "openrouter.chat": (("", "openrouter.chat.v1", {}),),
    "other.responses": (("", "xai.responses.v1", {}),),
    "xai.chat": (("", "xai.chat.v1", {}),),
    "other.chat": (
        ("googleapis.com", "google:openai.chat.v1", {}),
        ("ollama.com", "ollama:openai.chat.v1", {}),
        (":11434", "ollama:openai.chat.v1", {}),
        ("", "litellm.chat.v1", {}),
    ),
}
"""Where each file's exchanges go: a piece of the address, the key, and what else finds the place."""

FILES = tuple(_PLACES)


def wire_of(name: str, record: Record) -> Wire:
    """The wire of a record of a file."""
    return _WIRES[open_llm(name, record).target.dialect.key]


def open_llm(name: str, record: Record, replies: Sequence[Any] = ()) -> Llm:
    """The model a record of a file is about, behind a wire that gives these replies."""
    key, place = next((key, place) for piece, key, place in _PLACES[name] if piece in record.url)
    credentials = {} if "access_token" in place else {"api_key": "k"}
    return use_llm(
        key,
        model=record.model or "some-model",
        transport=ScriptedTransport(replies),
        **credentials,
        **place,
    )


def functions_of(body: Any) -> list[dict[str, Any]]:
    """The functions a recorded request declares, where their schemas are JSON Schema."""
    declared = body.get("tools") or (body.get("toolConfig") or {}).get("tools") or []
    found = [one for tool in declared for one in _declared(tool)]
    return list({one["name"]: one for one in found}.values())


def _declared(tool: Any) -> list[dict[str, Any]]:
    match tool:
        case {"functionDeclarations": list(declarations)}:
            return [_function(d, d.get("parametersJsonSchema")) for d in declarations]
        case {"type": "function", "function": dict(function)}:
            return [_function(function, function.get("parameters"))]
        case {"toolSpec": {"name": str(), "inputSchema": {"json": schema}} as spec}:
            return [_function(spec, schema)]
        case {"name": str(), "input_schema": schema}:
            return [_function(tool, schema)]
        case {"type": "function", "name": str()}:
            return [_function(tool, tool.get("parameters"))]
    return []


def _function(spec: Any, schema: Any) -> dict[str, Any]:
    return {"name": spec["name"], **({"parameters": schema} if schema else {})}


class Rebuilding:
    """One recorded request, built again from what was said.

    `answers` are recorded answers of earlier steps, by the number of the model's turn.
    """

    def __init__(self, name: str, record: Record, answers: dict[int, Record]) -> None:
        self._name = name
        self._record = record
        self._answers = answers
        self._wire = wire_of(name, record)
        self.recorded = self._wire.turns(record.request)
        self.own: set[str] = set()
        """Ids that came from the provider, as the recorded request has them."""
        self.from_answers: set[int] = set()
        """The model's turns that were decoded from a recorded answer."""
        self._functions = functions_of(record.request) or None
        self._dialogue = create_dialogue("rebuilt")
        self._given: dict[str | None, str] = {}

    async def turns(self) -> list[Said]:
        """What the body says that we would have sent."""
        models = 0
        for turn in self.recorded:
            if turn.role == "model":
                await self._add_answer(turn, models)
                models += 1
            elif turn.role == "result":
                function_id = self._given[turn.id]
                self._dialogue.add_function_message(
                    turn.text, turn.name or "", function_id, turn.failed
                )
            elif turn.text:
                user = turn.role == "user"
                add = self._dialogue.add_user_message if user else self._dialogue.add_system_message
                add(turn.text)
        llm = open_llm(self._name, self._record)
        return self._wire.turns(llm.build_request(self._dialogue, functions=self._functions).body)

    async def _add_answer(self, turn: Said, number: int) -> None:
        """The model's turn as the library reads it: the recorded answer, or one that holds it."""
        record = self._answers.get(number)
        if record is not None and self._is_answer(record, turn):
            self.from_answers.add(number)
            result = await self._ask(record, _replay(record))
        else:
            reply = ScriptedResponse(body=self._wire.answer(turn.wire))
            result = await self._ask(self._record, reply)
        self._dialogue.add_from_output(result)
        for call, use in zip(turn.calls, result.function_calls, strict=True):
            self._given[call.id] = use.function_id
            if call.id == use.function_id:
                self.own.add(use.function_id)

    def _is_answer(self, record: Record, turn: Said) -> bool:
        """Whether the answer became this turn; some senders made up one of their own."""
        reading = self._wire.read(record)
        answered = [(call.name, arguments_value(call.arguments)) for call in reading.calls]
        said = [(call.call, call.arguments) for call in turn.calls]
        return not reading.broken and answered == said

    async def _ask(self, record: Record, reply: ScriptedResponse) -> OutputResult:
        llm = open_llm(self._name, record, [reply])
        messages = self._dialogue if len(self._dialogue) else "Hi"
        if reply.chunks is None:
            return await llm.call(messages, functions=self._functions)
        async with llm.stream(messages, functions=self._functions) as events:
            async for _ in events:
                pass
        return events.result


def as_events(record: Record) -> Record:
    """The record; a stream that came as one JSON array as the same chunks in events."""
    if not isinstance(record.body, list):
        return record
    events = [f"data: {json.dumps(chunk)}\r\n\r\n" for chunk in record.body]
    return replace(record, body=None, stream="".join(events).encode())


def _replay(record: Record) -> ScriptedResponse:
    if record.stream is None:
        return ScriptedResponse(body=record.body_bytes, headers=record.headers)
    data = record.stream
    pieces = [data[at : at + 700] for at in range(0, len(data), 700)]
    return ScriptedResponse(chunks=pieces, headers=record.headers)


def pairs_of(said: list[Said], own: set[str]) -> list[tuple[Any, ...]]:
    """The calls and results in order; ids that are not the provider's own are numbered."""
    numbers: dict[str | None, Any] = {}
    found: list[tuple[Any, ...]] = []
    for turn in said:
        for call in turn.calls:
            numbers[call.id] = call.id if call.id in own else len(numbers)
            found.append(("call", numbers[call.id], call.call, call.arguments))
        if turn.role == "result":
            found.append(("result", numbers[turn.id], turn.text))
    return found


def stories(said: list[Said]) -> list[list[str]]:
    """The parts of each of the model's turns: its calls, and what it must see again as it was."""
    return [
        [part.kept or f"call {part.call}" for part in turn.parts]
        for turn in said
        if turn.role == "model"
    ]


def is_within(inner: list[str], outer: list[str]) -> bool:
    """Whether one list is what is left of another after leaving some out."""
    rest = iter(outer)
    return all(item in rest for item in inner)
