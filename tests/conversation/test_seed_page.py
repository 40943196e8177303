"""The page on calling tools with an executor, example by example, as a program would write them.

Answers come from a script behind the real wire, on both event loops.
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from llm_tools import (
    Dialogue,
    Llm,
    LlmExecutor,
    LlmExecutorOpenAiFunctions,
    LlmExecutorWithFunctions,
    OutputResult,
    OutputResultFunctionUse,
    ParserError,
    ScriptedTransport,
    UnmetFunctionCallError,
    create_callable_executor,
    create_chat_prompt,
    create_core_executor,
    create_dialogue,
    create_llm_executor,
    create_llm_function_executor,
    create_parser,
    dispatch,
    guards,
    list_endpoints,
    use_executors,
    use_llm,
)
from llm_tools.testing.scripted_transport import RecordedRequest

pytestmark = pytest.mark.anyio

INSTRUCTION = """You are walking through a maze.
You must take one step at a time.
Pick a direction to move."""

FUNCTIONS = [
    {
        "name": "move_left",
        "description": "move one block to the left",
        "parameters": {"type": "object", "properties": {"blocks": {"type": "integer"}}},
    },
    {"name": "move_right", "description": "move one block to the right"},
]

NOTHING = {"type": "object", "properties": {}}


def call(name: str, arguments: str, function_id: str = "call_1") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": function_id, "type": "function", "function": function}


def answer(text: str | None = None, *calls: dict[str, Any]) -> dict[str, Any]:
    """What the provider sends back."""
    message = {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}
    reason = "tool_calls" if calls else "stop"
    return {"id": "c", "choices": [{"index": 0, "finish_reason": reason, "message": message}]}


LEFT = answer(None, call("move_left", '{"blocks": 1}'))


class Maze:
    """A model with its script, and what was sent to it."""

    def __init__(self, *answers: dict[str, Any], key: str = "openai.gpt-4o-mini") -> None:
        self.wire = ScriptedTransport(list(answers))
        self.llm: Llm = use_llm(key, api_key="sk-test", transport=self.wire)

    @property
    def sent(self) -> list[RecordedRequest]:
        return self.wire.requests


def prompt() -> Any:
    return create_chat_prompt(INSTRUCTION).add_user_message("{{ input }}")


# ---------------------------------------------------------------- the executor


def test_it_is_an_executor_like_any_other() -> None:
    """The one for functions extends the one without, and takes the same to be made."""
    assert issubclass(LlmExecutorWithFunctions, LlmExecutor)
    maze = Maze()
    made = create_llm_function_executor(llm=maze.llm, prompt=prompt())
    assert type(made) is LlmExecutorWithFunctions
    assert type(LlmExecutorWithFunctions(llm=maze.llm, prompt=prompt())) is type(made)


async def test_the_old_name_works_and_warns_when_it_is_used() -> None:
    """At the line that makes one, not at the import."""
    maze = Maze(LEFT)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        executor = LlmExecutorOpenAiFunctions(llm=maze.llm, prompt=prompt())
    (warning,) = caught
    assert warning.category is DeprecationWarning
    assert warning.filename == __file__
    assert "LlmExecutorWithFunctions" in str(warning.message)
    response = await executor.execute({"input": "Hello!"}, functions=FUNCTIONS)
    assert guards.has_function_call(response)


# ---------------------------------------------------------------- the basic example


async def test_the_basic_example() -> None:
    """A prompt, two functions, one answer; the request holds what the page writes."""
    maze = Maze(LEFT)
    executor = create_llm_function_executor(llm=maze.llm, prompt=prompt())

    response = await executor.execute(
        {"input": "Hello!"}, functions=FUNCTIONS, function_call="auto"
    )

    assert response == [
        OutputResultFunctionUse(name="move_left", input={"blocks": 1}, function_id="call_1")
    ]
    (request,) = maze.sent
    assert request.url == "https://api.openai.com/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer sk-test"
    assert request.body == {
        "model": "gpt-4o-mini",
        "messages": [
            {"role": "system", "content": INSTRUCTION},
            {"role": "user", "content": "Hello!"},
        ],
        "tools": [
            {"type": "function", "function": FUNCTIONS[0]},
            {"type": "function", "function": {**FUNCTIONS[1], "parameters": NOTHING}},
        ],
        "tool_choice": "auto",
    }


async def test_the_class_does_what_the_factory_does() -> None:
    """The same request, the same response."""
    one, other = Maze(LEFT), Maze(LEFT)
    made = create_llm_function_executor(llm=one.llm, prompt=prompt())
    by_hand = LlmExecutorWithFunctions(llm=other.llm, prompt=prompt())
    options = {"functions": FUNCTIONS, "function_call": "auto"}
    responses = [await e.execute({"input": "Hello!"}, **options) for e in (made, by_hand)]
    assert responses[0] == responses[1]
    assert one.sent == other.sent


# ---------------------------------------------------------------- options of one call


@pytest.mark.parametrize(
    ("function_call", "wire"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("any", "required"),
        ({"name": "move_left"}, {"type": "function", "function": {"name": "move_left"}}),
        ("move_left", {"type": "function", "function": {"name": "move_left"}}),
    ],
)
async def test_how_the_model_chooses(function_call: Any, wire: Any) -> None:
    """Every mode is mapped, the forced function too."""
    maze = Maze(LEFT)
    executor = create_llm_function_executor(llm=maze.llm, prompt=prompt())
    await executor.execute({"input": "Go"}, functions=FUNCTIONS, function_call=function_call)
    assert maze.sent[0].body["tool_choice"] == wire


@pytest.mark.parametrize("key", [f"{e.key}.{e.protocol}.v1" for e in list_endpoints()])
def test_the_same_functions_work_on_every_provider(key: str) -> None:
    """In every mode, unless the provider has no function calling; the list stays as it was."""
    where = {"amazon": {"region": "r"}, "azure": {"resource": "r"}, "vertex": {"project": "p"}}
    llm = use_llm(
        key, model="m", **where.get(key.split(".", maxsplit=1)[0].split(":", maxsplit=1)[0], {})
    )
    support = llm.target.dialect.support(llm.target)
    before = repr(FUNCTIONS)
    for mode, option in (("auto", "auto"), ("none", "none"), ("any", "any"),
                         ({"name": "move_left"}, "named")):  # fmt: skip
        if support[option] != "refused":
            llm.build_request("Hello!", functions=FUNCTIONS, function_call=mode)
    assert support["auto"] == "native" or key == "perplexity.chat.v1"
    assert repr(FUNCTIONS) == before


async def test_a_forced_call_that_does_not_come_is_no_answer() -> None:
    """The error carries what came instead."""
    maze = Maze(answer("I would rather not."))
    executor = create_llm_function_executor(llm=maze.llm, prompt=prompt())
    with pytest.raises(UnmetFunctionCallError) as caught:
        await executor.execute({"input": "Go"}, functions=FUNCTIONS, function_call="any")
    assert caught.value.result.text == "I would rather not."


async def test_strict_input() -> None:
    """The schema goes out closed, and what the model had to invent for it is taken out again."""
    maze = Maze(answer(None, call("move_left", '{"blocks": null}')))
    executor = create_llm_function_executor(llm=maze.llm, prompt=prompt())
    (item,) = await executor.execute(
        {"input": "Go"}, functions=FUNCTIONS[:1], function_call_strict_input=True
    )
    function = maze.sent[0].body["tools"][0]["function"]
    assert function["strict"] is True
    assert function["parameters"]["additionalProperties"] is False
    assert function["parameters"]["required"] == ["blocks"]
    assert item.input == {}


async def test_a_json_schema_shapes_the_text() -> None:
    """The wire's own field, and the text is checked against it."""
    schema = {"type": "object", "properties": {"way": {"type": "string"}}, "required": ["way"]}
    maze = Maze(answer('{"way": "left"}'), answer('{"to": "left"}'))
    executor = create_llm_executor(llm=maze.llm, prompt=prompt(), parser=create_parser("json"))
    assert await executor.execute({"input": "Which?"}, json_schema=schema) == {"way": "left"}
    assert maze.sent[0].body["response_format"]["type"] == "json_schema"
    with pytest.raises(ParserError) as caught:
        await executor.execute({"input": "Which?"}, json_schema=schema)
    assert caught.value.text == '{"to": "left"}'


