"""How hosts and models depart from OpenAI's Chat Completions, as named flags."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import field

from ...functions.subsets import JSON_SCHEMA, OPENAI_STRICT, SchemaSubset
from ...spec import Quirks


class ChatQuirks(Quirks, frozen=True, kw_only=True):
    """Flags of the `openai_chat` dialect; the defaults are a plain compatible host.

    Attributes:
        functions: whether function definitions are taken: `native`; `no_effort` (not beside an
            effort), `effort_none` (only beside effort `none`), `responses` (on the Responses
            wire alone), `refused`.
        functions_with_history: definitions must be sent where the history holds calls.
        choice: how a forced call is said: `object` (`required`, and an object for one name),
            `named` (an object, but no `required`), `string` (`required` alone), `absent`.
        forced: whether a forced call is taken: `native`, `without_thinking`, `refused`.
        allowed_tools: `tool_choice` can name a subset.
        parallel: `parallel_tool_calls` is taken.
        plain: what parameters may hold.
        strict: what parameters held to their schema may hold; None: input is validated here.
        strict_prefix: what stands before the path of strict requests.
        output: how `json_schema` is said: `json_schema`; `json_object` or `prompt`, with the
            schema in a system message.
        output_strict: what a schema may hold that the host holds its text to; None: not said.
        output_beside_functions: `response_format` can go with functions.
        reasons: the model reasons unless it is told not to.
        thinking: the request has a switch `thinking.type`.
        reasoning_required: while it thinks, the host wants the reasoning of each turn with calls.
        sampling: `temperature` and `top_p` beside reasoning: `native`, `ignored`, `refused`.
        effort: where the effort goes: `reasoning_effort`, `reasoning` (`reasoning.effort`),
            `template` (`chat_template_kwargs.reasoning_effort`).
        efforts: efforts the host has no word for, to the nearest it has.
        max_tokens: the name of that field.
        seed: the name of that field.
        refused: parameters that are not taken.
        system_role: `system` or `developer`.
        user_turn: a conversation must have a user message.
        late_system: a system message may follow an assistant turn or a result.
        prefix_mark: an assistant turn at the end, to be continued, says `prefix`.
        images: in user messages, as a `url` of any kind, `inline` (base64) or `refused`.
        result_images: results of functions may hold images.
        assistant_images: the images a model made may be sent back in its turn.
        result_names: results carry the function's name.
        ids: pattern of legal call ids.
        replays: the fields of the host's own turns it takes back.
        signatures: calls carry thought signatures; foreign ones need a stand-in.
        refusals: `refusal` is a field of an assistant turn.
        stream_usage: `stream_options` is taken.
    """

    functions: Literal["native", "no_effort", "effort_none", "responses", "refused"] = "native"
    functions_with_history: bool = False
    choice: Literal["object", "named", "string", "absent"] = "object"
    forced: Literal["native", "without_thinking", "refused"] = "native"
    allowed_tools: bool = False
    parallel: bool = True
    plain: SchemaSubset = JSON_SCHEMA
    strict: SchemaSubset | None = None
    strict_prefix: str = ""
    output: Literal["json_schema", "json_object", "prompt"] = "json_schema"
    output_strict: SchemaSubset | None = OPENAI_STRICT
    output_beside_functions: bool = True
    reasons: bool = False
    thinking: bool = False
    reasoning_required: bool = False
    sampling: Literal["native", "ignored", "refused"] = "native"
    effort: Literal["reasoning_effort", "reasoning", "template"] = "reasoning_effort"
    efforts: Mapping[str, str] = field(default_factory=dict)
    max_tokens: str = "max_tokens"
    seed: str = "seed"
    refused: tuple[str, ...] = ("top_k",)
    system_role: Literal["system", "developer"] = "system"
    user_turn: bool = False
    late_system: bool = True
    prefix_mark: bool = False
    images: Literal["url", "inline", "refused"] = "url"
    result_images: bool = False
    assistant_images: bool = False
    result_names: bool = False
    ids: str = r"\S{1,64}"
    replays: tuple[str, ...] = (
        "reasoning_content",
        "reasoning",
        "reasoning_details",
        "extra_content",
    )
    signatures: bool = False
    refusals: bool = False
    stream_usage: bool = True
