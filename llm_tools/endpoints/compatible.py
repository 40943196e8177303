"""Hosts that speak Chat Completions: one row each.

What a row does not say is as on a plain host (`dialects.openai_chat.quirks`).
"""

from __future__ import annotations

from collections.abc import Mapping

from ..functions.subsets import GEMINI_JSON_SCHEMA, JSON_SCHEMA, OLLAMA, OPENAI_STRICT
from ..spec import Endpoint, QuirkValues
from .making import create_openai_compatible_endpoint as host

_TOP_K: QuirkValues = {"refused": ()}
_THINKING: QuirkValues = {"thinking": True, "reasons": True}
_ALWAYS_THINKS: QuirkValues = {**_THINKING, "forced": "refused"}

_CLOUD = (
    host(
        key="together",
        base_url="https://api.together.xyz/v1",
        api_key_env="TOGETHER_API_KEY",
        quirks=_TOP_K,
        docs_url="https://docs.together.ai/reference/chat-completions",
    ),
    host(
        key="fireworks",
        base_url="https://api.fireworks.ai/inference/v1",
        api_key_env="FIREWORKS_API_KEY",
        quirks=_TOP_K,
        docs_url="https://docs.fireworks.ai/api-reference/post-chatcompletions",
    ),
    host(
        key="cerebras",
        base_url="https://api.cerebras.ai/v1",
        api_key_env="CEREBRAS_API_KEY",
        quirks={"parallel": False, "strict": OPENAI_STRICT, "max_tokens": "max_completion_tokens"},
        docs_url="https://inference-docs.cerebras.ai/api-reference/chat-completions",
    ),
    host(
        key="perplexity",
        base_url="https://api.perplexity.ai",
        api_key_env=("PERPLEXITY_API_KEY", "PPLX_API_KEY"),
        quirks={"functions": "refused", "parallel": False, "refused": ("seed",), "user_turn": True},
        docs_url="https://docs.perplexity.ai/api-reference/chat-completions-post",
    ),
    host(
        key="nvidia",
        base_url="https://integrate.api.nvidia.com/v1",
        api_key_env="NVIDIA_API_KEY",
        docs_url="https://docs.api.nvidia.com/nim/reference/llm-apis",
    ),
    host(
        key="huggingface",
        base_url="https://router.huggingface.co/v1",
        api_key_env=("HF_TOKEN", "HUGGINGFACE_API_KEY"),
        docs_url="https://huggingface.co/docs/inference-providers/tasks/chat-completion",
    ),
    host(
        key="github",
        base_url="https://models.github.ai/inference",
        api_key_env="GITHUB_TOKEN",
        docs_url="https://docs.github.com/rest/models/inference",
    ),
    host(
        key="sambanova",
        base_url="https://api.sambanova.ai/v1",
        api_key_env="SAMBANOVA_API_KEY",
        quirks=_TOP_K,
        docs_url="https://docs.sambanova.ai/docs/en/api-reference/chat-completion",
    ),
    host(
        key="moonshot",
        base_url="https://api.moonshot.ai/v1",
        api_key_env="MOONSHOT_API_KEY",
        # https://platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model
        quirks={
            **_THINKING,
            "forced": "without_thinking",
            "reasoning_required": True,
            "refused": ("top_k", "seed", "temperature", "top_p"),
            "max_tokens": "max_completion_tokens",
        },
        per_model=(
            (r"kimi-k3.*|kimi-k2\.7-code.*|kimi.*-thinking.*", _ALWAYS_THINKS),
            (
                r"moonshot-v1.*",
                {
                    "reasons": False,
                    "thinking": False,
                    "choice": "absent",
                    "refused": ("top_k", "seed", "effort"),
                },
            ),
        ),
        docs_url="https://platform.kimi.ai/docs/api/chat",
    ),
    host(
        key="zai",
        base_url="https://api.z.ai/api/paas/v4",
        api_key_env="ZAI_API_KEY",
        # The choice is always `auto`: https://docs.z.ai/api-reference/llm/chat-completion
        quirks={
            **_THINKING,
            "choice": "absent",
            "parallel": False,
            "output": "json_object",
            "user_turn": True,
        },
        docs_url="https://docs.z.ai/api-reference/llm/chat-completion",
    ),
    host(
        key="dashscope",
        base_url="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        api_key_env="DASHSCOPE_API_KEY",
        # https://www.alibabacloud.com/help/model-studio/qwen-function-calling: no `required`
        quirks={"choice": "named", "output": "json_object", "refused": ()},
        docs_url="https://www.alibabacloud.com/help/model-studio/use-qwen-by-calling-api",
    ),
    host(
        key="minimax",
        base_url="https://api.minimax.io/v1",
        api_key_env="MINIMAX_API_KEY",
        body={"reasoning_split": True},
        # https://platform.minimax.io/docs/api-reference/text-openai-api
        quirks={
            "choice": "absent",
            "parallel": False,
            "output": "prompt",
            "max_tokens": "max_completion_tokens",
            "refused": ("top_k", "seed", "effort"),
        },
        docs_url="https://platform.minimax.io/docs/api-reference/text-openai-api",
    ),
    host(
        key="cohere",
        base_url="https://api.cohere.ai/compatibility/v1",
        api_key_env=("COHERE_API_KEY", "CO_API_KEY"),
        # https://docs.cohere.com/docs/compatibility-api: `required` and `none`, no names
        quirks={"choice": "string", "parallel": False, "user_turn": True},
        docs_url="https://docs.cohere.com/docs/compatibility-api",
    ),
    host(
        key="google:openai",
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        api_key_env=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        quirks={
            "parallel": False,
            "plain": GEMINI_JSON_SCHEMA,
            "output_strict": None,
            "refused": ("top_k", "seed"),
            "user_turn": True,
            "replays": ("extra_content",),
        },
        per_model=((r"(?:.*/)?gemini-(?:[3-9]|\d\d).*", {"signatures": True}),),
        docs_url="https://ai.google.dev/gemini-api/docs/openai",
    ),
)

