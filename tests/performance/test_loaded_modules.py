"""What is not needed is not loaded: what each stage of a program must not have imported yet."""

from __future__ import annotations

from collections.abc import Callable

import pytest

VALIDATION = {"jsonschema", "referencing"}
TEMPLATES = {"jinja2", "markupsafe"}
VENDORS = {"botocore", "google", "opentelemetry", "xllamacpp"}
HTTPX = {"httpx", "httpcore", "h11", "certifi"}
LOOPS = {"asyncio", "trio"}
NEVER = VALIDATION | TEMPLATES | VENDORS
NOT_YET = NEVER | HTTPX | LOOPS | {"httptools", "ssl"}

NAMES = """
import llm_tools
for name in llm_tools.__all__:
    if name != "ScriptedTransport":  # it answers as a transport of httpx does
        getattr(llm_tools, name)
"""
MADE = """
from llm_tools import (
    create_chat_prompt, create_llm_function_executor, create_parser, tool, use_llm
)
@tool
async def read_forecast(place: str) -> str:
    "Reads the forecast."
    return place
llm = use_llm("openai.gpt-4o", api_key="sk-made")
executor = create_llm_function_executor(
    llm=llm,
    prompt=create_chat_prompt("Be brief.").add_user_message("Hi"),
    parser=create_parser("json"),
)
"""
BUILT = f"""{MADE}
llm.build_request("Hi", functions=[read_forecast], function_call="any")
"""
CALL = """
import anyio
from llm_tools import dispatch, tool, use_llm
@tool(name="read_forecast_0")
async def read_forecast(place: str, days: int, unit: str) -> str:
    "Reads the forecast."
    return place
async def main():
    llm = use_llm("openai.gpt-4o", api_key="sk-call", base_url="{address}/{kind}", transport="{transport}")
    {work}
anyio.run(main, backend="{loop}")
"""
ASK = """
    result = await llm.call("Hi", functions=[read_forecast])
    [done] = await dispatch(result, [read_forecast])
    assert done.content == "Pellworm", done
"""
STREAM = """
    async with llm.stream("Hi", functions=[read_forecast]) as events:
        kinds = {type(event) async for event in events}
    assert len(kinds) == 4, kinds
"""

STAGES = {
    "every name is imported": NAMES,
    "an executor and a tool are made": MADE,
    "a request is built": BUILT,
}


def loaded(run_python: Callable[..., str], code: str, before: str = "import anyio") -> set[str]:
    """The modules that some code loads, whatever is there before: an old anyio brings ssl."""
    told = run_python(
        "-c",
        f"import sys\n{before}\nstart = set(sys.modules)\n{code}\n"
        "print(*(set(sys.modules) - start))",
    )
    return set(told.split())


def test_importing_the_package_loads_next_to_nothing(run_python: Callable[..., str]) -> None:
    """Not even what every call needs."""
    unwanted = NOT_YET | {"anyio", "msgspec", "logging"}
    assert loaded(run_python, "import llm_tools", before="") & unwanted == set()


@pytest.mark.parametrize("stage", STAGES)
def test_before_the_first_call(run_python: Callable[..., str], stage: str) -> None:
    """Neither a client nor a validator, no template engine, no loop."""
    assert loaded(run_python, STAGES[stage]) & NOT_YET == set()


OF_CALLS = {
    ("fast", "asyncio"): NEVER | HTTPX | {"trio"},
    ("fast", "trio"): NEVER | HTTPX | {"asyncio"},
    ("httpx", "asyncio"): NEVER | {"httptools"},  # httpcore loads trio, where there is one
    ("httpx", "trio"): NEVER | {"httptools", "asyncio"},
}


@pytest.mark.parametrize("kind", ["one", "stream"])
@pytest.mark.parametrize(("transport", "loop"), OF_CALLS)
def test_after_the_first_call(
    run_python: Callable[..., str], address: str, transport: str, loop: str, kind: str
) -> None:
    """A call and its dispatch, or a stream, load what that transport and that loop need."""
    work = (ASK if kind == "one" else STREAM).strip()
    code = CALL.format(address=address, kind=kind, transport=transport, loop=loop, work=work)
    assert loaded(run_python, code) & OF_CALLS[transport, loop] == set()
