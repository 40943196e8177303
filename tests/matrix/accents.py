"""How each mode should sound, host by host: tables, typed by hand from the vendors' pages.

An accent maps a mode to a `Choice`: which functions go out, the choice in the wire's words, and the
codes of the warnings that say what was emulated. `REFUSED` stands for an error before any I/O. A
few wires have another word for a mode beside strict input, or after calls in the history; it is
under `<mode>_strict` and `<mode>_after_calls`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

ALL = ("get_weather", "get_time", "ping")
SUBSET = ("get_weather", "ping")
ONE = ("get_weather",)
NOTHING = ()

FILTERED = "subset_filtered"
ASKED = "function_call_emulated"


class Choice(NamedTuple):
    """What goes out for a mode; `text` where the answer's text stands in for the call."""

    functions: tuple[str, ...]
    said: Any = None
    codes: tuple[str, ...] = ()
    text: bool = False


REFUSED = None
Accent = dict[str, Choice | None]

_SAME = {"dict": "name", "one_of_one": "name"}


def _accent(base: Accent | None = None, /, **modes: Choice | None) -> Accent:
    """An accent on top of another; a name is said alike in all its spellings."""
    accent = {**(base or {}), **modes}
    return accent | {other: accent[mode] for other, mode in _SAME.items()}


# ---------------------------------------------------------------- Chat Completions


def _function(name: str) -> Any:
    return {"type": "function", "function": {"name": name}}


def _allowed(mode: str) -> Any:
    tools = [_function(name) for name in SUBSET]
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}}


CHAT = _accent(
    unsaid=Choice(ALL),
    auto=Choice(ALL, "auto"),
    none=Choice(ALL, "none"),
    any=Choice(ALL, "required"),
    name=Choice(ALL, _function("get_weather")),
    subset_any=Choice(ALL, _allowed("required")),
    subset_auto=Choice(ALL, _allowed("auto")),
)
"""OpenAI and Azure: the whole vocabulary."""

COMPATIBLE = _accent(
    CHAT,
    subset_any=Choice(SUBSET, "required", (FILTERED,)),
    subset_auto=Choice(SUBSET, "auto", (FILTERED,)),
)
"""Hosts without `allowed_tools`."""

WORDS = _accent(COMPATIBLE, name=Choice(ONE, "required", (FILTERED,)))
"""Hosts that take words only: LM Studio, Cohere."""

_STANDS_IN = Choice(NOTHING, None, (ASKED,), text=True)

NAMES = _accent(COMPATIBLE, any=_STANDS_IN, subset_any=_STANDS_IN)
"""Hosts that take a name but no `required`: DashScope."""

WORDLESS = _accent(
    COMPATIBLE, none=Choice(NOTHING), any=_STANDS_IN, name=_STANDS_IN, subset_any=_STANDS_IN
)
"""Hosts without a choice: Z.ai, MiniMax, Ollama under `/v1`."""

NO_FORCE = _accent(COMPATIBLE, any=REFUSED, name=REFUSED, subset_any=REFUSED)
"""Models that always think, where forced calls are refused meanwhile: Kimi K3."""

NO_FUNCTIONS = _accent(
    unsaid=REFUSED,
    auto=REFUSED,
    none=Choice(NOTHING),
    any=REFUSED,
    name=REFUSED,
    subset_any=REFUSED,
    subset_auto=REFUSED,
)
"""Hosts that take no functions at all: Perplexity."""

# ---------------------------------------------------------------- Responses


def _flat(name: str) -> Any:
    return {"type": "function", "name": name}


def _flat_allowed(mode: str) -> Any:
    return {"type": "allowed_tools", "mode": mode, "tools": [_flat(name) for name in SUBSET]}


RESPONSES = _accent(
    CHAT,
    name=Choice(ALL, _flat("get_weather")),
    subset_any=Choice(ALL, _flat_allowed("required")),
    subset_auto=Choice(ALL, _flat_allowed("auto")),
)

RESPONSES_PLAIN = _accent(COMPATIBLE, name=Choice(ALL, _flat("get_weather")))
"""xAI's and DeepSeek's Responses: no `allowed_tools`."""

# ---------------------------------------------------------------- Anthropic, Bedrock

CLAUDE = _accent(
    unsaid=Choice(ALL),
    auto=Choice(ALL, {"type": "auto"}),
    none=Choice(ALL, {"type": "none"}),
    any=Choice(ALL, {"type": "any"}),
    name=Choice(ALL, {"type": "tool", "name": "get_weather"}),
    subset_any=Choice(SUBSET, {"type": "any"}, (FILTERED,)),
    subset_auto=Choice(SUBSET, {"type": "auto"}, (FILTERED,)),
)

CLAUDE_NO_FORCE = _accent(CLAUDE, any=REFUSED, name=REFUSED, subset_any=REFUSED)
"""Opus 5.5, Sonnet 5.5, Fable and Mythos 5.1 and 5.2."""

CONVERSE = _accent(
    unsaid=Choice(ALL),
    auto=Choice(ALL, {"auto": {}}),
    none=Choice(NOTHING),
    any=Choice(ALL, {"any": {}}),
    name=Choice(ALL, {"tool": {"name": "get_weather"}}),
    subset_any=Choice(SUBSET, {"any": {}}, (FILTERED,)),
    subset_auto=Choice(SUBSET, {"auto": {}}, (FILTERED,)),
    none_after_calls=Choice(ALL, None, ("none_not_enforced",)),
)
"""Nova, and what is unknown."""

CONVERSE_CLAUDE = _accent(CONVERSE, none_after_calls=Choice(ALL, {"type": "none"}))

CONVERSE_CLAUDE_NO_FORCE = _accent(CONVERSE_CLAUDE, any=REFUSED, name=REFUSED, subset_any=REFUSED)

CONVERSE_ANY = _accent(CONVERSE, name=Choice(ONE, {"any": {}}, (FILTERED,)))
"""Mistral Large: no `tool`."""

CONVERSE_BARE = _accent(
    CONVERSE,
    auto=Choice(ALL),
    any=Choice(ALL, None, (ASKED,)),
    name=Choice(ONE, None, (FILTERED, ASKED)),
    subset_any=Choice(SUBSET, None, (FILTERED, ASKED)),
    subset_auto=Choice(SUBSET, None, (FILTERED,)),
)
"""Llama, Cohere, gpt-oss: no `toolChoice`; the prompt asks."""

# ---------------------------------------------------------------- Gemini, Ollama

_ALLOWED = {"allowedFunctionNames": list(SUBSET)}

GEMINI = _accent(
    unsaid=Choice(ALL),
    auto=Choice(ALL, {"mode": "AUTO"}),
    none=Choice(ALL, {"mode": "NONE"}),
    any=Choice(ALL, {"mode": "ANY"}),
    name=Choice(ALL, {"mode": "ANY", "allowedFunctionNames": ["get_weather"]}),
    subset_any=Choice(ALL, {"mode": "ANY", **_ALLOWED}),
    subset_auto=Choice(ALL, {"mode": "VALIDATED", **_ALLOWED}),
    unsaid_strict=Choice(ALL, {"mode": "VALIDATED"}),
    auto_strict=Choice(ALL, {"mode": "VALIDATED"}),
)
"""`VALIDATED` is `AUTO` held to the schemas, which `ANY` is by itself."""

OLLAMA = _accent(
    unsaid=Choice(ALL),
    auto=Choice(ALL),
    none=Choice(NOTHING),
    any=_STANDS_IN,
    name=_STANDS_IN,
    subset_any=_STANDS_IN,
    subset_auto=Choice(SUBSET, None, (FILTERED,)),
)
