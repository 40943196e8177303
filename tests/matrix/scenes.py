"""The calls of the matrix: every target, every mode, with and without the other options."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

from llm_tools import Llm, Request, list_endpoints, use_llm

WEATHER = {
    "name": "get_weather",
    "description": "The weather of a city",
    "parameters": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Its name"},
            "unit": {"type": "string", "enum": ["c", "f"]},
        },
        "required": ["city"],
    },
}
TIME = {
    "name": "get_time",
    "description": "The time of day",
    "parameters": {"type": "object", "properties": {"zone": {"type": "string"}}, "required": []},
}
PING = {"name": "ping", "description": "Ask whether it is there"}
FUNCTIONS = [WEATHER, TIME, PING]

SCHEMA = {
    "type": "object",
    "title": "Forecast",
    "properties": {"sky": {"type": "string"}, "degrees": {"type": "integer"}},
    "required": ["sky"],
}

FRESH = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Paris?"}]
LOOP = [
    *FRESH,
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Let me look."},
            {
                "type": "function_use",
                "name": "get_weather",
                "input": {"city": "Paris"},
                "functionId": "call_1",
            },
            {"type": "function_use", "name": "ping", "input": {}, "functionId": "call_2"},
        ],
    },
    {"role": "function", "name": "get_weather", "functionId": "call_1", "content": {"degrees": 20}},
    {
        "role": "function",
        "name": "ping",
        "functionId": "call_2",
        "content": "no answer",
        "isError": True,
    },
    {"role": "user", "content": "And tomorrow?"},
]
HISTORIES = {"fresh": FRESH, "loop": LOOP}

MODES: dict[str, Any] = {
    "unsaid": None,
    "auto": "auto",
    "none": "none",
    "any": "any",
    "name": "get_weather",
    "dict": {"name": "get_weather"},
    "one_of_one": {"names": ["get_weather"]},
    "subset_any": {"names": ["get_weather", "ping"]},
    "subset_auto": {"names": ["get_weather", "ping"], "mode": "auto"},
}

_WHERE = {
    "amazon": {"region": "us-east-1"},
    "azure": {"resource": "ours"},
    "vertex": {"project": "ours"},
}


class Aim(NamedTuple):
    """A protocol key and a model: what a row of the matrix is about."""

    key: str
    model: str

    def __str__(self) -> str:
        return f"{self.key}={self.model}"

    def llm(self, **options: Any) -> Llm:
        """The model, found without any setting of this machine."""
        place = _WHERE.get(self.key.split(".")[0].split(":")[0], {})
        return use_llm(self.key, model=self.model, **{**place, **options})

    @property
    def endpoint(self) -> str:
        """What stands before the protocol."""
        return self.key.removesuffix(".v1").rpartition(".")[0]


class Cell(NamedTuple):
    """One call of the matrix."""

    mode: str
    strict: bool = False
    schema: bool = False
    history: str = "fresh"

    def __str__(self) -> str:
        said = [self.mode, "strict" * self.strict, "schema" * self.schema, self.history]
        return "-".join(filter(None, said))

    def ask(self, aim: Aim, *, stream: bool = False, **options: Any) -> Request:
        """What would go out.

        Raises:
            ConfigurationError: nothing would.
        """
        return aim.llm(**options).build_request(
            HISTORIES[self.history],
            functions=FUNCTIONS,
            function_call=MODES[self.mode],
            function_call_strict_input=self.strict,
            json_schema=SCHEMA if self.schema else None,
            stream=stream,
        )


def cells_of(mode: str) -> Iterator[Cell]:
    """All cells of a mode."""
    for strict, schema, history in product((False, True), (False, True), HISTORIES):
        yield Cell(mode, strict, schema, history)


CELLS = [cell for mode in MODES for cell in cells_of(mode)]

ENDPOINTS = [Aim(f"{info.key}.{info.protocol}.v1", "some-model") for info in list_endpoints()]
"""Every endpoint, with a model nothing is known of."""

FAMILIES = [
    Aim("openai.chat.v1", "gpt-4o-mini"),
    Aim("openai.chat.v1", "gpt-5.4"),
    Aim("openai.chat.v1", "o4-mini"),
    Aim("openai.responses.v1", "gpt-4o-mini"),
    Aim("openai.responses.v1", "gpt-5.6"),
    Aim("openai.responses.v1", "gpt-6-astra"),
    Aim("azure.chat.v1", "gpt-4.1"),
    Aim("anthropic.chat.v1", "claude-3-5-haiku-latest"),
    Aim("anthropic.chat.v1", "claude-haiku-4-5"),
    Aim("anthropic.chat.v1", "claude-opus-4-6"),
    Aim("anthropic.chat.v1", "claude-sonnet-5"),
    Aim("anthropic.chat.v1", "claude-opus-5-5"),
    Aim("anthropic.chat.v1", "claude-sonnet-5-5"),
    Aim("anthropic.chat.v1", "claude-mythos-5-2"),
    Aim("vertex:anthropic.chat.v1", "claude-opus-5-5@20261001"),
    Aim("azure:anthropic.chat.v1", "claude-sonnet-5-5"),
    Aim("amazon:anthropic.chat.v1", "anthropic.claude-3-haiku-20240307-v1:0"),
    Aim("amazon:anthropic.chat.v1", "us.anthropic.claude-sonnet-5-20260601-v1:0"),
    Aim("amazon:anthropic.chat.v1", "global.anthropic.claude-opus-5-5-20261001-v1:0"),
    Aim("amazon.converse.v1", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
    Aim("amazon.converse.v1", "us.anthropic.claude-sonnet-5-20260601-v1:0"),
    Aim("amazon.converse.v1", "global.anthropic.claude-opus-5-5-20261001-v1:0"),
    Aim("amazon.converse.v1", "amazon.nova-pro-v1:0"),
    Aim("amazon.converse.v1", "meta.llama3-3-70b-instruct-v1:0"),
    Aim("amazon.converse.v1", "mistral.mistral-large-2407-v1:0"),
    Aim("amazon.converse.v1", "openai.gpt-oss-120b-1:0"),
    Aim("amazon.converse.v1", "cohere.command-r-plus-v1:0"),
    Aim("google.chat.v1", "gemini-2.0-flash"),
    Aim("google.chat.v1", "gemini-2.5-flash"),
    Aim("google.chat.v1", "gemini-2.5-pro"),
    Aim("google.chat.v1", "gemini-3-pro"),
    Aim("google.chat.v1", "gemini-4-carbon"),
    Aim("vertex.chat.v1", "gemini-2.5-pro"),
    Aim("vertex.chat.v1", "gemini-3.8-flash"),
    Aim("google:openai.chat.v1", "gemini-3-pro"),
    Aim("xai.chat.v1", "grok-4.7"),
    Aim("deepseek.chat.v1", "deepseek-v4-pro"),
    Aim("deepseek.chat.v1", "deepseek-chat"),
    Aim("deepseek.responses.v1", "deepseek-v4-flash"),
    Aim("groq.chat.v1", "openai/gpt-oss-120b"),
    Aim("moonshot.chat.v1", "kimi-k2.5"),
    Aim("moonshot.chat.v1", "kimi-k3"),
    Aim("moonshot.chat.v1", "moonshot-v1-32k"),
    Aim("ollama.chat.v1", "qwen3"),
    Aim("ollama.chat.v1", "gpt-oss:20b"),
]
"""Models that depart from what their endpoint says of models in general."""

AIMS = [*ENDPOINTS, *FAMILIES]
