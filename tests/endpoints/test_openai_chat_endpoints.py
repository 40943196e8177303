"""Records of hosts that speak Chat Completions."""

from __future__ import annotations

import re
from typing import Any

import pytest

from llm_tools import endpoints
from llm_tools.dialects.openai_chat import ChatQuirks
from llm_tools.endpoints import azure, compatible, local
from llm_tools.endpoints.making import create_openai_compatible_endpoint
from llm_tools.errors import ConfigurationError
from llm_tools.llm import use_llm
from llm_tools.registry import find_endpoint, list_endpoints, make_target, register_endpoint
from llm_tools.spec import Endpoint, KeyAuth, Place

CHAT = [
    find_endpoint(info.key, info.protocol)
    for info in list_endpoints()
    if info.dialect == "openai_chat"
]
HOSTS = {
    "openai": "https://api.openai.com/v1",
    "xai": "https://api.x.ai/v1",
    "deepseek": "https://api.deepseek.com",
    "mistral": "https://api.mistral.ai/v1",
    "groq": "https://api.groq.com/openai/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "google:openai": "https://generativelanguage.googleapis.com/v1beta/openai",
    "llamacpp": "http://127.0.0.1:8080/v1",
    "vllm": "http://127.0.0.1:8000/v1",
    "lmstudio": "http://127.0.0.1:1234/v1",
    "ollama:openai": "http://127.0.0.1:11434/v1",
}
OTHERS = [
    "azure", "together", "fireworks", "cerebras", "perplexity", "nvidia", "huggingface", "github",
    "sambanova", "moonshot", "zai", "dashscope", "minimax", "cohere", "litellm", "local",
]  # fmt: skip


def test_the_hosts_are_there() -> None:
    """Every host has one chat record."""
    keys = [endpoint.key for endpoint in CHAT]
    assert len(keys) == len(set(keys))
    assert {*HOSTS, *OTHERS} <= set(keys)


@pytest.mark.parametrize("key", HOSTS)
def test_address(key: str) -> None:
    """The address is the vendor's, with the dialect's path behind it."""
    request = use_llm(f"{key}.chat.v1", model="m").build_request("Hi")
    assert request.url == f"{HOSTS[key]}/chat/completions"
    assert request.method == "POST"


@pytest.mark.parametrize("endpoint", CHAT, ids=lambda endpoint: endpoint.key)
def test_record(endpoint: Endpoint) -> None:
    """Flags are known, patterns compile, cloud hosts have a key's variable and a page."""
    known = set(ChatQuirks.__struct_fields__)
    for flags in (endpoint.quirks, *(values for _, values in endpoint.per_model)):
        assert set(flags) <= known
    for pattern, _ in endpoint.per_model:
        re.compile(pattern)
    assert make_target(endpoint, "any-model", {}).quirks.max_tokens
    if endpoint.base_url is not None and endpoint.base_url.startswith("https"):
        assert endpoint.api_key_env
        assert endpoint.docs_url is not None
        assert isinstance(endpoint.auth, KeyAuth)
        assert not endpoint.auth.optional


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({"resource": "res"}, Place("https://res.openai.azure.com/openai/v1")),
        (
            {"resource": "res", "api_version": "2024-10-21"},
            Place(
                "https://res.openai.azure.com/openai/deployments/my%20gpt", "api-version=2024-10-21"
            ),
        ),
        (
            {"resource": "res", "api_version": "preview"},
            Place("https://res.openai.azure.com/openai/v1", "api-version=preview"),
        ),
        (
            {"base_url": "https://res.openai.azure.com/"},
            Place("https://res.openai.azure.com/openai/v1"),
        ),
        (
            {"base_url": "https://res.openai.azure.com/openai/v1/"},
            Place("https://res.openai.azure.com/openai/v1"),
        ),
        (
            {"base_url": "https://proxy/openai", "api_version": "2024-10-21"},
            Place("https://proxy/openai/deployments/my%20gpt", "api-version=2024-10-21"),
        ),
        (
            {"base_url": "https://proxy/openai/deployments/d", "api_version": "2024-10-21"},
            Place("https://proxy/openai/deployments/d", "api-version=2024-10-21"),
        ),
    ],
)
def test_azure_address(values: dict[str, str], place: Place) -> None:
    """v1 without a version, the deployment's address with a dated one."""
    assert azure.ENDPOINTS[0].place is not None
    assert azure.ENDPOINTS[0].place(values, "my gpt") == place


