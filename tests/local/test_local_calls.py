"""Calls through the whole library on the real engine, with a tiny model that knows no better."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import jsonschema
import msgspec
import pytest

from llm_tools import (
    BadRequestError,
    ContextLengthError,
    Finished,
    FunctionInputDelta,
    FunctionUseDone,
    FunctionUseStart,
    NotFoundError,
    TextDelta,
    create_chat_prompt,
    create_llm_function_executor,
    use_llm,
)

pytestmark = pytest.mark.anyio
ADD = {
    "name": "add",
    "description": "Add.",
    "parameters": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
    },
}
PING = {"name": "ping", "description": "Ping."}
LEAF = {
    "type": "object",
    "properties": {"value": {"type": "integer"}, "next": {"$ref": "#/$defs/leaf"}},
    "required": ["value"],
}
FITTING: dict[str, Any] = {
    "text": {"type": "string"},
    "long text": {"type": "string", "minLength": 150},
    "bounded text": {"type": "string", "minLength": 2, "maxLength": 3},
    "pattern": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{2}$"},
    "date": {"type": "string", "format": "date"},
    "mail": {"type": "string", "format": "email"},
    "enum": {"enum": ["red", "green", 3, None]},
    "const": {"const": {"a": [1]}},
    "range": {"type": "integer", "minimum": 7, "maximum": 9},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "nothing": {"type": "null"},
    "maybe": {"type": ["integer", "null"]},
    "anything": {},
    "list": {"type": "array", "items": {"type": "integer"}, "minItems": 2},
    "long list": {"type": "array", "items": {"type": "boolean"}, "minItems": 8},
    "any list": {"type": "array"},
    "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
    "map": {"type": "object", "additionalProperties": {"type": "integer"}},
    "open": {"type": "object"},
    "nested": {
        "type": "object",
        "properties": {"deep": {"type": "object", "properties": {"x": {"type": "integer"}}}},
        "required": ["deep"],
    },
    "union": {"anyOf": [{"type": "string"}, {"type": "object", "properties": {}}]},
    "parts": {
        "allOf": [
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]},
        ]
    },
    "reference": {"$ref": "#/$defs/leaf"},
}
BEYOND: dict[str, Any] = {
    "multiple": {"type": "integer", "minimum": 3, "multipleOf": 7},
    "unique": {"type": "array", "items": {"enum": [1]}, "minItems": 2, "uniqueItems": True},
    "not": {"type": "string", "not": {"maxLength": 100}},
    "lookahead": {"type": "string", "pattern": "^(?=.*[0-9])[a-z]+$"},
    "endless": {"type": "string", "pattern": "^(ab){400}$"},
}


def demanding(schema: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"x": schema},
        "required": ["x"],
        "$defs": {"leaf": LEAF},
    }


@pytest.mark.parametrize("name", FITTING)
async def test_forced_calls_fit_their_schema(tiny_model: Path, name: str) -> None:
    """Whatever the model is like, a forced call is valid against the caller's own schema."""
    parameters = demanding(FITTING[name])
    function = {"name": "f", "parameters": parameters}
    result = await use_llm("local.smollm2").call("Go.", functions=[function], function_call="any")
    [call] = result.function_calls
    assert call.input_error is None
    jsonschema.validate(call.input, parameters)


@pytest.mark.parametrize("name", BEYOND)
async def test_what_the_grammar_cannot_hold_is_an_error(tiny_model: Path, name: str) -> None:
    """Where a grammar cannot express the schema, the answer is a typed error, never a bad call."""
    function = {"name": "f", "parameters": demanding(BEYOND[name])}
    with pytest.raises(BadRequestError) as raised:
        await use_llm("local.smollm2").call("Go.", functions=[function], function_call="f")
    assert raised.value.code in ("schema_not_supported", "output_limit")
    assert raised.value.retryable is False


@pytest.mark.parametrize("name", sorted({*FITTING} - {"anything"}))
async def test_json_text_fits_its_schema(tiny_model: Path, name: str) -> None:
    """The same holds for text with a schema."""
    result = await use_llm("local.smollm2").call("Go.", json_schema=demanding(FITTING[name]))
    fits = jsonschema.Draft202012Validator(demanding(FITTING[name])).is_valid
    assert fits(msgspec.json.decode(result.text))


