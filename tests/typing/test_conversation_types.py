"""What type checkers infer of guards, parsers, prompts, dialogues and tools.

Read by mypy and pyright; run by pytest only to see that the names are there.
"""

from __future__ import annotations

from typing import Any, TypedDict, assert_type

from msgspec import Struct

from llm_tools import guards
from llm_tools.callables import CallableExecutor, Tool, create_callable_executor, tool
from llm_tools.content import (
    FunctionResult,
    Message,
    OutputResult,
    OutputResultContent,
    OutputResultFunctionUse,
    OutputResultText,
)
from llm_tools.dialogue import Dialogue, create_dialogue
from llm_tools.parsers import CodeBlock, KeyValue, Parser, create_custom_parser, create_parser
from llm_tools.prompts import ChatPrompt, TextPrompt, create_chat_prompt, create_prompt
from llm_tools.state import State, StateItem, create_state, create_state_item


class Person(Struct):
    """A type for the JSON parser."""

    name: str


class Row(TypedDict):
    """Another."""

    a: int


def guards_tell_the_outcomes_of_execute_apart(
    response: str | list[OutputResultContent], rows: list[str] | list[OutputResultContent]
) -> None:
    """The list of content on one branch, the parser's type on the other."""
    if guards.has_function_call(response):
        assert_type(response, list[OutputResultContent])
        for item in response:
            if guards.is_function_call(item):
                assert_type(item, OutputResultFunctionUse)
                assert_type(item.input, dict[str, Any])
            if guards.is_output_result_content_text(item):
                assert_type(item, OutputResultText)
            if guards.is_tool_call(item):
                assert_type(item, OutputResultFunctionUse)
    else:
        assert_type(response, str)
    if guards.has_tool_call(rows):
        assert_type(rows, list[OutputResultContent])
    else:
        assert_type(rows, list[str])


def guards_narrow_objects(value: object, result: OutputResult | str, message: Message) -> None:
    """Anything at all; a message guard leaves the other roles a message."""
    if guards.is_output_result(value):
        assert_type(value, OutputResult)
    if guards.is_output_result(result):
        assert_type(result, OutputResult)
    else:
        assert_type(result, str)
    if not guards.is_user_message(message):
        assert_type(message, Message)
    if guards.is_system_message(value):
        assert_type(value, Message)


def guards_answer_bool_for_plain_json(
    item: dict[str, Any], items: list[dict[str, Any]], result: OutputResult
) -> None:
    """Dicts stay dicts."""
    assert_type(guards.is_function_call(item), bool)
    assert_type(guards.has_function_call(items), bool)
    assert_type(guards.has_function_call(result), bool)
    assert_type(guards.is_output_result(item), bool)
    assert_type(guards.is_user_message(item), bool)
    if guards.is_function_call(item):
        assert_type(item, dict[str, Any])


def parsers_know_what_they_return() -> None:
    """Each kind its own type; a schema type its instance."""
    assert_type(create_parser(), Parser[str])
    assert_type(create_parser("string"), Parser[str])
    assert_type(create_parser("boolean").parse("yes"), bool)
    assert_type(create_parser("number", match="exact").parse("1"), int | float)
    assert_type(create_parser("json", schema=Person).parse("{}"), Person)
    assert_type(create_parser("json", schema=Row), Parser[Row])
    assert_type(create_parser("json", schema=list[int]), Parser[list[int]])
    assert_type(create_parser("json", schema={"type": "object"}), Parser[Any])
    assert_type(create_parser("json"), Parser[Any])
    assert_type(create_parser("list_to_array"), Parser[list[str]])
    assert_type(create_parser("list_to_key_value"), Parser[list[KeyValue]])
    assert_type(create_parser("list_to_json"), Parser[dict[str, Any]])
    assert_type(create_parser("markdown_code_block"), Parser[CodeBlock])
    assert_type(create_parser("markdown_code_blocks"), Parser[list[CodeBlock]])
    assert_type(create_parser("replace_string_template", values={"a": 1}), Parser[str])
    assert_type(create_parser("string_extract", enum=["a"]), Parser[str])
    assert_type(create_custom_parser("length", len), Parser[int])


def conversations_are_built_in_a_row(result: OutputResult, results: list[FunctionResult]) -> None:
    """The methods return what they were called on."""
    dialogue = create_dialogue("d").add_user_message("hi").add_from_output(result)
    assert_type(dialogue.add_from_results(results), Dialogue)
    assert_type(dialogue.history, tuple[Message, ...])
    assert_type(Dialogue.from_json(dialogue.to_json()), Dialogue)
    assert_type(create_chat_prompt("s").add_user_message("{{ x }}"), ChatPrompt)
    assert_type(create_prompt("chat"), ChatPrompt)
    assert_type(create_prompt("text", "x").add_text("y"), TextPrompt)
    assert_type(create_prompt().format({"x": 1}), list[Message])
    assert_type(create_state(), State)
    assert_type(create_state_item("n", 1), StateItem[int])
    assert_type(create_state().create_context_item(create_state_item("n", 1)).value, int)


@tool
def add(a: int, b: int = 2) -> int:
    """Add."""
    return a + b


@tool(name="later", timeout=5, sequential=True)
async def later(text: str) -> str:
    """Later."""
    return text


class Host:
    """A class with a method that is a tool."""

    @tool
    def size(self) -> int:
        """Size."""
        return 1


async def tools_stay_typed_functions() -> None:
    """Called with the function's own parameters."""
    assert_type(add(1, b=2), int)
    assert_type(await later("x"), str)
    executors: list[CallableExecutor] = [add, later, Host().size]
    assert_type(create_callable_executor(name="f", handler=len), CallableExecutor)
    assert isinstance(executors[0], Tool)


def test_what_is_inferred_holds_when_run() -> None:
    """The guards narrow to what the values are."""
    use = OutputResultFunctionUse(name="f", input={}, function_id="c")
    content: list[OutputResultContent] = [use, OutputResultText(text="t")]
    guards_tell_the_outcomes_of_execute_apart(content, ["a"])
    guards_tell_the_outcomes_of_execute_apart("text", content)
    assert guards.has_function_call([use])
    assert not guards.has_function_call(["a"])
    assert add(1) == 3
    assert Host().size() == 1
