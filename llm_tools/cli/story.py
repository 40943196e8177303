"""The demo's story: one call from end to end, a named call, two calls at once, the whole loop."""

from __future__ import annotations

import time
from collections.abc import Callable
from inspect import signature
from typing import Any

import anyio
import msgspec

from .. import (
    FunctionResult,
    LlmExecutorWithFunctions,
    OutputResultFunctionUse,
    create_chat_prompt,
    create_dialogue,
    create_llm_function_executor,
    dispatch,
    guards,
    use_llm,
)
from .painting import Paint

_WORK_SECONDS = 0.4
"""How long the pretended work of a function takes."""


class Mismatch(Exception):  # noqa: N818 - the story's own word
    """A step did not happen as told."""


class Functions:
    """What the model may call; each notes when it ran."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, float, float]] = []

    async def add_numbers(self, a: float, b: float) -> dict[str, float]:
        """Add two numbers."""
        return await self._work("add_numbers", {"sum": _plain(a + b)})

    async def multiply_numbers(self, x: float, y: float) -> dict[str, float]:
        """Multiply two numbers."""
        return await self._work("multiply_numbers", {"product": _plain(x * y)})

    async def set_timer(self, minutes: int) -> dict[str, Any]:
        """Set a timer for some minutes."""
        return await self._work("set_timer", {"status": "running", "minutes": minutes})

    async def _work(self, name: str, result: dict[str, Any]) -> dict[str, Any]:
        began = time.monotonic()
        await anyio.sleep(_WORK_SECONDS)
        self.ran.append((name, began, time.monotonic()))
        return result

    def offered(self) -> list[Callable[..., Any]]:
        """All of them."""
        return [self.add_numbers, self.multiply_numbers, self.set_timer]


class Story:
    """The model, the functions and the teller's voice."""

    def __init__(self, key: str, paint: Paint) -> None:
        self.paint: Paint = paint
        self.key: str = key
        self.functions: Functions = Functions()
        prompt = create_chat_prompt().add_chat_history_placeholder("history")
        self.executor: LlmExecutorWithFunctions[str] = create_llm_function_executor(
            llm=use_llm(key), prompt=prompt
        )
        self._began = time.monotonic()

    def chapter(self, title: str) -> None:
        """Begin a part of the story."""
        print(self.paint.bold(f"\n{title}"))
        self._began = time.monotonic()

    def say(self, label: str, text: str) -> None:
        """Tell what happened, and how long it took since the last thing that did."""
        now = time.monotonic()
        took = self.paint.dim(f"{now - self._began:6.2f} s")
        print(f"  {took}  {label:<13} {text}")
        self._began = now

    def note(self, label: str, text: str) -> None:
        """Tell a circumstance that took no time."""
        print(f"            {label:<13} {text}")

    async def call(self, request: str, function_call: Any) -> OutputResultFunctionUse:
        """Force a call, and check that it came."""
        self.note("user", request)
        response = await self.executor.execute(
            {"history": create_dialogue().add_user_message(request)},
            functions=self.functions.offered(),
            function_call=function_call,
        )
        _expect(guards.has_function_call(response), f"the model answered in text: {response!r}")
        uses = [item for item in response if guards.is_function_call(item)]
        _expect(len(uses) == 1, f"one call was asked for, {len(uses)} came")
        use = uses[0]
        self.say("function_use", self.paint.call(f"{use.name}({_json(use.input)})"))
        return use

    async def run(self, uses: list[OutputResultFunctionUse]) -> list[FunctionResult]:
        """Run calls, and check that the functions themselves say so."""
        before = len(self.functions.ran)
        results = await dispatch(uses, self.functions.offered())
        for result in results:
            _expect(not result.is_error, f"{result.name} failed: {result.content}")
        ran = sorted(name for name, _, _ in self.functions.ran[before:])
        _expect(ran == sorted(use.name for use in uses), f"not every function ran: {ran}")
        return results


async def tell(story: Story) -> None:
    """The whole story.

    Raises:
        Mismatch: a step did not happen.
        LlmToolsError: the model could not be asked.
    """
    await _from_end_to_end(story)
    await _by_name(story)
    await _two_at_once(story)
    await _in_one_await(story)


async def _from_end_to_end(story: Story) -> None:
    story.chapter(f"1  One call, from end to end ({story.key})")
    for function in story.functions.offered():
        arguments = ", ".join(signature(function).parameters)
        story.note("offered", f"{function.__name__}({arguments}) - {function.__doc__}")
    request = "Please add 17 and 25."
    use = await story.call(request, "any")
    _expect_use(use, "add_numbers", {"a": 17, "b": 25})
    [result] = await story.run([use])
    story.say("result", _json(result.content))
    dialogue = create_dialogue().add_user_message(request).add_from_output([use])
    text = await story.executor.execute({"history": dialogue.add_from_results([result])})
    story.say("final text", str(text))
    _expect("42" in str(text), f"the final text does not tell the result: {text!r}")


async def _by_name(story: Story) -> None:
    story.chapter('2  A named call: function_call="set_timer"')
    use = await story.call("Set a timer for 10 minutes.", "set_timer")
    _expect_use(use, "set_timer", {"minutes": 10})
    [result] = await story.run([use])
    story.say("result", _json(result.content))


async def _two_at_once(story: Story) -> None:
    story.chapter("3  Two calls, dispatched at once")
    uses = [
        await story.call("Multiply 6 by 7.", "multiply_numbers"),
        await story.call("Please add 3 and 4.", "add_numbers"),
    ]
    began = time.monotonic()
    results = await story.run(uses)
    took = time.monotonic() - began
    for result in results:
        name, start, end = next(ran for ran in story.functions.ran[-2:] if ran[0] == result.name)
        when = f"from {start - began:.2f} s to {end - began:.2f} s"
        story.note("ran", f"{story.paint.call(name)} {when}: {_json(result.content)}")
    alone = sum(result.duration for result in results)
    story.say("both", f"{took:.2f} s together, {alone:.2f} s one after the other")
    (_, first_start, first_end), (_, second_start, second_end) = story.functions.ran[-2:]
    overlap = max(first_start, second_start) < min(first_end, second_end)
    _expect(overlap, "the two functions did not run at the same time")


async def _in_one_await(story: Story) -> None:
    story.chapter("4  The whole loop in one await: executor.run")
    request = "Multiply 12 by 12."
    story.note("user", request)
    done = await story.executor.run(
        {"history": create_dialogue().add_user_message(request)},
        functions=story.functions.offered(),
        function_call="multiply_numbers",
    )
    story.say("run", f"{done.turns} requests, {len(done.results)} call, then: {done.output}")
    _expect(
        [result.content for result in done.results] == [{"product": 144}],
        f"run did not make the call: {done.results!r}",
    )
    _expect("144" in str(done.output), f"the text does not tell the result: {done.output!r}")


def _expect(happened: bool, otherwise: str) -> None:
    if not happened:
        raise Mismatch(otherwise)


def _expect_use(use: OutputResultFunctionUse, name: str, values: dict[str, Any]) -> None:
    _expect(
        use.name == name and use.input == values,
        f"expected {name}({_json(values)}), the model called {use.name}({_json(use.input)})",
    )


def _plain(number: float) -> float:
    """42 instead of 42.0: easier to read for people and for small models."""
    return int(number) if number == int(number) else number


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
