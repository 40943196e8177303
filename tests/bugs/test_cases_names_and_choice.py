"""Names and choices that other clients sent wrong, or sent onto each other."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest
from bugs.handed import PROVIDERS, answer, body_of, handed, load, model, parameters

from llm_tools import ConfigurationError

EVERYWHERE = pytest.mark.parametrize("provider", PROVIDERS)
LEGAL = {
    "gemini": r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}",
    "gemini_old": r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}",
    "vertex": r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}",
}
ANYWHERE = r"[a-zA-Z0-9_-]{1,64}"


def wire_names(provider: str, names: list[str], **request: Any) -> dict[str, str]:
    """The wire's names by ours."""
    body = body_of(provider, functions=[{"name": name} for name in names], **request)
    return dict(zip(names, parameters(body), strict=True))


def check_names(provider: str, names: list[str]) -> None:
    """Legal, unique, and unchanged where they were legal."""
    wire = wire_names(provider, names)
    pattern = LEGAL.get(provider, ANYWHERE)
    assert len(set(wire.values())) == len(names)
    for ours, theirs in wire.items():
        assert re.fullmatch(pattern, theirs), (ours, theirs)
        if re.fullmatch(pattern, ours):
            assert theirs == ours


@handed
@EVERYWHERE
def test_names_are_legal_and_their_own(provider: str) -> None:
    """Ten names, of which three fall together and two differ at their ends alone."""
    names, expected = load("B07/names.json"), load("B07/expected.json")
    check_names(provider, names)
    pattern = expected["wire_pattern"].get(
        {"openai_chat": "openai"}.get(provider, provider), r"^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$"
    )
    if provider in ("openai_chat", "deepseek", "anthropic", "bedrock_converse", "gemini"):
        assert all(re.match(pattern, theirs) for theirs in wire_names(provider, names).values())


MORE_NAMES = [
    "stock.find", "stock/find", "stock-find", "stock_find", "stock_find_2", "stock__find",
    "Stock.find", "....", "----", "_", "1", "日本", "日本語", "ß", "a b", "a\tb", "a\u00a0b", "🙂",
    "functions.get", "x" * 64, "x" * 65, "x" * 66, "x" * 63 + ".", "get weather", "get.weather",
]  # fmt: skip


@EVERYWHERE
def test_names_that_fall_together_are_told_apart(provider: str) -> None:
    """Whatever has to be replaced or cut, each function keeps a name of its own."""
    check_names(provider, MORE_NAMES)


@EVERYWHERE
def test_names_do_not_depend_on_the_order(provider: str) -> None:
    """A history that was made with one order is replayed with another."""
    forwards = wire_names(provider, MORE_NAMES)
    assert wire_names(provider, MORE_NAMES[::-1]) == forwards


