"""Each parameter reaches its place in the body, or is refused by its name."""

from __future__ import annotations

from typing import Any

import pytest
from matrix.scenes import ENDPOINTS, FUNCTIONS, Aim

from llm_tools import ConfigurationError, UnsupportedOptionError

GIVEN: dict[str, Any] = {
    "temperature": 0.5,
    "top_p": 0.9,
    "top_k": 5,
    "max_tokens": 100,
    "stop_sequences": ["END"],
    "effort": "low",
    "parallel_function_calls": False,
    "seed": 7,
}
REFUSED = None
Places = dict[str, dict[str, Any] | None]

CHAT: Places = {
    "temperature": {"temperature": 0.5},
    "top_p": {"top_p": 0.9},
    "top_k": REFUSED,
    "max_tokens": {"max_tokens": 100},
    "stop_sequences": {"stop.0": "END"},
    "effort": {"reasoning_effort": "low"},
    "parallel_function_calls": {"parallel_tool_calls": False},
    "seed": {"seed": 7},
}
_TOP_K: Places = {"top_k": {"top_k": 5}}
_COMPLETION: Places = {"max_tokens": {"max_completion_tokens": 100}}
_SEVERAL: Places = {"parallel_function_calls": REFUSED}
_THINKS: Places = {"effort": {"reasoning_effort": "low", "thinking.type": "enabled"}}

RESPONSES: Places = {
    **CHAT,
    "max_tokens": {"max_output_tokens": 100},
    "stop_sequences": REFUSED,
    "effort": {"reasoning.effort": "low"},
    "seed": REFUSED,
}
CLAUDE: Places = {
    "temperature": REFUSED,
    "top_p": REFUSED,
    "top_k": REFUSED,
    "max_tokens": {"max_tokens": 100},
    "stop_sequences": {"stop_sequences.0": "END"},
    "effort": {"output_config.effort": "low"},
    "parallel_function_calls": {
        "tool_choice.type": "auto",
        "tool_choice.disable_parallel_tool_use": True,
    },
    "seed": REFUSED,
}
CLAUDE_2023: Places = {
    **CLAUDE,
    "temperature": {"temperature": 0.5},
    "top_p": {"top_p": 0.9},
    "top_k": {"top_k": 5},
}
CONVERSE: Places = {
    "temperature": {"inferenceConfig.temperature": 0.5},
    "top_p": {"inferenceConfig.topP": 0.9},
    "top_k": REFUSED,
    "max_tokens": {"inferenceConfig.maxTokens": 100},
    "stop_sequences": {"inferenceConfig.stopSequences.0": "END"},
    "effort": REFUSED,
    "parallel_function_calls": REFUSED,
    "seed": REFUSED,
}
GEMINI: Places = {
    "temperature": {"generationConfig.temperature": 0.5},
    "top_p": {"generationConfig.topP": 0.9},
    "top_k": {"generationConfig.topK": 5},
    "max_tokens": {"generationConfig.maxOutputTokens": 100},
    "stop_sequences": {"generationConfig.stopSequences.0": "END"},
    "effort": {
        "generationConfig.thinkingConfig.thinkingLevel": "LOW",
        "generationConfig.thinkingConfig.includeThoughts": True,
    },
    "parallel_function_calls": REFUSED,
    "seed": {"generationConfig.seed": 7},
}
OLLAMA: Places = {
    "temperature": {"options.temperature": 0.5},
    "top_p": {"options.top_p": 0.9},
    "top_k": {"options.top_k": 5},
    "max_tokens": {"options.num_predict": 100},
    "stop_sequences": {"options.stop.0": "END"},
    "effort": {"think": "low"},
    "parallel_function_calls": REFUSED,
    "seed": {"options.seed": 7},
}

