"""What each target should do, typed by hand: its accent, and how it serves each option.

The letters of a row stand for `SUPPORT_OPTIONS` in order: auto, none, any, named, subset; strict,
json_schema; parallel_off, image, effort, seed. N is native, E emulated, R refused.
"""

from __future__ import annotations

from typing import NamedTuple

from matrix import accents
from matrix.accents import Accent
from matrix.scenes import Aim

from llm_tools.spec import SUPPORT_OPTIONS

_LETTERS = {"N": "native", "E": "emulated", "R": "refused"}


class Row(NamedTuple):
    """What a target should do.

    Attributes:
        accent: how it says the modes.
        letters: how it serves the options.
        one_shape: a schema for the text cannot be said in a field beside functions that go out.
        background: codes of warnings that come with some calls whatever the option in question.
    """

    accent: Accent
    letters: str
    one_shape: bool = False
    background: tuple[str, ...] = ()

    @property
    def support(self) -> dict[str, str]:
        """The row as `list_endpoints()` spells it."""
        letters = self.letters.replace(" ", "")
        return {
            option: _LETTERS[letter]
            for option, letter in zip(SUPPORT_OPTIONS, letters, strict=True)
        }


_THINKS = ("thinking_switched_off", "reasoning_stood_in")
_PLAIN_HOST = Row(accents.COMPATIBLE, "NNNNE EN NNNN")
_CLAUDE = Row(accents.CLAUDE, "NNNNE NN NNNR")

_ENDPOINTS = {
    "openai.chat.v1": Row(accents.CHAT, "NNNNN NN NNNN"),
    "openai.responses.v1": Row(accents.RESPONSES, "NNNNN NN NNNR"),
    "azure.chat.v1": Row(accents.CHAT, "NNNNN NN NNNN"),
    "azure.responses.v1": Row(accents.RESPONSES, "NNNNN NN NNNR"),
    "anthropic.chat.v1": _CLAUDE,
    "azure:anthropic.chat.v1": _CLAUDE,
    "vertex:anthropic.chat.v1": _CLAUDE,
    "amazon:anthropic.chat.v1": _CLAUDE,
    "amazon:messages.chat.v1": _CLAUDE,
    "amazon:mantle.chat.v1": _CLAUDE,
    "amazon.converse.v1": Row(accents.CONVERSE, "NNNNE EE RNRR"),
    "google.chat.v1": Row(accents.GEMINI, "NNNNN NN RNNN"),
    "vertex.chat.v1": Row(accents.GEMINI, "NNNNN NN RNNN"),
    "xai.chat.v1": Row(accents.COMPATIBLE, "NNNNE EN NNNN"),
    "xai.responses.v1": Row(accents.RESPONSES_PLAIN, "NNNNE EN NNNR"),
    "deepseek.chat.v1": Row(accents.COMPATIBLE, "NNNNE NE RRNR", background=_THINKS),
    "deepseek.responses.v1": Row(accents.RESPONSES_PLAIN, "NNNNE EN RRNR", background=_THINKS),
    "mistral.chat.v1": Row(accents.COMPATIBLE, "NNNNE NN NNNN"),
    "groq.chat.v1": Row(accents.COMPATIBLE, "NNNNE NN NNNN", one_shape=True),
    "openrouter.chat.v1": Row(accents.COMPATIBLE, "NNNNE NN NNNN"),
    "ollama.chat.v1": Row(accents.OLLAMA, "NNEEE EN RNNN", one_shape=True),
    "together.chat.v1": _PLAIN_HOST,
    "fireworks.chat.v1": _PLAIN_HOST,
    "cerebras.chat.v1": Row(accents.COMPATIBLE, "NNNNE NN RNNN"),
    "perplexity.chat.v1": Row(accents.NO_FUNCTIONS, "RNRRR RN RNNR"),
    "nvidia.chat.v1": _PLAIN_HOST,
    "huggingface.chat.v1": _PLAIN_HOST,
    "github.chat.v1": _PLAIN_HOST,
    "sambanova.chat.v1": _PLAIN_HOST,
    "moonshot.chat.v1": Row(accents.COMPATIBLE, "NNNNE EN NNNR", background=_THINKS),
    "zai.chat.v1": Row(accents.WORDLESS, "NNEEE EE RNNN"),
    "dashscope.chat.v1": Row(accents.NAMES, "NNENE EE NNNN"),
    "minimax.chat.v1": Row(accents.WORDLESS, "NNEEE EE RNRR"),
    "cohere.chat.v1": Row(accents.WORDS, "NNNEE EN RNNN"),
    "google:openai.chat.v1": Row(accents.COMPATIBLE, "NNNNE EN RNNR"),
    "llamacpp.chat.v1": Row(accents.COMPATIBLE, "NNNNE EN NNNN", one_shape=True),
    "vllm.chat.v1": Row(accents.COMPATIBLE, "NNNNE NN NNNN"),
    "lmstudio.chat.v1": Row(accents.WORDS, "NNNEE EN NNRN"),
    "ollama:openai.chat.v1": Row(accents.WORDLESS, "NNEEE EN RNNN", one_shape=True),
    "litellm.chat.v1": _PLAIN_HOST,
    "local.chat.v1": Row(accents.CHAT, "NNNNN EN NRRN"),
}

