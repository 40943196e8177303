"""Whatever a model does wrong: what runs, what does not, what it is told, how the run ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

import pytest
from loop.scripted_server import Server, serving
from loop.wires import MISSING, WIRES, Call, Told

from llm_tools import (
    ContentFilterError,
    LlmToolsError,
    RefusalError,
    ResponseDecodeError,
    RunLimitError,
    RunResult,
    UnmetFunctionCallError,
    create_callable_executor,
    create_chat_prompt,
    create_llm_function_executor,
    tool,
    use_llm,
)
from llm_tools.ids import set_id_factory

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("wire", WIRES, ids=lambda wire: type(wire).__name__),
]

UNUSABLE = "The arguments of 'double' were not usable: "
UNKNOWN = "There is no function {!r}. Available functions: boom, double, ping, poll, strict."


@pytest.fixture(autouse=True)
def minted_ids() -> Iterator[None]:
    """Ids we make up are known beforehand."""
    numbers = count(1)
    set_id_factory(lambda: f"minted{next(numbers):03}")
    yield
    set_id_factory(None)


@pytest.fixture(params=["httpx", "fast"])
def kind(request: pytest.FixtureRequest) -> str:
    """Both transports of ours."""
    return str(request.param)


class Tools:
    """Functions that note with what they ran, and the transport they are called over."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.ran: list[Any] = []
        ran = self.ran

        @tool
        async def double(n: int) -> int:
            """Double it."""
            ran.append(("double", n))
            return 2 * n

        @tool
        def ping() -> str:
            """Answer."""
            ran.append(("ping",))
            return "pong"

        @tool
        def boom() -> None:
            """Fail."""
            ran.append(("boom",))
            raise ValueError("disk full")

        @tool(repeatable=True)
        def poll() -> str:
            """Look again."""
            ran.append(("poll",))
            return "not yet"

        strict = create_callable_executor(
            name="strict",
            description="Take one number and nothing else.",
            parameters={
                "type": "object",
                "properties": {"n": {"type": "integer"}},
                "required": ["n"],
                "additionalProperties": False,
            },
            handler=lambda value: ran.append(("strict", value)),
        )
        self.all = [double, ping, boom, poll, strict]


async def run(wire: Any, tools: Tools, *answers: Any, **options: Any) -> tuple[Any, Server]:
    """A run against a provider that gives these answers, and the provider."""
    prompt = create_chat_prompt().add_user_message("go")
    with serving(*answers) as server:
        address = server.url + wire.path
        async with use_llm(wire.key, api_key="k", base_url=address, transport=tools.kind) as llm:
            executor = create_llm_function_executor(llm=llm, prompt=prompt)
            try:
                return await executor.run(functions=tools.all, **options), server
            except LlmToolsError as error:
                return error, server


class Case(NamedTuple):
    """One answer, what runs of it, and what the model is told."""

    calls: Sequence[Call]
    ran: Sequence[Any]
    told: Sequence[Told]
    text: str | None = None
    stop: str = "calls"


def refused(name: str, why: str, arguments: Any, function_id: str = "call_1", **shown: Any) -> Case:
    """A single call that must not run."""
    content = f"The arguments of {name!r} were not usable: {why}"
    return Case([Call(name, arguments)], [], [Told(name, shown, content, True, function_id)])


def mended(arguments: Any, name: str = "double") -> Case:
    """A single call of double(2) that runs all the same."""
    return Case([Call(name, arguments)], [("double", 2)], [Told("double", {"n": 2}, 4)])


NO_OBJECT = "the arguments must be a JSON object, not "