def test_azure_without_an_address() -> None:
    """The message names the ways to give one."""
    assert azure.ENDPOINTS[0].place is not None
    with pytest.raises(ConfigurationError, match=r"resource=.*AZURE_OPENAI_ENDPOINT"):
        azure.ENDPOINTS[0].place({}, "m")


def test_azure_request() -> None:
    """The key travels in `api-key`, and the whole URL is the vendor's."""
    llm = use_llm(
        "azure.chat.v1", model="my-gpt", resource="res", api_version="2024-10-21", api_key="k"
    )
    request = llm.build_request("Hi")
    assert request.url == (
        "https://res.openai.azure.com/openai/deployments/my-gpt/chat/completions"
        "?api-version=2024-10-21"
    )
    assert request.headers["api-key"] == "***"
    assert request.body["model"] == "my-gpt"


def test_strict_at_deepseek_goes_to_the_beta_address() -> None:
    """The path is the request's own."""
    functions = [{"name": "ping"}]
    llm = use_llm("deepseek.deepseek-v4-pro")
    strict = llm.build_request("Hi", functions=functions, function_call_strict_input=True)
    assert strict.url == "https://api.deepseek.com/beta/chat/completions"
    assert (
        llm.build_request("Hi", functions=functions).url
        == "https://api.deepseek.com/chat/completions"
    )


def test_a_host_in_one_line() -> None:
    """One call makes the record, one registers it, and the model can be used."""
    endpoint = create_openai_compatible_endpoint(
        key="one-line-host", base_url="https://one.example/v1", api_key_env="ONE_KEY"
    )
    assert endpoint == Endpoint(
        key="one-line-host",
        base_url="https://one.example/v1",
        api_key_env=("ONE_KEY",),
        auth=KeyAuth(optional=False),
    )
    register_endpoint(endpoint)
    request = use_llm("one-line-host.some/model-1.5").build_request("Hi", functions=[{"name": "f"}])
    assert request.url == "https://one.example/v1/chat/completions"
    assert request.body["model"] == "some/model-1.5"


def test_a_host_without_a_key() -> None:
    """No variable: a key is sent only if one is given."""
    endpoint = create_openai_compatible_endpoint(key="h", base_url="http://127.0.0.1:9/v1")
    assert endpoint.auth == KeyAuth(optional=True)
    assert endpoint.api_key_env == ()


def test_a_host_with_further_fields() -> None:
    """Anything an endpoint has can be said; anything else is an error that lists what there is."""
    fields: dict[str, Any] = {
        "headers": {"x-a": "b"},
        "quirks": {"choice": "string"},
        "auth": KeyAuth(header="x-key", prefix=""),
    }
    endpoint = create_openai_compatible_endpoint(
        key="h", base_url="https://h/v1", api_key_env=("A", "B"), **fields
    )
    assert endpoint.headers == {"x-a": "b"}
    assert endpoint.quirks == {"choice": "string"}
    assert endpoint.auth == KeyAuth(header="x-key", prefix="")
    assert endpoint.api_key_env == ("A", "B")
    with pytest.raises(ConfigurationError, match=r"no quirk.*quirks"):
        create_openai_compatible_endpoint(key="h", base_url="https://h", quirk={})


def test_the_local_model_is_started_by_its_launcher() -> None:
    """The core knows its launcher by name alone."""
    (endpoint,) = local.ENDPOINTS
    assert endpoint.launcher == "llm_tools.integrations.local.launching:launch"
    assert endpoint.base_url is None


def test_plain_hosts_are_rows() -> None:
    """The modules export tuples of records."""
    assert endpoints.__doc__
    assert all(isinstance(endpoint, Endpoint) for endpoint in compatible.ENDPOINTS)
    assert len(compatible.ENDPOINTS) >= 19
