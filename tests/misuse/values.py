"""Every public way in, with an option to be given a wrong value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import isawaitable
from math import nan
from typing import Any

from llm_tools import (
    PartialInput,
    PendingRun,
    create_callable_executor,
    create_chat_prompt,
    create_core_executor,
    create_custom_parser,
    create_dialogue,
    create_llm_executor,
    create_llm_function_executor,
    create_openai_compatible_endpoint,
    create_parser,
    create_prompt,
    create_state,
    dispatch,
    fallback,
    guards,
    tool,
    use_executors,
    use_llm,
)
from llm_tools.content import OutputResultFunctionUse
from llm_tools.functions.definitions import FunctionDefinition
from llm_tools.options import LlmOptions
from llm_tools.testing import ScriptedLlm


class Thing:
    """Something of no use anywhere, which says always the same."""

    def __init__(self, *_: Any, **__: Any) -> None:
        """It can be made of anything."""

    def __repr__(self) -> str:
        return "<thing>"


class Unhashable:
    """The same, and no key of a dict."""

    __hash__: Any = None

    def __repr__(self) -> str:
        return "<unhashable>"


WRONG: dict[str, Any] = {
    "None": None,
    "5": 5,
    "-1": -1,
    "0": 0,
    "1.5": 1.5,
    "nan": nan,
    "True": True,
    "'no'": "no",
    "''": "",
    "b'no'": b"no",
    "[]": [],
    "[[]]": [[]],
    "[5]": [5],
    "{}": {},
    "{5: []}": {5: []},
    "{'a': 5}": {"a": 5},
    "set()": set(),
    "object": Thing(),
    "unhashable": Unhashable(),
    "type": Thing,
    "function": lambda *_, **__: None,
}

CALL = OutputResultFunctionUse(name="f", input={}, function_id="c1")
SWITCHES = frozenset(
    {
        "allow_http",
        "function_call_strict_input",
        "http2",
        "ignore_case",
        "idempotent",
        "is_error",
        "parallel_function_calls",
        "repair_arguments",
        "repeatable",
        "requires_approval",
        "sequential",
        "share_limits",
        "start_early",
        "strict_history",
    }
)


@tool
def f() -> str:
    """Nothing."""
    return "done"


def scripted() -> ScriptedLlm:
    """A model that says one thing, as often as it is asked here."""
    return ScriptedLlm(["hello", "hello", "hello"])


def executor() -> Any:
    """An executor over it."""
    return create_llm_function_executor(llm=scripted(), prompt="hi")


async def streamed(manager: Any) -> None:
    """Read a stream to its end."""
    async with manager as events:
        async for _ in events:
            pass


Way = Callable[[Any], Any]


def options(call: Callable[..., Any], *names: str, **fixed: Any) -> Iterator[tuple[str, Way]]:
    """One way for each option of a call."""
    for name in names:
        yield name, lambda value, name=name: call(**fixed | {name: value})


def arguments(**calls: Way) -> Iterator[tuple[str, Way]]:
    """One way for each call of one argument."""
    yield from calls.items()


def _use_llm(**given: Any) -> Any:
    llm = use_llm("openai.gpt-4o-mini", **{"api_key": "k", **given})
    return llm.build_request("hi")


def _build(**given: Any) -> Any:
    llm = use_llm("anthropic.claude-sonnet-4-5", api_key="k")
    return llm.build_request(**{"messages": "hi", **given})


def _run(**given: Any) -> Any:
    return executor().run("hi", **{"functions": [f], **given})


def _decorated(**given: Any) -> Any:
    made = tool(**given)(f.source)
    return made.definition


def _made(**given: Any) -> Any:
    made = create_callable_executor(**{"name": "f", "handler": str, **given})
    return dispatch([CALL], [made])


_CALL_OPTIONS = ("functions", "function_call", "function_call_strict_input", "json_schema")
_EXECUTING = (*_CALL_OPTIONS, "llm_options", "trace_id")
_RUNNING = (
    *("functions", "function_call", "function_call_strict_input", "json_schema", "max_turns"),
    *("max_total_tokens", "max_seconds", "max_calls_per_function", "function_timeout", "approve"),
    *("max_concurrency", "start_early", "share_limits", "on_event", "dialogue", "llm_options"),
    *("trace_id",),
)
_SETTINGS = (
    *("timeout", "sequential", "max_concurrency", "group", "requires_approval", "retries"),
    *("max_result_bytes", "isolation", "repeatable", "idempotent"),
)
_FUNCTION = ("name", "description", "key", "attributes", "visibility_handler", "validate_input")
_LLM = tuple(sorted(LlmOptions.__annotations__))

WAYS: dict[str, dict[str, Way]] = {
    "use_llm": dict(options(_use_llm, "model", *_LLM)),
    "use_llm()": {"key": lambda value: use_llm(value)},
    "with_options": dict(options(use_llm("openai.gpt-4o-mini").with_options, *_LLM)),
    "build_request": dict(options(_build, "messages", *_CALL_OPTIONS, "stream")),
    "ScriptedLlm": dict(options(lambda **given: scripted().call("hi", **given), *_CALL_OPTIONS)),
    "fallback": {
        "model": lambda value: fallback(value),
        "on": lambda value: fallback(scripted(), on=value),
    },
    "create_core_executor": dict(
        options(create_core_executor, "handler", "name", "hooks", handler=str)
    ),
    "create_llm_executor": dict(
        options(
            create_llm_executor,
            "llm",
            "prompt",
            "parser",
            "name",
            "hooks",
            llm=scripted(),
            prompt="hi",
        )
    ),
    "LlmExecutor.execute": dict(
        options(
            lambda **given: create_llm_executor(llm=scripted(), prompt="hi").execute(**given),
            *("input", "json_schema", "llm_options", "trace_id"),
        )
    ),
    "prompt": {
        "returned": lambda value: create_llm_executor(
            llm=scripted(), prompt=lambda _: value
        ).execute("x")
    },
    "execute": dict(options(lambda **given: executor().execute("hi", **given), *_EXECUTING)),
    "executor.call": dict(
        options(lambda **given: executor().call("hi", **given), *_CALL_OPTIONS, "llm_options")
    ),
    "executor.stream": dict(
        options(
            lambda **given: streamed(executor().stream("hi", **given)),
            *(*_CALL_OPTIONS, "llm_options"),
        )
    ),
    "run": dict(options(_run, *_RUNNING)),
    "stream_run": dict(
        options(
            lambda **given: streamed(executor().stream_run("hi", **{"functions": [f], **given})),
            *(name for name in _RUNNING if name != "on_event"),
        )
    ),
    "resume": {
        "pending": lambda value: executor().resume(value, decisions={}),
        "from_json": lambda value: PendingRun.from_json(value),
    },
    "hooks": {
        "event": lambda value: executor().on(value, str),
        "hook": lambda value: executor().on("on_error", value),
        "once": lambda value: executor().once(value, str),
        "off": lambda value: executor().off(value, str),
    },
    "dispatch": {
        "calls": lambda value: dispatch(value, [f]),
        "functions": lambda value: dispatch([CALL], value),
        **dict(
            options(
                lambda **given: dispatch([CALL], [f], **given),
                *("max_concurrency", "timeout", "approve", "input"),
            )
        ),
    },
    "approve": {"answer": lambda value: dispatch([CALL], [f], approve=lambda _: value)},
    "create_callable_executor": dict(
        options(_made, *_FUNCTION, "handler", "parameters", *_SETTINGS)
    ),
    "tool": dict(options(_decorated, *_FUNCTION, *_SETTINGS)),
    "tool()": {"function": lambda value: tool(value)},
    "use_executors": {
        "functions": lambda value: use_executors(value),
        "has_function": lambda value: use_executors([f]).has_function(value),
        "get_function": lambda value: use_executors([f]).get_function(value),
        "visible_input": lambda value: use_executors([f]).get_visible_functions(value),
        "attributes": lambda value: use_executors([f]).get_visible_functions({}, value),
        "call_name": lambda value: use_executors([f]).call_function(value),
        "call_input": lambda value: use_executors([f]).call_function("f", value),
        "call_id": lambda value: use_executors([f]).call_function("f", {}, function_id=value),
        "call_attributes": lambda value: use_executors([f]).call_function("f", attributes=value),
        "validate_name": lambda value: use_executors([f]).validate_function_input(value, {}),
        "validate_input": lambda value: use_executors([f]).validate_function_input("f", value),
    },
    "create_parser": {
        "kind": lambda value: create_parser(value),
        **{
            f"{kind}.{name}": lambda value, kind=kind, name=name: create_parser(
                kind, **{**({"enum": ["a"]} if kind == "string_extract" else {}), name: value}
            ).parse('a: 5 true {"a": 1} {{ a }} {{ }}')
            for kind, names in {
                "boolean": ["match"],
                "number": ["match"],
                "json": ["schema", "match"],
                "list_to_json": ["key_transform", "schema"],
                "replace_string_template": ["values"],
                "string_extract": ["enum", "match", "ignore_case"],
            }.items()
            for name in names
        },
        "text": lambda value: create_parser("string").parse(value),
        "custom_name": lambda value: create_custom_parser(value, str),
        "custom_fn": lambda value: create_custom_parser("p", value).parse("x"),
    },
    "prompts": {
        "kind": lambda value: create_prompt(value),
        "text": lambda value: create_prompt("text", value),
        "system": lambda value: create_chat_prompt(value),
        "add_user_message": lambda value: create_chat_prompt().add_user_message(value).format(),
        "add_system_message": lambda value: create_chat_prompt().add_system_message(value).format(),
        "add_assistant_message": lambda value: (
            create_chat_prompt().add_assistant_message(value).format()
        ),
        "add_from_history": lambda value: create_chat_prompt().add_from_history(value),
        "placeholder_key": lambda value: (
            create_chat_prompt().add_chat_history_placeholder(value).format()
        ),
        "placeholder": lambda value: (
            create_chat_prompt().add_chat_history_placeholder("h").format({"h": value})
        ),
        "values": lambda value: create_chat_prompt("{{ a }}").format(value),
        "call_name": lambda value: (
            create_chat_prompt().add_function_call_message(value, {}, "c1").format()
        ),
        "call_input": lambda value: (
            create_chat_prompt().add_function_call_message("f", value, "c1").format()
        ),
        "call_id": lambda value: (
            create_chat_prompt().add_function_call_message("f", {}, value).format()
        ),
        "result": lambda value: create_chat_prompt().add_function_message(value, "f", "c").format(),
        "result_name": lambda value: (
            create_chat_prompt().add_function_message("x", value, "c").format()
        ),
        "is_error": lambda value: (
            create_chat_prompt().add_function_message("x", "f", "c", value).format()
        ),
    },
    "dialogue": {
        "name": lambda value: create_dialogue(value).add_user_message("x").to_json(),
        "user": lambda value: create_dialogue("d").add_user_message(value),
        "assistant": lambda value: create_dialogue("d").add_assistant_message(value),
        "system": lambda value: create_dialogue("d").add_system_message(value),
        "output": lambda value: create_dialogue("d").add_from_output(value),
        "results": lambda value: create_dialogue("d").add_from_results(value),
        "history": lambda value: create_dialogue("d").add_from_history(value),
        "call_name": lambda value: create_dialogue("d").add_function_call_message(value, {}, "c"),
        "call_input": lambda value: create_dialogue("d").add_function_call_message("f", value, "c"),
        "call_id": lambda value: create_dialogue("d").add_function_call_message("f", {}, value),
        "result": lambda value: create_dialogue("d").add_function_message(value, "f", "c"),
        "is_error": lambda value: create_dialogue("d").add_function_message("x", "f", "c", value),
        "from_json": lambda value: type(create_dialogue("d")).from_json(value),
    },
    "state": {
        "create_dialogue": lambda value: create_state().create_dialogue(value),
        "use_dialogue": lambda value: create_state().use_dialogue(value),
        "get_dialogue": lambda value: create_state().get_dialogue(value),
        "add_dialogue": lambda value: create_state().add_dialogue(value),
        "attribute": lambda value: create_state().set_attribute(value, 1).to_json(),
        "value": lambda value: create_state().set_attribute("a", value).to_json(),
        "get_attribute": lambda value: create_state().get_attribute(value),
        "delete_attribute": lambda value: create_state().delete_attribute(value),
        "context_item": lambda value: create_state().create_context_item(value),
        "get_context_item": lambda value: create_state().get_context_item(value),
        "from_json": lambda value: type(create_state()).from_json(value),
    },
    "definition": {
        name: lambda value, name=name: _build(
            functions=[FunctionDefinition(**{"name": "f", name: value})]
        )
        for name in ("name", "description", "parameters")
    },
    "function": {
        name: lambda value, name=name: _build(functions=[{"name": "f", name: value}])
        for name in ("name", "description", "parameters", "type")
    },
    "message": {
        name: lambda value, name=name: _build(
            messages=[{"role": "user", "content": "hi", name: value}]
        )
        for name in ("role", "content", "name")
    },
    "endpoint": dict(
        options(
            create_openai_compatible_endpoint,
            "key",
            "base_url",
            "api_key_env",
            key="acme",
            base_url="https://acme.example",
        )
    ),
    "PartialInput": {"feed": lambda value: PartialInput().feed(value)},
    "guards": {name: getattr(guards, name) for name in guards.__all__},
}


async def outcome(way: Way, value: Any) -> Any:
    """What came of it."""
    made = way(value)
    return await made if isawaitable(made) else made
