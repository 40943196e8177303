"""A model over a scripted wire, read through the public interface."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass, field
from typing import Any

from llm_tools import ScriptedTransport, use_llm
from llm_tools.content import Finished, FunctionUseDone, OutputResult, StreamEvent
from llm_tools.errors import LlmToolsError
from llm_tools.testing.scripted_transport import ScriptedResponse

CUTS = (0, 1, 7, 64)
"""How long the pieces of a body are; 0 is the whole at once."""


def every_cut(test: Any) -> Any:
    """Run an async test once with each `size` of the pieces a body comes in."""

    @functools.wraps(test)
    async def run(*args: Any, **kwargs: Any) -> None:
        for size in CUTS:
            await test(*args, size=size, **kwargs)

    signature = inspect.signature(test)
    rest = [one for name, one in signature.parameters.items() if name != "size"]
    run.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
    return run


AWS = {"region": "us-east-1"}
KEYS: dict[str, dict[str, Any]] = {
    "chat": {"key": "openai.chat.v1", "model": "gpt-4o-mini"},
    "responses": {"key": "openai.responses.v1", "model": "gpt-5.6"},
    "anthropic": {"key": "anthropic.claude-haiku-4-5"},
    "converse": {"key": "amazon.converse.v1", "model": "anthropic.claude-haiku-4-5", **AWS},
    "gemini": {"key": "google.gemini-3-flash"},
    "ollama": {"key": "ollama.qwen3"},
}


@dataclass
class Heard:
    """What a stream told: its events, and its result or its error."""

    events: list[StreamEvent] = field(default_factory=list)
    result: OutputResult | None = None
    error: LlmToolsError | None = None

    @property
    def done(self) -> list[Any]:
        """The calls that might run, in the order they might."""
        return [event.function_use for event in self.events if isinstance(event, FunctionUseDone)]


def in_pieces(data: bytes, size: int) -> list[bytes]:
    """The bytes as the network may bring them."""
    return [data[i : i + size] for i in range(0, len(data), size)] if size else [data]


def model(wire: str, data: bytes, size: int = 0, *, content_type: str | None = None) -> Any:
    """A model whose provider answers every request with these bytes."""
    headers = {} if content_type is None else {"content-type": content_type}
    options = {"api_key": "k", **KEYS[wire]}

    def answer(_: Any) -> ScriptedResponse:
        return ScriptedResponse(headers=headers, chunks=in_pieces(data, size))

    return use_llm(options.pop("key"), transport=ScriptedTransport(answer), **options)


async def hear(llm: Any, **options: Any) -> Heard:
    """Read a stream to its end, or to its error."""
    heard = Heard()
    try:
        async with llm.stream("Hi", **options) as events:
            async for event in events:
                heard.events.append(event)
            heard.result = events.result
    except LlmToolsError as error:
        heard.error = error
    if heard.result is not None:
        assert heard.events[-1] == Finished(result=heard.result)
    return heard


def content(result: OutputResult) -> list[dict[str, Any]]:
    """Text and calls of a result as plain data."""
    found: list[dict[str, Any]] = []
    calls = iter(result.function_calls)
    for item in result.content:
        match type(item).__name__:
            case "OutputResultText":
                found.append({"type": "text", "text": item.text})  # type: ignore[union-attr]
            case "OutputResultFunctionUse":
                call = next(calls)
                told = {"name": call.name, "input": call.input, "functionId": call.function_id}
                found.append({"type": "function_use", **told})
    return found