PLACES: dict[str, Places] = {
    "openai.chat.v1": CHAT | _COMPLETION,
    "openai.responses.v1": RESPONSES,
    "azure.chat.v1": CHAT | _COMPLETION,
    "azure.responses.v1": RESPONSES,
    "anthropic.chat.v1": CLAUDE,
    "azure:anthropic.chat.v1": CLAUDE,
    "amazon:messages.chat.v1": CLAUDE,
    "amazon:mantle.chat.v1": CLAUDE,
    "amazon:anthropic.chat.v1": CLAUDE_2023,
    "vertex:anthropic.chat.v1": CLAUDE_2023,
    "amazon.converse.v1": CONVERSE,
    "google.chat.v1": GEMINI,
    "vertex.chat.v1": GEMINI,
    "xai.chat.v1": CHAT | _COMPLETION,
    "xai.responses.v1": RESPONSES,
    "deepseek.chat.v1": CHAT | _SEVERAL | _THINKS | {"seed": REFUSED},
    "deepseek.responses.v1": RESPONSES | _SEVERAL,
    "mistral.chat.v1": CHAT | {"seed": {"random_seed": 7}},
    "groq.chat.v1": CHAT | _COMPLETION,
    "openrouter.chat.v1": CHAT | _TOP_K | {"effort": {"reasoning.effort": "low"}},
    "ollama.chat.v1": OLLAMA,
    "together.chat.v1": CHAT | _TOP_K,
    "fireworks.chat.v1": CHAT | _TOP_K,
    "cerebras.chat.v1": CHAT | _COMPLETION | _SEVERAL,
    "perplexity.chat.v1": CHAT | _TOP_K | _SEVERAL | {"seed": REFUSED},
    "nvidia.chat.v1": CHAT,
    "huggingface.chat.v1": CHAT,
    "github.chat.v1": CHAT,
    "sambanova.chat.v1": CHAT | _TOP_K,
    "moonshot.chat.v1": CHAT
    | _COMPLETION
    | _THINKS
    | {"temperature": REFUSED, "top_p": REFUSED, "seed": REFUSED},
    "zai.chat.v1": CHAT | _SEVERAL | _THINKS,
    "dashscope.chat.v1": CHAT | _TOP_K,
    "minimax.chat.v1": CHAT | _COMPLETION | _SEVERAL | {"seed": REFUSED, "effort": REFUSED},
    "cohere.chat.v1": CHAT | _SEVERAL,
    "google:openai.chat.v1": CHAT | _SEVERAL | {"seed": REFUSED},
    "llamacpp.chat.v1": CHAT
    | _TOP_K
    | {"effort": {"chat_template_kwargs.reasoning_effort": "low"}},
    "vllm.chat.v1": CHAT | _TOP_K,
    "lmstudio.chat.v1": CHAT | _TOP_K | {"effort": REFUSED},
    "ollama:openai.chat.v1": CHAT | _SEVERAL,
    "litellm.chat.v1": CHAT | _TOP_K,
    "local.chat.v1": CHAT | {"effort": REFUSED},
}


def places_of(aim: Aim) -> Places:
    """The places of a target; a plain host needs no row here."""
    return PLACES.get(aim.key, CHAT)


NO_FUNCTIONS = {"perplexity.chat.v1"}
IGNORED_WHILE_THINKING = {("deepseek.chat.v1", "temperature"), ("deepseek.chat.v1", "top_p")}


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    """The leaves of a body by their paths, joined by dots."""
    if isinstance(value, dict) and value:
        items = list(value.items())
    elif isinstance(value, list) and value:
        items = [(str(position), item) for position, item in enumerate(value)]
    else:
        return {path: value}
    found: dict[str, Any] = {}
    for key, item in items:
        found |= leaves(item, f"{path}.{key}" if path else key)
    return found


def added(aim: Aim, params: dict[str, Any], **request: Any) -> dict[str, Any]:
    """What the parameters change in the body; nothing may go missing for it."""
    if aim.key not in NO_FUNCTIONS:
        request = {"functions": FUNCTIONS, **request}
    before = leaves(aim.llm().build_request("Hi", **request).body)
    after = leaves(aim.llm(**params).build_request("Hi", **request).body)
    assert before.keys() <= after.keys()
    return {path: value for path, value in after.items() if before.get(path) != value}


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("aim", ENDPOINTS, ids=str)
def test_a_parameter_reaches_its_place_or_is_refused_by_name(aim: Aim, name: str) -> None:
    """The body changes in exactly this place; else the error says which parameter it is about."""
    expected = places_of(aim)[name]
    given = {name: GIVEN[name]}
    if expected is REFUSED:
        with pytest.raises(ConfigurationError, match=name):
            added(aim, given)
    else:
        assert added(aim, given) == expected