# ---------------------------------------------------------------- what comes back

WEATHER = [
    {
        "name": "get_weather",
        "description": "the weather at a place",
        "parameters": {
            "type": "object",
            "properties": {"latitude": {"type": "number"}, "longitude": {"type": "number"}},
            "required": ["latitude", "longitude"],
        },
    }
]
PLACE = '{"latitude": 39.7392, "longitude": -104.9903}'


def call_your_tool(name: str, given: dict[str, Any]) -> str:
    assert name == "get_weather"
    return f"Sunny at {given['latitude']}."


async def test_calls_are_told_from_text() -> None:
    """The content as it came where there is a call; else the parser's output."""
    maze = Maze(answer("Let me look.", call("get_weather", PLACE, "call_w")), answer("No idea."))
    executor = create_llm_function_executor(llm=maze.llm, prompt=prompt())
    seen: list[Any] = []
    for _ in range(2):
        response = await executor.execute(
            {"input": "What's the weather in Denver?"}, functions=WEATHER, function_call="auto"
        )
        if guards.has_function_call(response):
            for item in response:
                if guards.is_function_call(item):
                    result = call_your_tool(item.name, item.input)
                    seen.append((item.name, item.input, item.function_id, result))
                else:
                    assert guards.is_output_result_content_text(item)
                    seen.append(item.text)
        else:
            seen.append(response)
    assert seen == [
        "Let me look.",
        (
            "get_weather",
            {"latitude": 39.7392, "longitude": -104.9903},
            "call_w",
            "Sunny at 39.7392.",
        ),
        "No idea.",
    ]


