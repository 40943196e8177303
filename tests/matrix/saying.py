"""What a body says about functions and answers, read the same way from every wire."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

Body = dict[str, Any]


class Said(NamedTuple):
    """What a body says.

    Attributes:
        functions: the wire names that went out.
        choice: the choice among them, in the wire's words; None where there is none.
        strict: which of them the wire holds the model to.
        schema: the shape of a text answer, where a field of the wire says it.
    """

    functions: tuple[str, ...]
    choice: Any
    strict: tuple[str, ...]
    schema: Any


def _chat(body: Body) -> Said:
    tools = [tool["function"] for tool in body.get("tools", [])]
    form = body.get("response_format", {})
    return Said(
        functions=tuple(tool["name"] for tool in tools),
        choice=body.get("tool_choice"),
        strict=tuple(tool["name"] for tool in tools if tool.get("strict")),
        schema=form.get("json_schema", {}).get("schema"),
    )


def _responses(body: Body) -> Said:
    tools = body.get("tools", [])
    return Said(
        functions=tuple(tool["name"] for tool in tools),
        choice=body.get("tool_choice"),
        strict=tuple(tool["name"] for tool in tools if tool["strict"]),
        schema=body.get("text", {}).get("format", {}).get("schema"),
    )


def _claude(body: Body) -> Said:
    tools = body.get("tools", [])
    return Said(
        functions=tuple(tool["name"] for tool in tools),
        choice=body.get("tool_choice"),
        strict=tuple(tool["name"] for tool in tools if tool.get("strict")),
        schema=body.get("output_config", {}).get("format", {}).get("schema"),
    )


def _converse(body: Body) -> Said:
    config = body.get("toolConfig", {})
    tools = [tool["toolSpec"] for tool in config.get("tools", [])]
    form = body.get("outputConfig", {}).get("textFormat")
    schema = form and msgspec.json.decode(form["structure"]["jsonSchema"]["schema"])
    forbidden = body.get("additionalModelRequestFields", {}).get("tool_choice")
    return Said(
        functions=tuple(tool["name"] for tool in tools),
        choice=config.get("toolChoice", forbidden),
        strict=tuple(tool["name"] for tool in tools if tool.get("strict")),
        schema=schema,
    )


def _gemini(body: Body) -> Said:
    tools = [item for tool in body.get("tools", []) for item in tool["functionDeclarations"]]
    names = tuple(tool["name"] for tool in tools)
    choice = body.get("toolConfig", {}).get("functionCallingConfig")
    held = choice is not None and choice["mode"] in ("ANY", "VALIDATED")
    return Said(
        functions=names,
        choice=choice,
        strict=names if held else (),
        schema=body.get("generationConfig", {}).get("responseJsonSchema"),
    )


def _ollama(body: Body) -> Said:
    tools = [tool["function"] for tool in body.get("tools", [])]
    return Said(
        functions=tuple(tool["name"] for tool in tools),
        choice=None,
        strict=(),
        schema=body.get("format"),
    )


_READERS: dict[str, Callable[[Body], Said]] = {
    "openai_chat": _chat,
    "openai_responses": _responses,
    "anthropic_messages": _claude,
    "bedrock_converse": _converse,
    "gemini": _gemini,
    "ollama": _ollama,
}


def read(dialect: str, body: Body) -> Said:
    """What the body of a dialect says."""
    return _READERS[dialect](body)