@pytest.mark.parametrize(
    ("aim", "name", "option"),
    [
        (aim, name, option)
        for aim in ENDPOINTS
        for name, option in (
            ("effort", "effort"),
            ("seed", "seed"),
            ("parallel_function_calls", "parallel_off"),
        )
    ],
    ids=str,
)
def test_the_table_of_support_agrees(aim: Aim, name: str, option: str) -> None:
    """A parameter is `native` in the table where it has a place, else `refused`."""
    target = aim.llm().target
    told = target.dialect.support(target)[option]
    assert told == ("refused" if places_of(aim)[name] is REFUSED else "native")


@pytest.mark.parametrize("aim", ENDPOINTS, ids=str)
def test_a_parameter_the_host_ignores_is_warned_about(aim: Aim) -> None:
    """Where a host takes a parameter without effect, the answer says so."""
    for name, value in GIVEN.items():
        if places_of(aim)[name] is REFUSED:
            continue
        request = aim.llm(**{name: value}).build_request("Hi")
        codes = [warning.code for warning in request.warnings]
        assert codes == ["parameter_ignored"] * ((aim.key, name) in IGNORED_WHILE_THINKING)


# ---------------------------------------------------------------- by model

_BUDGET = "generationConfig.thinkingConfig.thinkingBudget"
_SHOWN = "generationConfig.thinkingConfig.includeThoughts"

BY_MODEL: list[tuple[Aim, dict[str, Any], dict[str, Any] | None]] = [
    (Aim("openai.chat.v1", "gpt-4o"), {"effort": "low"}, REFUSED),
    (Aim("openai.chat.v1", "o4-mini"), {"temperature": 0.5}, REFUSED),
    (Aim("openai.chat.v1", "o4-mini"), {"stop_sequences": ["END"]}, REFUSED),
    (Aim("openai.responses.v1", "gpt-5.6"), {"temperature": 0.5}, REFUSED),
    (
        Aim("openai.responses.v1", "gpt-5.6"),
        {"temperature": 0.5, "effort": "none"},
        {"temperature": 0.5, "reasoning.effort": "none"},
    ),
    (Aim("openai.responses.v1", "gpt-6-astra"), {"effort": "none"}, REFUSED),
    (Aim("openai.responses.v1", "gpt-5.6"), {"max_tokens": 15}, REFUSED),
    (Aim("anthropic.chat.v1", "claude-haiku-4-5"), {"effort": "low"}, REFUSED),
    (
        Aim("anthropic.chat.v1", "claude-opus-4-5"),
        {"effort": "high"},
        {"output_config.effort": "high"},
    ),
    (Aim("anthropic.chat.v1", "claude-opus-4-5"), {"effort": "max"}, REFUSED),
    (
        Aim("anthropic.chat.v1", "claude-haiku-4-5"),
        {"temperature": 0.5, "api_version": "2023-06-01"},
        {"temperature": 0.5},
    ),
    (
        Aim("anthropic.chat.v1", "claude-opus-5"),
        {"temperature": 0.5, "api_version": "2023-06-01"},
        REFUSED,
    ),
    (Aim("anthropic.chat.v1", "claude-opus-5-5"), {"effort": "none"}, REFUSED),
    (
        Aim("anthropic.chat.v1", "claude-sonnet-5-5"),
        {"effort": "none"},
        {"thinking.type": "between_tools"},
    ),
    (
        Aim("amazon.converse.v1", "us.anthropic.claude-opus-4-6-v1"),
        {"top_k": 5, "effort": "low"},
        {"additionalModelRequestFields.top_k": 5, "outputConfig.effort": "low"},
    ),
    (
        Aim("amazon.converse.v1", "amazon.nova-2-lite-v1:0"),
        {"top_k": 5, "effort": "low"},
        {
            "additionalModelRequestFields.inferenceConfig.topK": 5,
            "additionalModelRequestFields.reasoningConfig.type": "enabled",
            "additionalModelRequestFields.reasoningConfig.maxReasoningEffort": "low",
        },
    ),
    (Aim("google.chat.v1", "gemini-2.0-flash"), {"effort": "low"}, REFUSED),
    (Aim("google.chat.v1", "gemini-2.5-flash"), {"effort": "low"}, {_BUDGET: 1024, _SHOWN: True}),
    (Aim("google.chat.v1", "gemini-2.5-flash"), {"effort": "none"}, {_BUDGET: 0, _SHOWN: False}),
    (Aim("google.chat.v1", "gemini-2.5-pro"), {"effort": "none"}, REFUSED),
    (Aim("google.chat.v1", "gemini-4-carbon"), {"effort": "minimal"}, REFUSED),
    (Aim("vertex.chat.v1", "gemini-3.8-flash"), {"effort": "xhigh"}, REFUSED),
    (Aim("xai.chat.v1", "grok-4"), {"effort": "low"}, REFUSED),
    (Aim("xai.chat.v1", "grok-4.7"), {"stop_sequences": ["END"]}, REFUSED),
    (
        Aim("deepseek.chat.v1", "deepseek-v4-pro"),
        {"effort": "xhigh"},
        {"reasoning_effort": "high", "thinking.type": "enabled"},
    ),
    (Aim("ollama.chat.v1", "qwen3"), {"effort": "none"}, {"think": False}),
    (Aim("ollama.chat.v1", "gpt-oss:20b"), {"effort": "none"}, REFUSED),
]


