"""What can be done once is not done again with every call."""

from __future__ import annotations

import copy
import importlib._bootstrap
import inspect
import logging
import re
import sys
import typing
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import anyio
import jinja2
import jsonschema
import pytest

from llm_tools import (
    ScriptedTransport,
    create_chat_prompt,
    create_llm_executor,
    create_llm_function_executor,
    create_parser,
    tool,
    use_llm,
)

RUNS = 100
END_MARK = "the-loop-ends-here"
"""What the server looks for in a result."""

ONCE = {
    "inspect.signature": inspect.Signature.from_callable,
    "typing.get_type_hints": typing.get_type_hints,
    "re.compile": re._compiler.compile,
    "copy.deepcopy": copy.deepcopy,
    "a template parsed": jinja2.Environment.parse,
    "a template compiled": jinja2.Environment.compile,
    "a schema checked": jsonschema.Draft202012Validator.check_schema,
    "a log record made": logging.LogRecord.__init__,
    "a module loaded": importlib._bootstrap._find_and_load,
}
NAMES = {getattr(work, "__func__", work).__code__: name for name, work in ONCE.items()}


@contextmanager
def repeated() -> Iterator[Counter[str]]:
    """How often such work is done, by whomever, until the block ends."""
    found: Counter[str] = Counter()

    def tell(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code in NAMES:
            found[NAMES[frame.f_code]] += 1

    sys.setprofile(tell)
    try:
        yield found
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize("transport", ["httpx", "fast"])
@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_a_warm_executor_repeats_no_work(address: str, loop: str, transport: str) -> None:
    """A hundred runs: a prompt with values, two requests each, a dispatch between them."""

    @tool(name="read_forecast_0")
    async def read_forecast(place: str, days: int, unit: str) -> str:
        """Reads the forecast of a place."""
        return END_MARK

    llm = use_llm(
        "openai.gpt-4o-mini",
        base_url=f"{address}/loop",
        api_key="sk-repeated",
        transport=transport,
    )
    prompt = create_chat_prompt("You look after {{ what }}.").add_user_message("{{ question }}")
    executor = create_llm_function_executor(llm=llm, prompt=prompt)

    async def run(number: int) -> None:
        values = {"what": f"island {number}", "question": "What is almost out?"}
        result = await executor.run(values, functions=[read_forecast])
        assert result.output == "All is ordered; the ferry takes it on Friday."

    async def main() -> Counter[str]:
        for number in range(3):
            await run(number)
        with repeated() as found:
            for number in range(RUNS):
                await run(number)
        return found

    assert anyio.run(main, backend=loop) == {}


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_a_warm_parser_repeats_no_work(loop: str) -> None:
    """A hundred answers that a schema is asked for and held to."""
    message = {"role": "assistant", "content": '{"place":"Pellworm","days":[2,3]}'}
    answer = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o-mini",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
    }
    schema = {
        "type": "object",
        "properties": {
            "place": {"type": "string", "pattern": "^P"},
            "days": {"type": "array", "items": {"type": "integer"}},
        },
        "required": ["place", "days"],
    }
    wire = ScriptedTransport([answer] * (3 + RUNS))
    executor = create_llm_executor(
        llm=use_llm("openai.gpt-4o-mini", api_key="sk-repeated", transport=wire),
        prompt=create_chat_prompt("Where, and when? It is {{ day }}."),
        parser=create_parser("json", schema=schema),
    )

    async def main() -> Counter[str]:
        for number in range(3):
            await executor.execute({"day": number})
        with repeated() as found:
            for number in range(RUNS):
                output = await executor.execute({"day": number})
                assert output == {"place": "Pellworm", "days": [2, 3]}
        return found

    assert anyio.run(main, backend=loop) == {}


WORK: dict[str, Callable[[], Any]] = {
    "inspect.signature": lambda: inspect.signature(WORK.get),
    "typing.get_type_hints": lambda: typing.get_type_hints(repeated),
    "re.compile": lambda: re.compile(f"a{id(object())}"),
    "copy.deepcopy": lambda: copy.deepcopy(1),
    "a template parsed": lambda: jinja2.Environment().parse("{{ a }}"),
    "a template compiled": lambda: jinja2.Environment().compile("a"),
    "a schema checked": lambda: jsonschema.Draft202012Validator.check_schema({}),
    "a log record made": lambda: logging.getLogger("performance").error("said"),
    "a module loaded": lambda: importlib.import_module("colorsys"),
}


@pytest.mark.parametrize("name", ONCE)
def test_such_work_would_be_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind, once."""
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    with repeated() as found:
        WORK[name]()
    assert found[name] == 1