_OWN: Mapping[str, object] = {"user_turn": True, "output_strict": None}

_SELF_HOSTED = (
    host(
        key="llamacpp",
        base_url="http://127.0.0.1:8080/v1",
        base_url_env=("LLAMACPP_BASE_URL",),
        # A schema beside functions wins over them: ggml-org/llama.cpp, tools/server/README.md
        quirks={**_OWN, "output_beside_functions": False, "effort": "template", "refused": ()},
        docs_url="https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
    ),
    host(
        key="vllm",
        base_url="http://127.0.0.1:8000/v1",
        base_url_env=("VLLM_BASE_URL",),
        quirks={**_OWN, "strict": JSON_SCHEMA, "refused": ()},
        docs_url="https://docs.vllm.ai/en/latest/features/tool_calling.html",
    ),
    host(
        key="lmstudio",
        base_url="http://127.0.0.1:1234/v1",
        base_url_env=("LMSTUDIO_BASE_URL",),
        quirks={**_OWN, "choice": "string", "images": "inline", "refused": ("effort",)},
        docs_url="https://lmstudio.ai/docs/developer/openai-compat/tools",
    ),
    host(
        key="ollama:openai",
        base_url="http://127.0.0.1:11434/v1",
        # https://docs.ollama.com/api/openai-compatibility: no tool_choice, no image URLs
        quirks={
            **_OWN,
            "choice": "absent",
            "parallel": False,
            "plain": OLLAMA,
            "output_beside_functions": False,
            "images": "inline",
        },
        docs_url="https://docs.ollama.com/api/openai-compatibility",
    ),
    host(
        key="litellm",
        base_url="http://127.0.0.1:4000/v1",
        base_url_env=("LITELLM_BASE_URL",),
        api_key_env="LITELLM_API_KEY",
        quirks={"functions_with_history": True, "refused": ()},
        docs_url="https://docs.litellm.ai/docs/simple_proxy",
    ),
)

ENDPOINTS: tuple[Endpoint, ...] = _CLOUD + _SELF_HOSTED
