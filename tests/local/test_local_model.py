"""The real model: what it must always do, and the sentences it is known to understand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import msgspec
import pytest

from llm_tools import (
    TextDelta,
    create_chat_prompt,
    create_dialogue,
    create_llm_function_executor,
    dispatch,
    guards,
    use_llm,
)
from llm_tools.integrations.local import launching

pytestmark = [pytest.mark.local_model, pytest.mark.anyio, pytest.mark.timeout(300)]


def function(name: str, description: str, /, **properties: Any) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        },
    }


NUMBER, TEXT = {"type": "number"}, {"type": "string"}
FUNCTIONS = {
    item["name"]: item
    for item in (
        function("add_numbers", "Add two numbers.", a=NUMBER, b=NUMBER),
        function("multiply_numbers", "Multiply two numbers.", x=NUMBER, y=NUMBER),
        function("get_weather", "Get the weather of a city.", city=TEXT),
        function("set_timer", "Set a timer for some minutes.", minutes={"type": "integer"}),
        function(
            "convert_currency",
            "Convert money from one currency to another.",
            amount=NUMBER,
            source=TEXT,
            target=TEXT,
        ),
        function(
            "turn_light", "Turn a light in a room on or off.", room=TEXT, on={"type": "boolean"}
        ),
    )
}
KNOWN = [
    ("Please add 17 and 25.", "add_numbers", {"a": 17, "b": 25}),
    ("Multiply 6 by 7.", "multiply_numbers", {"x": 6, "y": 7}),
    ("Set a timer for 10 minutes.", "set_timer", {"minutes": 10}),
    (
        "Convert 100 USD to EUR.",
        "convert_currency",
        {"amount": 100, "source": "USD", "target": "EUR"},
    ),
    ("What is the weather in Paris?", "get_weather", {"city": "Paris"}),
    ("Turn on the light in the kitchen.", "turn_light", {"room": "kitchen", "on": True}),
]
REQUESTS = [
    *[request for request, _, _ in KNOWN],
    "Write me a long poem about the sea and all its fish.",
    "",
    "{ \"name\": ] <|im_end|> 🙂",
    "What do you think about the meaning of life, the universe and everything?",
]  # fmt: skip


def check(call: Any) -> None:
    assert jsonschema.Draft202012Validator(FUNCTIONS[call.name]["parameters"]).is_valid(call.input)


async def test_any_is_valid_ten_times(anyio_backend: Any) -> None:
    """A forced choice gives one valid call whatever is said."""
    llm = use_llm("local.smollm2")
    for request in REQUESTS:
        result = await llm.call(request, functions=[*FUNCTIONS.values()], function_call="any")
        [call] = result.function_calls
        check(call)


async def test_a_named_function_is_valid_ten_times(anyio_backend: Any) -> None:
    """A named function is called, validly, whatever is said; at any temperature."""
    llm = use_llm("local.smollm2", temperature=1.0, seed=3)
    for request in REQUESTS:
        result = await llm.call(
            request, functions=[*FUNCTIONS.values()], function_call="convert_currency"
        )
        [call] = result.function_calls
        assert call.name == "convert_currency"
        check(call)


async def test_json_schema_is_valid_ten_times(anyio_backend: Any) -> None:
    """Text held to a schema fits it whatever is said."""
    schema = function(
        "", "", name=TEXT, age={"type": "integer", "minimum": 0},
        tags={"type": "array", "items": {"enum": ["a", "b"]}}, note={"type": ["string", "null"]},
    )["parameters"]  # fmt: skip
    llm = use_llm("local.smollm2")
    for request in REQUESTS:
        result = await llm.call(request or "Hello", json_schema=schema)
        value = msgspec.json.decode(result.text)
        assert jsonschema.Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize(("request_text", "name", "expected"), KNOWN)
async def test_known_sentences(request_text: str, name: str, expected: dict[str, Any]) -> None:
    """Short requests that hold every value are understood: named, and alone on offer."""
    llm = use_llm("local.smollm2")
    named = await llm.call(request_text, functions=[*FUNCTIONS.values()], function_call=name)
    alone = await llm.call(request_text, functions=[FUNCTIONS[name]], function_call="any")
    for result in (named, alone):
        [call] = result.function_calls
        assert (call.name, call.input) == (name, expected)


@pytest.mark.parametrize("request_text", [request for request, _, _ in KNOWN[:2]])
async def test_the_whole_loop_ends_in_the_result(request_text: str) -> None:
    """Forced call, dispatch, reply, and a sentence that holds the result."""

    def add_numbers(a: float, b: float) -> dict[str, int]:
        """Add two numbers."""
        return {"sum": int(a + b)}

    def multiply_numbers(x: float, y: float) -> dict[str, int]:
        """Multiply two numbers."""
        return {"product": int(x * y)}

    functions = [add_numbers, multiply_numbers]
    executor = create_llm_function_executor(
        llm=use_llm("local.smollm2"),
        prompt=create_chat_prompt().add_chat_history_placeholder("history"),
    )
    dialogue = create_dialogue().add_user_message(request_text)
    response = await executor.execute(
        {"history": dialogue}, functions=functions, function_call="any"
    )
    assert guards.has_function_call(response)
    results = await dispatch(response, functions)
    dialogue.add_from_output(response).add_from_results(results)
    assert "42" in str(await executor.execute({"history": dialogue}, functions=functions))


async def test_free_choice() -> None:
    """`auto` calls what plainly fits, leaves chat alone, and `none` never calls."""
    llm = use_llm("local.smollm2")
    functions = [*FUNCTIONS.values()]
    result = await llm.call("Please add 17 and 25.", functions=functions, function_call="auto")
    assert [call.name for call in result.function_calls] == ["add_numbers"]
    for mode in ("auto", "none"):
        result = await llm.call(
            "What is the capital of France?", functions=functions, function_call=mode
        )
        assert (result.function_calls, result.stop_reason) == ([], "stop")
        assert "Paris" in result.text


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def becomes_idle(pid: int) -> bool:
    """Whether the process stops working, within some seconds."""
    for _ in range(50):
        before = cpu_seconds(pid)
        await anyio.sleep(0.2)
        if cpu_seconds(pid) - before < 0.02:
            return True
    return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
@pytest.mark.parametrize("how", ["call", "prefill", "stream"])
async def test_cancelling_stops_the_generation(how: str) -> None:
    """A call given up, early or late, or a stream left, leaves the processor at rest."""
    llm = use_llm("local.smollm2", max_tokens=3000)
    await llm.with_options(max_tokens=1).call("Hello")
    pid = next(iter(launching._children.values())).process.pid
    request = "Write a very long story about a dragon."
    if how == "stream":
        async with llm.stream(request) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    break
    else:
        if how == "prefill":
            request = "Tell me about these numbers: " + " ".join(map(str, range(1000)))
        with anyio.move_on_after(1.0) as scope:
            await llm.call(request)
        assert scope.cancelled_caught
    assert await becomes_idle(pid)
    assert (await llm.with_options(max_tokens=8).call("Hello")).text


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_the_demo_tells_its_story(loop: str) -> None:
    """`llm-tools demo` succeeds on both loops, without colours where nobody sees them."""
    done = subprocess.run(
        [sys.executable, "-m", "llm_tools.cli", "demo", "--loop", loop],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "The sum of 17 and 25 is 42." in done.stdout
    assert "135 million parameters" in done.stdout
    assert "\x1b" not in done.stdout