@pytest.mark.parametrize(
    ("function_call", "names"),
    [("any", {"add", "ping"}), ("add", {"add"}), ({"names": ["ping"]}, {"ping"}), ("none", set())],
)
async def test_every_mode(tiny_model: Path, function_call: Any, names: set[str]) -> None:
    """Each mode of the public interface holds on the local model."""
    result = await use_llm("local.smollm2").call(
        "Go.", functions=[ADD, PING], function_call=function_call
    )
    called = {call.name for call in result.function_calls}
    assert called <= names
    assert bool(called) == bool(names)
    assert result.warnings == ()


async def test_streams_equal_calls(tiny_model: Path) -> None:
    """A streamed call has the same content and usage, and its events come in order."""
    llm = use_llm("local.smollm2")
    whole = await llm.call("Go.", functions=[ADD], function_call="any")
    kinds: list[type] = []
    async with llm.stream("Go.", functions=[ADD], function_call="any") as events:
        async for event in events:
            if type(event) not in kinds:
                kinds.append(type(event))
    assert kinds == [FunctionUseStart, FunctionInputDelta, FunctionUseDone, Finished]
    assert [call.input for call in events.result.function_calls] == [{"a": 1, "b": 1}]
    assert events.result.stop_reason == whole.stop_reason == "function_use"
    assert whole.usage is not None
    assert events.result.usage is not None
    assert events.result.usage.total_tokens == whole.usage.total_tokens
    async with llm.stream("Hello") as events:
        said = [event.text async for event in events if isinstance(event, TextDelta)]
    assert "".join(said) == events.result.text == "Hi!"


async def test_limits_and_mistakes_are_typed(tiny_model: Path) -> None:
    """Too long, cut off, and a model that is not there: each its own error."""
    llm = use_llm("local.smollm2")
    with pytest.raises(ContextLengthError):
        await llm.call("word " * 9000)
    with pytest.raises(BadRequestError) as raised:
        await llm.with_options(max_tokens=2).call("Go.", functions=[ADD], function_call="any")
    assert raised.value.code == "output_limit"
    with pytest.raises(NotFoundError, match="only smollm2, tiny"):
        await use_llm("local.gpt-4o").call("Hello")
    assert (await llm.with_options(max_tokens=1).call("Hello")).stop_reason == "length"


async def test_many_calls_at_once(tiny_model: Path) -> None:
    """Fifty calls in flight are all answered, each with its own answer."""
    llm = use_llm("local.smollm2")
    inputs: dict[int, Any] = {}

    async def one(number: int) -> None:
        function = {
            "name": f"f{number}",
            "parameters": demanding({"const": number}),
        }
        result = await llm.call("Go.", functions=[function], function_call="any")
        inputs[number] = result.function_calls[0].input

    async with anyio.create_task_group() as group:
        for number in range(50):
            group.start_soon(one, number)
    assert inputs == {number: {"x": number} for number in range(50)}


async def test_the_whole_loop(tiny_model: Path) -> None:
    """`run` goes from a forced call over its result to text."""

    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    executor = create_llm_function_executor(
        llm=use_llm("local.smollm2"), prompt=create_chat_prompt().add_user_message("{{ input }}")
    )
    done = await executor.run({"input": "Go."}, functions=[add], function_call="any")
    assert [result.content for result in done.results] == [2]
    assert (done.output, done.turns) == ("Hi!", 2)


async def test_the_official_client_understands_it(tiny_model: Path) -> None:
    """OpenAI's own SDK reads calls, streams and errors of the local server."""
    openai = pytest.importorskip("openai")
    from llm_tools.integrations.local import launching

    base_url, key = await launching.launch()
    tools = [{"type": "function", "function": ADD}]
    messages = [{"role": "user", "content": "Go."}]

    def ask() -> None:
        with openai.OpenAI(base_url=base_url, api_key=key, max_retries=0) as client:
            create = client.chat.completions.create
            asked = {"model": "smollm2", "messages": messages, "tools": tools}
            whole = create(**asked, tool_choice="required")
            assert whole.choices[0].message.tool_calls[0].function.arguments == '{"a":1,"b":1}'
            pieces = [
                call.function.arguments
                for chunk in create(**asked, tool_choice="required", stream=True)
                for choice in chunk.choices
                for call in choice.delta.tool_calls or ()
            ]
            assert "".join(pieces) == '{"a":1,"b":1}'
            with pytest.raises(openai.BadRequestError) as raised:
                create(**asked, tool_choice="required", max_tokens=1)
            assert raised.value.code == "output_limit"
            assert [model.id for model in client.models.list()] == ["smollm2", "tiny"]

    await anyio.to_thread.run_sync(ask)