CASES: dict[str, Case] = {
    "as it should be": mended({"n": 2}),
    "in a code fence": mended('```json\n{"n": 2}\n```'),
    "encoded twice": mended('"{\\"n\\": 2}"'),
    "a trailing comma": mended('{"n": 2,}'),
    "single quotes": mended("{'n': 2}"),
    "an empty object in front": mended('{}{"n": 2}'),
    "a prefix to the name": mended({"n": 2}, "functions.double"),
    "no arguments at all": Case(
        [Call("ping", None), Call("ping", "", "call_2"), Call("ping", "null", "call_3")],
        [("ping",)] * 3,
        [Told("ping", {}, "pong", function_id=f"call_{n}") for n in (1, 2, 3)],
    ),
    "null where something is required": refused("double", "at the root: missing 'n'", None),
    "a list": refused("double", f"{NO_OBJECT}an array", "[2]"),
    "a list that is no text": refused("double", f"{NO_OBJECT}an array", [2]),
    "a string": refused("double", f"{NO_OBJECT}a string", '"two"'),
    "a number": refused("double", f"{NO_OBJECT}a number", 2),
    "a wrong type": refused("double", 'at /n: expected integer, got string "2"', {"n": "2"}, n="2"),
    "a boolean for a number": refused(
        "double", "at /n: expected integer, got boolean true", {"n": True}, n=True
    ),
    "an extra argument": refused(
        "double", "at /m: there is no such parameter", {"n": 2, "m": 3}, n=2, m=3
    ),
    "an extra property": refused(
        "strict",
        "at the root: unexpected 'm'; the properties are 'n'",
        {"n": 2, "m": 3},
        n=2,
        m=3,
    ),
    "two glued objects": refused(
        "double",
        "the arguments are not valid JSON: JSON is malformed: trailing characters (byte 9)",
        '{"n": 1}{"n": 2}',
    ),
    "words around": refused(
        "double",
        "the arguments are not valid JSON: JSON is malformed: invalid character (byte 0)",
        'I pass {"n": 2}',
    ),
    "an infinity": refused(
        "double",
        "the arguments are not valid JSON: JSON is malformed: invalid character (byte 6)",
        '{"n": Infinity}',
    ),
    "text beside calls": Case(
        [Call("double", {"n": 2}), Call("ping", {}, "call_2")],
        [("double", 2), ("ping",)],
        [Told("double", {"n": 2}, 4), Told("ping", {}, "pong", function_id="call_2")],
        text="Let me see.",
    ),
    "cut off by the limit": Case(
        [Call("double", {"n": 2}), Call("double", {"n": 3}, "call_2")],
        [("double", 2)],
        [
            Told("double", {"n": 2}, 4),
            Told(
                "double",
                {},
                f"{UNUSABLE}the call was cut off by the output limit; its arguments are incomplete",
                True,
                "call_2",
            ),
        ],
        stop="length",
    ),
    "an invented name": Case(
        [Call("triple", {"n": 2}), Call("double", {"n": 2}, "call_2")],
        [("double", 2)],
        [
            Told("triple", {"n": 2}, UNKNOWN.format("triple"), True),
            Told("double", {"n": 2}, 4, function_id="call_2"),
        ],
    ),
    "a name in other letters": Case(
        [Call("Double", {"n": 2})], [], [Told("Double", {"n": 2}, UNKNOWN.format("Double"), True)]
    ),
    "one id for two calls": Case(
        [Call("double", {"n": 2}), Call("double", {"n": 3})],
        [("double", 2), ("double", 3)],
        [Told("double", {"n": 2}, 4), Told("double", {"n": 3}, 6, function_id="minted001")],
    ),
    "no ids": Case(
        [Call("double", {"n": 2}, MISSING), Call("double", {"n": 3}, MISSING)],
        [("double", 2), ("double", 3)],
        [
            Told("double", {"n": 2}, 4, function_id="minted001"),
            Told("double", {"n": 3}, 6, function_id="minted002"),
        ],
    ),
    "ids that are none": Case(
        [Call("double", {"n": 2}, None), Call("double", {"n": 3}, "")],
        [("double", 2), ("double", 3)],
        [
            Told("double", {"n": 2}, 4, function_id="minted001"),
            Told("double", {"n": 3}, 6, function_id="minted002"),
        ],
    ),
    "a function that raises": Case(
        [Call("boom", {}), Call("ping", {}, "call_2")],
        [("boom",), ("ping",)],
        [
            Told("boom", {}, "ValueError: disk full", True),
            Told("ping", {}, "pong", function_id="call_2"),
        ],
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
async def test_calls(wire: Any, kind: str, case: Case) -> None:
    """The next request, exactly; then the run goes on to its end."""
    tools = Tools(kind)
    done, server = await run(
        wire,
        tools,
        wire.answer(case.text, case.calls, case.stop),
        wire.answer("Well then.", [], "text"),
    )
    assert isinstance(done, RunResult), done
    assert sorted(tools.ran) == sorted(case.ran)
    assert wire.told(server.bodies[1]) == wire.expected(case.text, case.calls, case.told)
    assert [(r.name, r.content, r.is_error) for r in done.results] == [
        (each.name, each.content, each.is_error) for each in case.told
    ]
    assert (done.output, done.turns, len(server.requests)) == ("Well then.", 2, 2)


async def test_arguments_without_a_bottom(wire: Any, kind: str) -> None:
    """They do not run, and neither they nor their answer stop the run."""
    tools = Tools(kind)
    deep = '{"n":' * 5_000 + "1" + "}" * 5_000
    done, _ = await run(
        wire,
        tools,
        wire.answer(None, [Call("double", deep)], "calls"),
        wire.answer("Well then.", [], "text"),
    )
    assert (done.output, tools.ran) == ("Well then.", [])
    assert done.results[0].content.startswith(f"{UNUSABLE}the arguments are nested")


async def test_without_repair_nothing_is_mended(wire: Any, kind: str) -> None:
    """`repair_arguments=False`: what is no JSON object as it stands does not run."""
    tools = Tools(kind)
    done, _ = await run(
        wire,
        tools,
        wire.answer(
            None, [Call("double", '{"n": 2,}'), Call("functions.double", {"n": 2})], "calls"
        ),
        wire.answer("Well then.", [], "text"),
        llm_options={"repair_arguments": False},
    )
    assert tools.ran == []
    assert [r.is_error for r in done.results] == [True, True]


async def test_a_call_written_as_text_is_text(wire: Any, kind: str) -> None:
    """It is the answer, and runs nothing."""
    tools = Tools(kind)
    said = '<tool_call>{"name": "double", "arguments": {"n": 2}}</tool_call>'
    done, _ = await run(wire, tools, wire.answer(said, [], "text"))
    assert (done.output, tools.ran) == (said, [])


async def test_a_call_where_none_was_allowed(wire: Any, kind: str) -> None:
    """It does not run, the model is told so, and gets another chance."""
    tools = Tools(kind)
    done, server = await run(
        wire,
        tools,
        wire.answer(None, [Call("double", {"n": 2})], "calls"),
        wire.answer("Well then.", [], "text"),
        function_call="none",
    )
    assert (done.output, tools.ran) == ("Well then.", [])
    why = "Function calls are not allowed in this turn; answer in text."
    assert wire.told(server.bodies[1]) == wire.expected(
        None, [Call("double", {"n": 2})], [Told("double", {"n": 2}, why, True)]
    )


async def test_a_call_outside_the_subset(wire: Any, kind: str) -> None:
    """It does not run; its sibling inside does."""
    tools = Tools(kind)
    done, _ = await run(
        wire,
        tools,
        wire.answer(None, [Call("boom", {}), Call("double", {"n": 2}, "call_2")], "calls"),
        wire.answer("Well then.", [], "text"),
        function_call={"names": ["double", "ping"]},
    )
    assert tools.ran == [("double", 2)]
    assert done.results[0].content == (
        "There is no function 'boom'. Available functions: double, ping."
    )


async def test_no_call_where_one_was_forced(wire: Any, kind: str) -> None:
    """The text does not pass for an answer; it is kept with the error."""
    tools = Tools(kind)
    error, server = await run(
        wire, tools, wire.answer("I would rather talk.", [], "text"), function_call="any"
    )
    assert isinstance(error, UnmetFunctionCallError)
    assert error.result.output.text == "I would rather talk."
    assert len(server.requests) == 1


async def test_endless_identical_calls(wire: Any, kind: str) -> None:
    """Three alike end the run; it can be continued."""
    tools = Tools(kind)
    again = wire.answer(None, [Call("ping", {})], "calls")
    error, server = await run(wire, tools, *[again] * 10)
    assert isinstance(error, RunLimitError)
    assert "'ping' was called alike three times" in str(error)
    assert (len(tools.ran), len(server.requests)) == (3, 3)
    assert error.result.dialogue.history[-1].content == "pong"


async def test_endless_identical_mistakes(wire: Any, kind: str) -> None:
    """The same wrong arguments over and over end it, too."""
    tools = Tools(kind)
    again = wire.answer(None, [Call("double", {"n": "two"})], "calls")
    error, server = await run(wire, tools, *[again] * 10)
    assert isinstance(error, RunLimitError)
    assert (tools.ran, len(server.requests)) == ([], 3)


async def test_endless_calls_that_may_repeat(wire: Any, kind: str) -> None:
    """Only the number of turns ends them; the last turn's calls are still made."""
    tools = Tools(kind)
    again = wire.answer(None, [Call("poll", {})], "calls")
    error, server = await run(wire, tools, *[again] * 10, max_turns=5)
    assert isinstance(error, RunLimitError)
    assert "max_turns=5" in str(error)
    assert (len(tools.ran), len(server.requests)) == (5, 5)


async def test_an_empty_answer(wire: Any, kind: str) -> None:
    """Neither text nor call is an error that says so; asking again may help."""
    error, _ = await run(wire, Tools(kind), wire.answer(None, [], "text"))
    assert isinstance(error, ResponseDecodeError)
    assert "neither text nor a call" in str(error)
    assert error.retryable
    assert error.result.output.content == ()


async def test_a_refusal(wire: Any, kind: str) -> None:
    """An error with the model's words; nothing runs."""
    answer = wire.refusal("I cannot help with that.")
    if answer is None:
        pytest.skip("this wire has no refusal of its own")
    tools = Tools(kind)
    error, _ = await run(wire, tools, answer)
    assert isinstance(error, RefusalError)
    words = [getattr(part, "text", None) for part in error.result.output.content]
    assert words == ["I cannot help with that."]


async def test_a_filter(wire: Any, kind: str) -> None:
    """An answer the provider stopped is an error with what came."""
    error, _ = await run(wire, Tools(kind), wire.answer("It is eas", [], "filter"))
    expected = RefusalError if wire.stops["filter"] == "refusal" else ContentFilterError
    assert isinstance(error, expected)
    assert error.result.output.text == "It is eas"


async def test_a_text_cut_off_by_the_limit(wire: Any, kind: str) -> None:
    """It is the answer as far as it came; the result of the call says so."""
    done, _ = await run(wire, Tools(kind), wire.answer("It is eas", [], "length"))
    assert done.output == "It is eas"