@pytest.mark.parametrize(("aim", "params", "expected"), BY_MODEL, ids=str)
def test_models_take_parameters_their_own_way(
    aim: Aim, params: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    """A model's own places, levels and refusals."""
    if expected is REFUSED:
        with pytest.raises(ConfigurationError, match=next(iter(params))):
            added(aim, params)
    else:
        assert added(aim, params) == expected


def test_max_tokens_is_said_where_the_wire_requires_it() -> None:
    """8,192 where nothing is given, less where the model has less; nothing elsewhere."""
    said = {aim.key: aim.llm().build_request("Hi").body.get("max_tokens") for aim in ENDPOINTS}
    required = {key for key, places in PLACES.items() if places in (CLAUDE, CLAUDE_2023)}
    assert {key for key, value in said.items() if value is not None} == required
    assert {said[key] for key in required} == {8192}
    small = Aim("anthropic.chat.v1", "claude-3-haiku-20240307")
    assert small.llm().build_request("Hi").body["max_tokens"] == 4096


@pytest.mark.parametrize("aim", ENDPOINTS, ids=str)
def test_parameters_change_with_options(aim: Aim) -> None:
    """What `with_options` says is what a new model of those options says; None takes it back."""
    plain = aim.llm()
    changed = plain.with_options(max_tokens=100)
    assert changed.build_request("Hi").body == aim.llm(max_tokens=100).build_request("Hi").body
    assert changed.with_options(max_tokens=None).build_request("Hi") == plain.build_request("Hi")


# ---------------------------------------------------------------- images

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg=="
WORDS = {"type": "text", "text": "What is it?"}
INLINE = {"type": "image", "data": PIXEL, "mediaType": "image/png"}
LINKED = {"type": "image", "url": "https://pictures.example/cat.png"}
BLIND = {"deepseek.chat.v1", "deepseek.responses.v1", "local.chat.v1"}
FETCHES_NOTHING = {
    "amazon.converse.v1",
    "amazon:anthropic.chat.v1",
    "amazon:messages.chat.v1",
    "amazon:mantle.chat.v1",
    "ollama.chat.v1",
    "ollama:openai.chat.v1",
    "lmstudio.chat.v1",
}


@pytest.mark.parametrize("aim", ENDPOINTS, ids=str)
def test_images_go_out_or_are_refused(aim: Aim) -> None:
    """An image is in the body, whole; a host that sees or fetches none says so before any I/O."""
    target = aim.llm().target
    told = target.dialect.support(target)["image"]
    assert told == ("refused" if aim.key in BLIND else "native")
    for image, where in ((INLINE, PIXEL), (LINKED, "https://pictures.example/cat.png")):
        message = {"role": "user", "content": [WORDS, image]}
        if aim.key in BLIND or (image is LINKED and aim.key in FETCHES_NOTHING):
            with pytest.raises(UnsupportedOptionError, match="image"):
                aim.llm().build_request([message])
        else:
            body = aim.llm().build_request([message]).body
            assert any(where in str(leaf) for leaf in leaves(body).values())
            assert "What is it?" in leaves(body).values()