async def test_a_parser_that_gives_a_list_lands_on_the_text_path() -> None:
    """Being a list says nothing: the guard does."""
    maze = Maze(answer("- left\n- right"), LEFT)
    parser = create_parser("list_to_array")
    executor = create_llm_function_executor(llm=maze.llm, prompt=prompt(), parser=parser)
    text = await executor.execute({"input": "Ways?"}, functions=FUNCTIONS)
    assert text == ["left", "right"]
    assert not guards.has_function_call(text)
    called = await executor.execute({"input": "Ways?"}, functions=FUNCTIONS)
    assert guards.has_function_call(called)


async def test_the_parser_never_sees_arguments() -> None:
    """Of an answer with a call, the content comes back raw, even its text."""
    maze = Maze(answer("not a number", call("move_left", "{}")))
    parser = create_parser("number")
    executor = create_llm_function_executor(llm=maze.llm, prompt=prompt(), parser=parser)
    response = await executor.execute({"input": "Go"}, functions=FUNCTIONS)
    assert [guards.is_function_call(item) for item in response] == [False, True]


# ---------------------------------------------------------------- replying with results


async def test_the_loop_by_hand() -> None:
    """Run the tool, put its result under the call's id, ask again; the history grows in between."""
    maze = Maze(answer(None, call("get_weather", PLACE, "call_w")), answer("It is sunny."))
    dialogue = create_dialogue("weather").add_user_message("What's the weather in Denver?")
    template = create_chat_prompt("Be brief.").add_chat_history_placeholder("history")
    executor = create_llm_function_executor(llm=maze.llm, prompt=template)
    response = await executor.execute({"history": dialogue}, functions=WEATHER)
    while guards.has_function_call(response):
        dialogue.add_from_output(response)
        for item in response:
            if guards.is_function_call(item):
                result = call_your_tool(item.name, item.input)
                dialogue.add_function_message(result, item.name, item.function_id)
        response = await executor.execute({"history": dialogue}, functions=WEATHER)
    assert response == "It is sunny."
    assert maze.sent[1].body["messages"][2:] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                call("get_weather", '{"latitude":39.7392,"longitude":-104.9903}', "call_w")
            ],
        },
        {"role": "tool", "tool_call_id": "call_w", "content": "Sunny at 39.7392."},
    ]


async def test_the_loop_with_dispatch_and_a_copied_history() -> None:
    """The same with less to write; and the conversation can be kept as text in between."""
    maze = Maze(answer(None, call("get_weather", PLACE, "call_w")), answer("It is sunny."))
    weather = create_callable_executor(
        **WEATHER[0], handler=lambda given: call_your_tool("get_weather", given)
    )
    dialogue = create_dialogue("weather").add_user_message("What's the weather in Denver?")
    result = await maze.llm.call(dialogue, functions=[weather])
    assert isinstance(result, OutputResult)
    dialogue.add_from_output(result).add_from_results(await dispatch(result, [weather]))
    kept = Dialogue.from_json(dialogue.to_json())
    again = create_chat_prompt("Be brief.").add_from_history(kept)
    executor = create_llm_function_executor(llm=maze.llm, prompt=again)
    assert await executor.execute(functions=[weather]) == "It is sunny."
    assert [m["role"] for m in maze.sent[1].body["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
    ]


async def test_the_loop_in_one_call() -> None:
    """`run` does all of it, and hands back what was said."""
    maze = Maze(answer(None, call("get_weather", PLACE, "call_w")), answer("It is sunny."))
    weather = create_callable_executor(
        **WEATHER[0], handler=lambda given: call_your_tool("get_weather", given)
    )
    executor = create_llm_function_executor(llm=maze.llm, prompt=prompt())
    done = await executor.run({"input": "What's the weather in Denver?"}, functions=[weather])
    assert done.output == "It is sunny."
    assert [m.role for m in done.dialogue.history] == ["user", "assistant", "function", "assistant"]
    assert [r.content for r in done.results] == ["Sunny at 39.7392."]


# ---------------------------------------------------------------- and beyond


async def test_any_executor_can_be_a_tool() -> None:
    """A plain one, and one with a model of its own."""
    inner = Maze(answer("Two blocks."))
    ask = create_chat_prompt("Count blocks.").add_user_message("{{ way }}")
    tools = use_executors(
        [
            create_callable_executor(
                name="count",
                description="count the blocks ahead",
                parameters={"type": "object", "properties": {"way": {"type": "string"}}},
                handler=create_llm_executor(llm=inner.llm, prompt=ask),
            ),
            create_callable_executor(
                name="move_left",
                description="move one block to the left",
                handler=create_core_executor(lambda given: f"moved {given.get('blocks', 1)}"),
            ),
        ]
    )
    outer = Maze(
        answer(None, call("count", '{"way": "left"}', "a"), call("move_left", "{}", "b")),
        answer("There."),
    )
    executor = create_llm_function_executor(llm=outer.llm, prompt=prompt())
    done = await executor.run({"input": "Hello!"}, functions=tools)
    assert done.output == "There."
    assert [result.content for result in done.results] == ["Two blocks.", "moved 1"]
    assert inner.sent[0].body["messages"][1] == {"role": "user", "content": "left"}
