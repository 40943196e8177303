"""Where Claude and Bedrock live, and how their models are named."""

from __future__ import annotations

import pytest
from dialects.anthropic_and_bedrock import ENDPOINTS, target_of

from llm_tools.endpoints.bedrock import bedrock_model_id
from llm_tools.errors import ConfigurationError
from llm_tools.spec import AwsAuth, Place


@pytest.mark.parametrize(
    ("model", "whole"),
    [
        ("nova-lite-v1:0", "amazon.nova-lite-v1:0"),
        ("nova-2.5-pro-v1:0", "amazon.nova-2.5-pro-v1:0"),
        ("titan-text-express-v1", "amazon.titan-text-express-v1"),
        ("something-v1:0", "amazon.something-v1:0"),
        ("claude-haiku-4-5-20251001-v1:0", "anthropic.claude-haiku-4-5-20251001-v1:0"),
        ("amazon.nova-lite-v1:0", "amazon.nova-lite-v1:0"),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "us.anthropic.claude-haiku-4-5-20251001-v1:0"),
        ("meta.llama3-8b-instruct-v1:0", "meta.llama3-8b-instruct-v1:0"),
        ("us-gov.anthropic.claude-3-haiku-20240307-v1:0", "us-gov.anthropic.claude-3-haiku-20240307-v1:0"),
        (
            "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abcdef012345",
            "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abcdef012345",
        ),
        ("abcdef012345", "abcdef012345"),
    ],
)  # fmt: skip
def test_model_ids_are_whole(model: str, whole: str) -> None:
    """The key's first dot may have been the id's own."""
    assert bedrock_model_id(model) == whole
    assert target_of("amazon", model).model == whole


@pytest.mark.parametrize(
    ("key", "values", "base_url"),
    [
        ("amazon", {"region": "eu-west-1"}, "https://bedrock-runtime.eu-west-1.amazonaws.com"),
        ("amazon", {"region": "cn-north-1"}, "https://bedrock-runtime.cn-north-1.amazonaws.com.cn"),
        ("amazon:anthropic", {"region": "eu-west-1"}, "https://bedrock-runtime.eu-west-1.amazonaws.com"),
        ("amazon:messages", {"region": "eu-west-1"}, "https://bedrock-runtime.eu-west-1.amazonaws.com/anthropic"),
        ("amazon:mantle", {"region": "eu-west-1"}, "https://bedrock-mantle.eu-west-1.api.aws/anthropic"),
        ("azure:anthropic", {"resource": "here"}, "https://here.services.ai.azure.com/anthropic"),
        (
            "vertex:anthropic",
            {"project": "p", "location": "global"},
            "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/anthropic/models",
        ),
        (
            "vertex:anthropic",
            {"project": "p", "location": "eu"},
            "https://aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu/publishers/anthropic/models",
        ),
        (
            "vertex:anthropic",
            {"project": "p", "location": "us-east5"},
            "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5/publishers/anthropic/models",
        ),
        (
            "vertex:anthropic",
            {"project": "p", "location": "eu", "base_url": "http://127.0.0.1/v1"},
            "http://127.0.0.1/v1/projects/p/locations/eu/publishers/anthropic/models",
        ),
    ],
)  # fmt: skip
def test_places(key: str, values: dict[str, str], base_url: str) -> None:
    """As the vendors' own SDKs build them."""
    place = ENDPOINTS[key].place
    assert place is not None
    assert place(values, "m") == Place(base_url)


@pytest.mark.parametrize(
    "key", ["amazon", "amazon:anthropic", "amazon:messages", "amazon:mantle", "azure:anthropic"]
)
def test_base_url_given_by_the_caller_wins(key: str) -> None:
    """A gateway or a VPC endpoint."""
    place = ENDPOINTS[key].place
    assert place is not None
    given = {"base_url": "http://127.0.0.1:1", "region": "eu-west-1"}
    assert place(given, "m") == Place("http://127.0.0.1:1")


def test_foundry_needs_a_resource_or_a_base_url() -> None:
    """The message names both."""
    place = ENDPOINTS["azure:anthropic"].place
    assert place is not None
    with pytest.raises(ConfigurationError, match=r"resource=… or base_url=…"):
        place({}, "m")


def test_auth() -> None:
    """Anthropic's key goes bare, Foundry's twice; Mantle signs for its own service."""
    anthropic, foundry = ENDPOINTS["anthropic"].auth, ENDPOINTS["azure:anthropic"].auth
    assert (anthropic.header, anthropic.prefix, anthropic.also) == ("x-api-key", "", ())
    assert (foundry.header, foundry.prefix, foundry.also) == ("x-api-key", "", ("api-key",))
    assert ENDPOINTS["amazon"].auth == AwsAuth()
    assert ENDPOINTS["amazon:mantle"].auth == AwsAuth(service="bedrock-mantle")


def test_streams_of_invoke_model_are_wrapped() -> None:
    """The other hosts stream plain events."""
    framings = {key: endpoint.framing for key, endpoint in ENDPOINTS.items() if endpoint.framing}
    assert framings == {"amazon:anthropic": "aws_chunks"}


@pytest.mark.parametrize(
    "spelling",
    [
        "claude-opus-5-5",
        "claude-opus-5-5-20261001",
        "claude-opus-5-5@20261001",
        "anthropic.claude-opus-5-5-20261001-v1:0",
        "us.anthropic.claude-opus-5-5-v1",
        "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-5-5-v1:0",
    ],
)
def test_one_model_under_every_spelling(spelling: str) -> None:
    """Hosts spell model ids differently; what is known of a model holds for all."""
    for key in ENDPOINTS:
        quirks = target_of(key, spelling).quirks
        assert quirks.forced_choice is False
        assert quirks.sampling is False
        assert quirks.binds_thinking is True


def test_neighbours_are_other_models() -> None:
    """A name that begins alike is not alike."""
    assert target_of("anthropic", "claude-opus-5").quirks.forced_choice
    assert target_of("anthropic", "claude-opus-4-20250514").quirks.structured is False
    assert target_of("anthropic", "claude-opus-4-1-20250805").quirks.structured is True
    assert target_of("anthropic", "claude-opus-4-5-20251101").quirks.structured is True
    assert target_of("anthropic", "claude-sonnet-4@20250514").quirks.structured is False
    assert target_of("anthropic", "my-own-model").quirks.structured is True
    assert target_of("amazon:anthropic", "claude-opus-4-7").quirks.structured is False
