"""Amazon Bedrock: Converse for every model, and three ways to Claude's own wire."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..spec import AwsAuth, Endpoint, Place, QuirkValues, Setting
from . import claude_models as models

_REGION = Setting("region", env=("AWS_REGION", "AWS_DEFAULT_REGION"), required=True)
_KEY = ("AWS_BEARER_TOKEN_BEDROCK",)

_AMAZON_MODEL = re.compile(r"(?:nova|titan|rerank)\b.*")
_PROFILE_ID = re.compile(r"[a-z0-9]{12}")


def bedrock_model_id(model: str) -> str:
    """The whole model id of what stands behind `amazon.`, whose dot may have been the id's own.

    Ids of other vendors, inference profiles and ARNs are whole already.
    """
    if model.startswith("claude-"):
        return f"anthropic.{model}"
    if _AMAZON_MODEL.fullmatch(model):
        return f"amazon.{model}"
    whole = "." in model or model.startswith("arn:") or _PROFILE_ID.fullmatch(model)
    return model if whole else f"amazon.{model}"


def _runtime(values: Mapping[str, str], _: str) -> Place:
    return Place(values.get("base_url") or f"https://bedrock-runtime.{_domain(values)}")


def _messages(values: Mapping[str, str], _: str) -> Place:
    return Place(values.get("base_url") or f"https://bedrock-runtime.{_domain(values)}/anthropic")


def _mantle(values: Mapping[str, str], _: str) -> Place:
    default = f"https://bedrock-mantle.{values['region']}.api.aws/anthropic"
    return Place(values.get("base_url") or default)


def _domain(values: Mapping[str, str]) -> str:
    region = values["region"]
    ending = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return f"{region}.{ending}"


def _family(names: str) -> str:
    """A pattern for model ids of these vendors (and models), under any inference profile."""
    return rf"(?:.*[./])?(?:{names}).*"


# https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html
_NOT_STRUCTURED = models.claude(r"opus-4-[178]|opus-5(?!-5)")
_OLD: QuirkValues = {"structured": False, "effort": None, "efforts": (), "prefill": True}
_THREE = ("low", "medium", "high")

_CLAUDE: tuple[tuple[str, QuirkValues], ...] = (
    (
        models.ANY,
        {
            "claude_fields": True,
            "structured": True,
            "top_k": "top_k",
            "effort": "outputConfig",
            "efforts": models.EFFORTS,
            "thinking_off": "disabled",
            "s3_images": False,
            "prefill": False,
        },
    ),
    (models.BEFORE_4, _OLD),
    (models.GENERATION_4, _OLD),
    (models.SMALL_4_5, {"effort": None, "efforts": (), "prefill": True}),
    (models.OPUS_4_5, {"effort": None, "efforts": (), "prefill": True}),
    (models.GENERATION_4_6, {"efforts": (*_THREE, "max")}),
    (models.NO_SAMPLING, {"sampling": False}),
    (models.NO_FORCED_CHOICE, {"forced_choice": False}),
    (models.BINDS_THINKING, {"binds_thinking": True}),
    (models.ALWAYS_THINKS, {"thinking_off": None}),
    (models.SONNET_5_5, {"thinking_off": "between_tools"}),
    (models.SONNET_5, {"forced_needs_thinking_off": True}),
    (_NOT_STRUCTURED, {"structured": False}),
)

# https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html
_OTHERS: tuple[tuple[str, QuirkValues], ...] = (
    (_family(r"amazon\.nova"), {"top_k": "inferenceConfig"}),
    (_family(r"amazon\.nova-2"), {"effort": "nova", "efforts": _THREE}),
    (
        _family(
            r"ai21\.|amazon\.titan|cohere\.|deepseek\.|google\.|meta\.|minimax\.|mistral\.|"
            r"nvidia\.|openai\.|qwen\.|writer\."
        ),
        {"choices": ()},
    ),
    (_family(r"mistral\.mistral-large|moonshot(?:ai)?\.|zai\."), {"choices": ("any",)}),
    (
        _family(
            r"deepseek\.v3|google\.gemma-3-(?:12|27)b|minimax\.minimax-m2|"
            r"mistral\.(?:magistral-small|ministral-3|mistral-large-3|voxtral)|"
            r"moonshot(?:ai)?\.|nvidia\.nemotron-nano|openai\.gpt-oss|qwen\.qwen3|zai\."
        ),
        {"structured": True},
    ),
    (_family(r"meta\.|mistral\.|writer\."), {"results_alone": True}),
    (_family(r"mistral\.|moonshot(?:ai)?\.|qwen\."), {"result_images": False}),
    (_family(r"writer\."), {"result_status": False}),
    (_family(r"deepseek\.r1"), {"unsigned_reasoning": True}),
    (_family(r"openai\.gpt-oss"), {"effort": "reasoning_effort", "efforts": _THREE}),
    (_family(r"qwen\.qwen3"), {"effort": "reasoning_config", "efforts": ("low", "high")}),
)

_CLAUDE_ON_BEDROCK = (
    *models.CLAUDE,
    (models.SONNET_5, {"forced_needs_thinking_off": True}),
    (_NOT_STRUCTURED, {"structured": False}),
)

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        key="amazon",
        protocol="converse",
        dialect="bedrock_converse",
        base_url_env=("AWS_ENDPOINT_URL_BEDROCK_RUNTIME",),
        api_key_env=_KEY,
        auth=AwsAuth(),
        settings=(_REGION,),
        place=_runtime,
        per_model=(*_CLAUDE, *_OTHERS),
        model_id=bedrock_model_id,
        tier="verified",
        docs_url="https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html",
    ),
    Endpoint(
        key="amazon:anthropic",
        dialect="anthropic_messages",
        base_url_env=("AWS_ENDPOINT_URL_BEDROCK_RUNTIME",),
        api_key_env=_KEY,
        auth=AwsAuth(),
        settings=(_REGION,),
        place=_runtime,
        path="/model/{model}/invoke",
        stream_path="/model/{model}/invoke-with-response-stream",
        framing="aws_chunks",
        body={"anthropic_version": "bedrock-2023-05-31"},
        quirks={
            "api_version": None,
            "model_in_body": False,
            "stream_in_body": False,
            "image_urls": False,
        },
        per_model=_CLAUDE_ON_BEDROCK,
        model_id=bedrock_model_id,
        tier="verified",
        docs_url="https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html",
    ),
    Endpoint(
        key="amazon:messages",
        dialect="anthropic_messages",
        api_key_env=_KEY,
        auth=AwsAuth(),
        settings=(_REGION, Setting("api_version", default="2026-10-21")),
        place=_messages,
        quirks={"image_urls": False},
        per_model=_CLAUDE_ON_BEDROCK,
        model_id=bedrock_model_id,
        replay_key="amazon:anthropic",
        docs_url="https://docs.aws.amazon.com/bedrock/latest/userguide/inference-messages-api.html",
    ),
    Endpoint(
        key="amazon:mantle",
        dialect="anthropic_messages",
        base_url_env=("ANTHROPIC_BEDROCK_MANTLE_BASE_URL",),
        api_key_env=_KEY,
        auth=AwsAuth(service="bedrock-mantle"),
        settings=(_REGION, Setting("api_version", default="2026-10-21")),
        place=_mantle,
        quirks={"image_urls": False},
        per_model=_CLAUDE_ON_BEDROCK,
        model_id=bedrock_model_id,
        replay_key="amazon:anthropic",
        docs_url="https://docs.aws.amazon.com/bedrock/latest/userguide/inference-messages-api.html",
    ),
)