_CLAUDE_PLAIN = Row(accents.CLAUDE, "NNNNE EE NNRR")
_CLAUDE_UNFORCED = Row(accents.CLAUDE_NO_FORCE, "NNRRR NN NNNR")
_SONNET_5_BEDROCK = Row(accents.CLAUDE, "NNNNE NN NNNR", background=_THINKS)
_OLD_GEMINI = Row(accents.GEMINI, "NNNNN NN RNNN", one_shape=True)

_FAMILIES = {
    Aim("openai.chat.v1", "gpt-4o-mini"): Row(accents.CHAT, "NNNNN NN NNRN"),
    Aim("openai.chat.v1", "gpt-5.4"): _ENDPOINTS["openai.chat.v1"],
    Aim("openai.chat.v1", "o4-mini"): _ENDPOINTS["openai.chat.v1"],
    Aim("openai.responses.v1", "gpt-4o-mini"): Row(accents.RESPONSES, "NNNNN NN NNRR"),
    Aim("azure.chat.v1", "gpt-4.1"): Row(accents.CHAT, "NNNNN NN NNRN"),
    Aim("anthropic.chat.v1", "claude-3-5-haiku-latest"): _CLAUDE_PLAIN,
    Aim("anthropic.chat.v1", "claude-haiku-4-5"): Row(accents.CLAUDE, "NNNNE NN NNRR"),
    Aim("anthropic.chat.v1", "claude-opus-5-5"): _CLAUDE_UNFORCED,
    Aim("anthropic.chat.v1", "claude-sonnet-5-5"): _CLAUDE_UNFORCED,
    Aim("anthropic.chat.v1", "claude-mythos-5-2"): _CLAUDE_UNFORCED,
    Aim("vertex:anthropic.chat.v1", "claude-opus-5-5@20261001"): _CLAUDE_UNFORCED,
    Aim("azure:anthropic.chat.v1", "claude-sonnet-5-5"): _CLAUDE_UNFORCED,
    Aim("amazon:anthropic.chat.v1", "anthropic.claude-3-haiku-20240307-v1:0"): _CLAUDE_PLAIN,
    Aim(
        "amazon:anthropic.chat.v1", "us.anthropic.claude-sonnet-5-20260601-v1:0"
    ): _SONNET_5_BEDROCK,
    Aim(
        "amazon:anthropic.chat.v1", "global.anthropic.claude-opus-5-5-20261001-v1:0"
    ): _CLAUDE_UNFORCED,
    Aim("amazon.converse.v1", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"): Row(
        accents.CONVERSE_CLAUDE, "NNNNE NN RNRR"
    ),
    Aim("amazon.converse.v1", "us.anthropic.claude-sonnet-5-20260601-v1:0"): Row(
        accents.CONVERSE_CLAUDE, "NNNNE NN RNNR", background=_THINKS
    ),
    Aim("amazon.converse.v1", "global.anthropic.claude-opus-5-5-20261001-v1:0"): Row(
        accents.CONVERSE_CLAUDE_NO_FORCE, "NNRRR NN RNNR"
    ),
    Aim("amazon.converse.v1", "amazon.nova-pro-v1:0"): Row(accents.CONVERSE, "NNNNE EE RNRR"),
    Aim("amazon.converse.v1", "meta.llama3-3-70b-instruct-v1:0"): Row(
        accents.CONVERSE_BARE, "NNEEE EE RNRR", background=("results_parted",)
    ),
    Aim("amazon.converse.v1", "mistral.mistral-large-2407-v1:0"): Row(
        accents.CONVERSE_ANY, "NNNEE EE RNRR", background=("results_parted",)
    ),
    Aim("amazon.converse.v1", "openai.gpt-oss-120b-1:0"): Row(
        accents.CONVERSE_BARE, "NNEEE NN RNNR"
    ),
    Aim("amazon.converse.v1", "cohere.command-r-plus-v1:0"): Row(
        accents.CONVERSE_BARE, "NNEEE EE RNRR"
    ),
    Aim("google.chat.v1", "gemini-2.0-flash"): Row(accents.GEMINI, "NNNNN NN RNRN", one_shape=True),
    Aim("google.chat.v1", "gemini-2.5-flash"): _OLD_GEMINI,
    Aim("google.chat.v1", "gemini-2.5-pro"): _OLD_GEMINI,
    Aim("vertex.chat.v1", "gemini-2.5-pro"): _OLD_GEMINI,
    Aim("moonshot.chat.v1", "kimi-k3"): Row(accents.NO_FORCE, "NNRRR EN NNNR", background=_THINKS),
    Aim("moonshot.chat.v1", "moonshot-v1-32k"): Row(accents.WORDLESS, "NNEEE EN NNRR"),
}


def row_of(aim: Aim) -> Row:
    """The row of a target: of its model, else of its endpoint; a plain host needs none here."""
    return _FAMILIES.get(aim) or _ENDPOINTS.get(aim.key, _PLAIN_HOST)
