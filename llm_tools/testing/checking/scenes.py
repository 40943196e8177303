"""What is asked of an endpoint: every option by itself, and in company."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

_WEATHER = {
    "name": "get_weather",
    "description": "The weather of a city",
    "parameters": {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "unit": {"type": "string", "enum": ["c", "f"]},
        },
        "required": ["city"],
    },
}
_FUNCTIONS = [_WEATHER, {"name": "ping", "description": "Ask whether it is there"}, {"name": "now"}]
_SCHEMA = {"type": "object", "properties": {"sky": {"type": "string"}}, "required": ["sky"]}
_SUBSET = {"names": ["get_weather", "ping"]}
_PNG = "iVBORw0KGgo="

_CHOICE = frozenset(
    {"function_call_emulated", "none_not_enforced", "subset_checked", "subset_filtered"}
)
_STRICT = frozenset({"strict_emulated", "strict_unavailable"})
_OUTPUT = frozenset({"json_schema_emulated", "json_schema_left_out"})


class Scene(Struct, frozen=True, kw_only=True):
    """One call.

    Attributes:
        words: the call as a caller would say it.
        option: the row of the table of support it is about, if it is about one alone.
        emulations: codes of the warnings that say the option was emulated.
        ask: arguments of `Llm.call`.
        options: keywords of `use_llm`; of several, one that is taken is enough.
        stream: whether the answer is asked for as a stream.
    """

    words: str
    option: str | None = None
    emulations: frozenset[str] = frozenset()
    ask: Mapping[str, Any] = {}
    options: tuple[Mapping[str, Any], ...] = ({},)
    stream: bool = False


PLAIN = (Scene(words="a call"), Scene(words="a stream", stream=True))
"""Calls without any option."""


def make_scenes(replay_key: str) -> list[Scene]:
    """Every call an endpoint is asked for.

    Args:
        replay_key: whose signatures it reads back.
    """
    return [*PLAIN, *_modes(), *_alone(), *_params(), *_in_company(replay_key)]


def _modes() -> list[Scene]:
    choices: dict[str, Any] = {
        "auto": "auto",
        "none": "none",
        "any": "any",
        "named": "get_weather",
        "subset": _SUBSET,
    }
    return [
        Scene(
            words=f"function_call={choice!r}{' of a stream' if stream else ''}",
            option=option,
            emulations=_CHOICE,
            ask={"functions": _FUNCTIONS, "function_call": choice},
            stream=stream,
        )
        for option, choice in choices.items()
        for stream in (False, True)
    ]


def _alone() -> list[Scene]:
    image = {"type": "image", "data": _PNG, "mediaType": "image/png"}
    looking = [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, image]}]
    return [
        Scene(
            words="function_call_strict_input=True",
            option="strict",
            emulations=_STRICT,
            ask={"functions": _FUNCTIONS, "function_call_strict_input": True},
        ),
        Scene(
            words="json_schema=…",
            option="json_schema",
            emulations=_OUTPUT,
            ask={"json_schema": _SCHEMA},
        ),
        Scene(words="a message with an image", option="image", ask={"messages": looking}),
        Scene(
            words="parallel_function_calls=False",
            option="parallel_off",
            options=({"parallel_function_calls": False},),
        ),
        Scene(
            words="effort=…",
            option="effort",
            options=({"effort": "low"}, {"effort": "medium"}, {"effort": "high"}),
        ),
        Scene(words="seed=7", option="seed", options=({"seed": 7},)),
    ]


def _params() -> list[Scene]:
    values: dict[str, Any] = {
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 5,
        "max_tokens": 100,
        "stop_sequences": ["END"],
    }
    return [
        Scene(words=f"{name}={value!r}", options=({name: value},)) for name, value in values.items()
    ]


def _in_company(replay_key: str) -> list[Scene]:
    everything = {
        "functions": _FUNCTIONS,
        "function_call_strict_input": True,
        "json_schema": _SCHEMA,
    }
    histories = {
        "a history with calls and results": _history([]),
        "a history with reasoning of its own": _history([_reasoning(replay_key)]),
        "a history with reasoning of another's": _history([_reasoning("someone-else")]),
    }
    return [
        *[
            Scene(
                words=f"{words} under function_call={choice!r}",
                ask={"messages": messages, "functions": _FUNCTIONS, "function_call": choice},
                stream=choice == "any",
            )
            for words, messages in histories.items()
            for choice in ("auto", "none", "any")
        ],
        Scene(words="a history with calls, without functions", ask={"messages": _history([])}),
        Scene(
            words="strict functions beside json_schema after calls",
            ask={**everything, "messages": _history([]), "function_call": "auto"},
        ),
    ]


def _reasoning(key: str) -> dict[str, Any]:
    return {
        "type": "reasoning",
        "text": "Let me look.",
        "providerMetadata": {key: {"signature": "c2lnbmVk"}},
    }


def _history(reasoning: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A turn with two calls, one of which failed, and their results."""
    uses = [
        {"type": "function_use", "name": name, "input": given, "functionId": call}
        for name, given, call in (
            ("get_weather", {"city": "Paris"}, "call_1"),
            ("ping", {}, "call_2"),
        )
    ]
    return [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Paris?"},
        {"role": "assistant", "content": [*reasoning, {"type": "text", "text": "Yes."}, *uses]},
        {"role": "function", "name": "get_weather", "functionId": "call_1", "content": {"c": 20}},
        {
            "role": "function",
            "name": "ping",
            "functionId": "call_2",
            "content": "no answer",
            "isError": True,
        },
        {"role": "user", "content": "And tomorrow?"},
    ]
