"""`typing.get_type_hints` works on every public name, so that other tools can read them."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, get_args, get_type_hints

import pytest

import llm_tools
from llm_tools.content import OutputResult, ResultWarning
from llm_tools.dialogue import Dialogue
from llm_tools.loop import PendingRun


def readable(name: str) -> Iterator[Any]:
    """What has hints behind a public name: a function, or a class with its public methods."""
    value = getattr(llm_tools, name)
    if isinstance(value, ModuleType):
        yield from (item for item in vars(value).values() if inspect.isfunction(item))
    elif inspect.isroutine(value):
        yield value
    elif isinstance(value, type):
        yield value
        for key, member in inspect.getmembers_static(value):
            inner = member.fget if isinstance(member, property) else member
            inner = getattr(inner, "__func__", inner)
            if inspect.isfunction(inner) and (key == "__init__" or not key.startswith("_")):
                yield inner


@pytest.mark.parametrize("name", llm_tools.__all__)
def test_every_public_name(name: str) -> None:
    """No hint of a class, its methods or a function names something that is not there."""
    values = list(readable(name))
    hints = [get_type_hints(value, include_extras=True) for value in values]
    told = [hint for one in hints for hint in one.values()]
    assert not any(isinstance(hint, str) for hint in told)
    assert values or name in UNHINTED


UNHINTED = {
    name
    for name in llm_tools.__all__
    if not isinstance(getattr(llm_tools, name), type | ModuleType)
    and not inspect.isroutine(getattr(llm_tools, name))
}


def test_only_aliases_have_none() -> None:
    """The names without hints of their own."""
    assert {"DEFER", "OutputResultContent", "StreamEvent"} == UNHINTED


def test_hints_are_the_real_ones() -> None:
    """A hint that leads to a room above gives that room's class."""
    hints = get_type_hints(llm_tools.RunResult)
    assert hints["dialogue"] in (Dialogue, Dialogue | None)
    assert PendingRun in get_args(hints["pending"])
    assert OutputResult in get_args(get_type_hints(llm_tools.LlmToolsError)["result"])
    assert get_type_hints(llm_tools.Request)["warnings"] == tuple[ResultWarning, ...]
    assert get_type_hints(llm_tools.Llm.call)["return"] is OutputResult


def test_a_model_is_made_lightly() -> None:
    """Hints cost no import: what a call needs is loaded with the first call."""
    code = (
        "import sys, llm_tools\n"
        "llm_tools.use_llm('openai.gpt-4o-mini', api_key='k')\n"
        "names = ('anyio', 'httpx', 'jsonschema', 'jinja2', 'llm_tools.dialogue',\n"
        "         'llm_tools.history', 'llm_tools.asking')\n"
        "print([name for name in names if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