def test_names_are_the_same_in_another_process() -> None:
    """They hang on nothing that changes between programs."""
    program = (
        "from llm_tools import use_llm\n"
        f"names = {MORE_NAMES!r}\n"
        "llm = use_llm('openai.gpt-4o')\n"
        "body = llm.build_request('Hi', functions=[{'name': n} for n in names]).body\n"
        "print([tool['function']['name'] for tool in body['tools']])\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert said == {f"{list(wire_names('openai_chat', MORE_NAMES).values())}\n"}


def chat(name: str, arguments: Any = "{}", **message: Any) -> dict[str, Any]:
    """An answer of Chat Completions with one call."""
    function = {"name": name, "arguments": arguments}
    call = {"id": "c_1", "type": "function", "function": function}
    said = {"role": "assistant", "content": None, "tool_calls": [call], **message}
    return {"id": "x", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": said}]}


@pytest.mark.anyio
@handed
async def test_the_call_comes_back_under_our_name() -> None:
    """The name that was sent for `stock.find` is `stock.find` again in the answer."""
    names = load("B07/names.json")
    expected = load("B07/model_calls_back.json")["expected_normalized_name"]
    wire = wire_names("openai_chat", names)
    result = await answer(
        "openai_chat", chat(wire[names[0]]), functions=[{"name": name} for name in names]
    )
    assert result.function_calls[0].name == expected


@pytest.mark.anyio
async def test_every_name_comes_back() -> None:
    """Each wire name is read as the one it was made of."""
    functions = [{"name": name} for name in MORE_NAMES]
    for ours, theirs in wire_names("openai_chat", MORE_NAMES).items():
        result = await answer("openai_chat", chat(theirs), functions=functions)
        assert result.function_calls[0].name == ours


@EVERYWHERE
def test_choice_and_history_use_the_name_that_was_sent(provider: str) -> None:
    """A forced call, a subset and calls in the history say the same wire name."""
    names = ["stock.find", "stock_find", "stock find"]
    functions = [{"name": name} for name in names]
    said = [
        {"role": "user", "content": "Hi"},
        {
            "role": "assistant",
            "content": [
                {"type": "function_use", "name": "stock find", "input": {}, "functionId": "c1"}
            ],
        },
        {"role": "function", "name": "stock find", "functionId": "c1", "content": "3"},
    ]
    llm = model(provider)
    plain = parameters(llm.build_request("Hi", functions=functions).body)
    wire = dict(zip(names, plain, strict=True))
    replayed = str(llm.build_request(said, functions=functions).body)
    if not provider.startswith(("gemini", "vertex")) or provider == "gemini_compat":
        assert wire["stock find"] != "stock find"
        assert "'name': 'stock find'" not in replayed
    assert replayed.count(f"'{wire['stock find']}'") >= 2
    forced = llm.build_request("Hi", functions=functions, function_call={"name": "stock.find"})
    text = str(forced.body)
    assert wire["stock.find"] in text
    if wire["stock.find"] != "stock.find":
        assert "stock.find" not in text


# ---------------------------------------------------------------- modes

_PLACES = {
    "openai_chat": lambda body: body.get("tool_choice"),
    "bedrock_converse": lambda body: body.get("toolConfig", {}).get("toolChoice"),
    "gemini": lambda body: body.get("toolConfig", {}).get("functionCallingConfig"),
}
_NAMES = {"gemini.toolConfig.functionCallingConfig": "gemini"}


@handed
def test_modes_are_what_the_table_says() -> None:
    """Each mode on each provider, as the vendors' references have it."""
    tools, expected = load("B08/tools.json"), load("B08/expected.json")
    for row, forms in expected["tool_choice"].items():
        provider = _NAMES.get(row, row)
        if provider == "ollama_native":
            continue
        read = _PLACES.get(provider, _PLACES["openai_chat"])
        for mode, form in zip(expected["modes"], forms, strict=True):
            body = body_of(provider, functions=tools, function_call=mode)
            if isinstance(form, str) and form.startswith("NO_MEMBER"):
                assert read(body) is None
                assert parameters(body) == {}
            else:
                assert read(body) in (form if isinstance(form, list) else [form]), (row, mode)
                assert set(parameters(body)) == {"get_weather", "get_time"}


@handed
def test_modes_without_a_word_are_not_reported_as_honoured() -> None:
    """Ollama: `none` sends nothing, forced ones are done another way, with a warning."""
    tools = load("B08/tools.json")
    assert parameters(body_of("ollama", functions=tools, function_call="none")) == {}
    for mode in ("any", {"name": "get_weather"}):
        request = model("ollama").build_request("Hi", functions=tools, function_call=mode)
        assert [warning.code for warning in request.warnings] == ["function_call_emulated"]
        assert "tool_choice" not in request.body


@handed
@EVERYWHERE
def test_an_unknown_function_is_an_error_here(provider: str) -> None:
    """Nothing is sent, and nothing becomes `auto` in silence."""
    tools = load("B08/tools.json")
    for wrong in ({"name": "nope"}, "nope", {"names": ["get_weather", "nope"]}):
        with pytest.raises(ConfigurationError, match="nope"):
            body_of(provider, functions=tools, function_call=wrong)


@EVERYWHERE
@pytest.mark.parametrize(
    "raw",
    [
        "required",
        "ANY",
        "Auto",
        "",
        True,
        0,
        ["ping"],
        {"type": "function", "function": {"name": "ping"}},
        {"type": "any"},
        {"name": ["ping"]},
        {"name": "ping", "mode": "any"},
        {"names": "ping"},
        {"names": ["ping"], "mode": "none"},
        {"names": [1]},
        {"mode": "ANY"},
        {},
    ],
    ids=str,
)
def test_no_other_value_reaches_a_wire(provider: str, raw: Any) -> None:
    """What a vendor's own wire calls it is none of ours: the error says what there is."""
    with pytest.raises(ConfigurationError, match="function_call"):
        body_of(provider, functions=[{"name": "ping"}], function_call=raw)


@EVERYWHERE
def test_functions_called_like_modes(provider: str) -> None:
    """The dict form reaches them; the word is the mode."""
    functions = [{"name": name} for name in ("auto", "none", "any", "required")]
    llm = model(provider)

    def ask(choice: Any) -> Any:
        return llm.build_request("Hi", functions=functions, function_call=choice).body

    for name in ("auto", "none", "any"):
        assert ask({"name": name}) != ask(name)
        assert ask({"names": [name]}) == ask({"name": name})
    assert ask({"name": "required"}) == ask("required")
