"""Where the Responses API is served, and which models need it."""

from __future__ import annotations

from typing import Any

import pytest

from llm_tools.endpoints import azure_responses, deepseek_responses, openai_responses, xai_responses
from llm_tools.errors import ConfigurationError
from llm_tools.registry import make_target
from llm_tools.spec import Endpoint, KeyAuth, Params, Place

(OPENAI,) = openai_responses.ENDPOINTS
(AZURE,) = azure_responses.ENDPOINTS
(XAI,) = xai_responses.ENDPOINTS
(DEEPSEEK,) = deepseek_responses.ENDPOINTS


def picks(model: str, effort: str | None = None) -> bool:
    """Whether OpenAI's models are served by this record."""
    assert OPENAI.picks is not None
    return OPENAI.picks(model, Params(effort=effort))


def quirks(endpoint: Endpoint, model: str) -> Any:
    """The flags that hold for a model."""
    return make_target(endpoint, model, {}).quirks


@pytest.mark.parametrize(
    "model",
    [
        "gpt-5.5", "gpt-5.5-2026-04-01", "gpt-5.6", "gpt-5.6-sol", "gpt-6-astra", "gpt-6.1-sol",
        "gpt-6", "gpt-7-mini", "gpt-5.10", "ft:gpt-5.6:acme::1",
        "o1-pro", "o3-pro-2025-06-10", "gpt-5-pro", "gpt-5.2-pro-2025-12-11",
        "gpt-5-codex", "gpt-5.1-codex-mini", "codex-mini-latest",
        "o4-mini-deep-research", "computer-use-preview",
    ],
)  # fmt: skip
def test_models_that_need_responses(model: str) -> None:
    """A model whose Chat refuses functions, or that has no Chat, is served here."""
    assert picks(model)
    assert picks(model, "none")


@pytest.mark.parametrize(
    "model",
    ["gpt-4o-mini", "gpt-4.1", "gpt-3.5-turbo", "gpt-35-turbo", "o3", "o4-mini", "gpt-5",
     "gpt-5-mini", "gpt-5.1", "gpt-5.2", "gpt-5.4", "gpt-5.4-mini", "prose", "gpt-4o-probe",
     "ft:gpt-4o:acme::1"],
)  # fmt: skip
def test_models_that_chat(model: str) -> None:
    """Other models stay on Chat Completions."""
    assert not picks(model)
    assert not picks(model, "none")


def test_models_that_need_responses_for_an_effort() -> None:
    """This family loses its functions on Chat only beside an effort."""
    assert picks("gpt-5.4", "high")
    assert picks("gpt-5.4-mini-2026-03-05", "low")
    assert not picks("gpt-5.4", "none")
    assert not picks("gpt-5.2", "high")


@pytest.mark.parametrize(
    ("model", "reasoning"),
    [
        ("gpt-4o-mini", "never"),
        ("ft:gpt-4o:acme::1", "never"),
        ("chatgpt-4o-latest", "never"),
        ("gpt-5-chat-latest", "never"),
        ("o3", "always"),
        ("o4-mini-2025-04-16", "always"),
        ("gpt-5", "always"),
        ("gpt-5-codex", "always"),
        ("gpt-5.1", "on_request"),
        ("gpt-5.4-mini", "on_request"),
        ("gpt-5.3-codex", "on_request"),
        ("gpt-5.1-codex-max", "always"),
        ("gpt-5.2-chat-latest", "always"),
        ("gpt-5.4-pro", "always"),
        ("gpt-5.5", "by_default"),
        ("gpt-5.6-sol", "by_default"),
        ("gpt-7", "by_default"),
        ("gpt-5.5-pro", "always"),
        ("gpt-6-astra", "always"),
        ("gpt-6.1-sol", "always"),
        ("ft:gpt-5.2:acme::1", "on_request"),
        ("my-deployment", "unknown"),
    ],
)
def test_when_models_reason(model: str, reasoning: str) -> None:
    """Models are known by patterns, at both hosts; of others nothing is claimed."""
    assert quirks(OPENAI, model).reasoning == reasoning
    assert quirks(AZURE, model).reasoning == reasoning


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({"resource": "acme"}, Place("https://acme.openai.azure.com/openai/v1")),
        (
            {"resource": "acme", "api_version": "2025-04-01-preview"},
            Place("https://acme.openai.azure.com/openai", "api-version=2025-04-01-preview"),
        ),
        (
            {"resource": "acme", "api_version": "preview"},
            Place("https://acme.openai.azure.com/openai/v1", "api-version=preview"),
        ),
        (
            {"base_url": "https://x.cognitiveservices.azure.com/"},
            Place("https://x.cognitiveservices.azure.com/openai/v1"),
        ),
        (
            {"base_url": "https://x.example.org/openai/v1/"},
            Place("https://x.example.org/openai/v1"),
        ),
        (
            {"base_url": "https://x.example.org/openai", "api_version": "2025-04-01-preview"},
            Place("https://x.example.org/openai", "api-version=2025-04-01-preview"),
        ),
        (
            {"base_url": "https://env.example.org", "resource": "acme"},
            Place("https://acme.openai.azure.com/openai/v1"),
        ),
    ],
)
def test_azure_addresses(values: dict[str, str], place: Place) -> None:
    """Azure is found by resource or base URL, on its v1 API unless a dated version is given."""
    assert AZURE.place is not None
    assert AZURE.place(values, "my-deployment") == place


def test_azure_without_an_address() -> None:
    """Where nothing says where Azure is, the error says what to set."""
    assert AZURE.place is not None
    with pytest.raises(ConfigurationError, match="AZURE_OPENAI_ENDPOINT"):
        AZURE.place({}, "my-deployment")


def test_keys_and_hosts() -> None:
    """Each host has its address, key variable and protocol key."""
    found = {
        f"{record.key}.{record.protocol}.v1": (record.base_url, record.api_key_env)
        for record in (OPENAI, AZURE, XAI, DEEPSEEK)
    }
    assert found == {
        "openai.responses.v1": ("https://api.openai.com/v1", ("OPENAI_API_KEY",)),
        "azure.responses.v1": (None, ("AZURE_OPENAI_API_KEY",)),
        "xai.responses.v1": ("https://api.x.ai/v1", ("XAI_API_KEY",)),
        "deepseek.responses.v1": ("https://api.deepseek.com", ("DEEPSEEK_API_KEY",)),
    }
    assert AZURE.auth == KeyAuth(header="api-key", prefix="", token_header="authorization")


def test_hosts_that_depart_from_openai() -> None:
    """xAI and DeepSeek know no subset and no strict; DeepSeek sees no images but in one family."""
    assert not quirks(XAI, "grok-4.3").allowed_tools
    assert not quirks(XAI, "grok-4.3").strict
    assert quirks(XAI, "grok-4.3").effort
    assert not quirks(XAI, "grok-4-fast-reasoning").effort
    assert not quirks(XAI, "grok-4.1-fast-non-reasoning").effort
    assert not quirks(DEEPSEEK, "deepseek-v4-pro").images
    assert quirks(DEEPSEEK, "deepseek-v4-flash-vision-exp").images
