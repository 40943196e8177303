"""One function for a harness that measures clients side by side: `open_client`.

A harness gives its own workload in OpenAI's chat format and an address; it gets three coroutine
functions that make one logical request each. Nothing but the documented interface is used, with the
options as shipped.

    client = await open_client(base_url, messages, tools, model="gpt-4o-mini", api_key="…")
    [("function_use", name, input, function_id)] = await client.call()
    await client.aclose()

`python -c "import adapter; help(adapter.open_client)"` in this folder says what goes in and out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from llm_tools import (
    Message,
    OutputResult,
    OutputResultFunctionUse,
    create_callable_executor,
    dispatch,
    use_llm,
)

Content = list[tuple[Any, ...]]


async def open_client(
    base_url: str,
    messages: list[dict[str, Any]],
    tools: list[dict[str, Any]],
    *,
    model: str,
    api_key: str,
    local_tool: Callable[[str, dict[str, Any]], str] | None = None,
    transport: str = "httpx",
) -> Client:
    """A client that sends one workload again and again, on asyncio or trio.

    Args:
        base_url: everything before `/chat/completions`.
        messages: the history, as OpenAI's chat messages; sent whole with every request.
        tools: as OpenAI's tools; sent with every request.
        model: the model's name.
        api_key: the key.
        local_tool: what every function does in `loop`: `(name, input) -> text`.
        transport: `httpx` or `fast`.

    Returns:
        A `Client`; any number of its coroutines may run at once.
    """
    return Client(base_url, messages, tools, model, api_key, local_tool, transport)


class Client:
    """What `open_client` returns."""

    def __init__(
        self,
        base_url: str,
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]],
        model: str,
        api_key: str,
        local_tool: Callable[[str, dict[str, Any]], str] | None,
        transport: str,
    ) -> None:
        self._llm = use_llm(
            "openai.chat.v1",
            model=model,
            base_url=base_url,
            api_key=api_key,
            transport=transport,
        )
        self._history = [read_chat_message(message, messages) for message in messages]
        self._functions = [_make_tool(item["function"], local_tool) for item in tools]

    async def call(self) -> Content:
        """One request: `[("function_use", name, input, function_id), …]` or `[("text", text)]`."""
        result = await self._llm.call(
            self._history, functions=self._functions, function_call="auto"
        )
        return _content(result)

    async def stream(self) -> Content:
        """One streamed request, every event read; returns what `call` does."""
        async with self._llm.stream(
            self._history, functions=self._functions, function_call="auto"
        ) as events:
            async for _ in events:
                pass
        return _content(events.result)

    async def loop(self) -> str:
        """A request, its calls run by `local_tool`, the results sent; until text, which it returns."""
        history = [*self._history]
        while True:
            result = await self._llm.call(history, functions=self._functions, function_call="auto")
            if not result.function_calls:
                return result.text
            history.append(Message(role="assistant", content=result.content))
            history += [
                Message(
                    role="function",
                    content=done.content,
                    name=done.name,
                    function_id=done.function_id,
                    is_error=done.is_error,
                )
                for done in await dispatch(result, self._functions)
            ]

    async def aclose(self) -> None:
        """Close what the client holds open for itself."""
        await self._llm.aclose()


def read_chat_message(message: dict[str, Any], history: list[dict[str, Any]]) -> Message:
    """One of OpenAI's chat messages as a `Message`."""
    content = message.get("content")
    match message["role"]:
        case "tool":
            function_id = message["tool_call_id"]
            return Message(
                role="function",
                content=content,
                name=_name_of(function_id, history),
                function_id=function_id,
            )
        case "assistant" if message.get("tool_calls"):
            return Message(
                role="assistant",
                content=tuple(
                    OutputResultFunctionUse(
                        name=call["function"]["name"],
                        input=msgspec.json.decode(call["function"]["arguments"]),
                        function_id=call["id"],
                    )
                    for call in message["tool_calls"]
                ),
            )
        case role:
            return Message(role=role, content=content)


def _name_of(function_id: str, history: list[dict[str, Any]]) -> str:
    calls = [call for message in history for call in message.get("tool_calls") or ()]
    return next(call["function"]["name"] for call in calls if call["id"] == function_id)


def _make_tool(function: dict[str, Any], local_tool: Any) -> Any:
    name = function["name"]

    async def run(given: dict[str, Any]) -> str:
        return local_tool(name, given)

    return create_callable_executor(
        name=name,
        description=function["description"],
        parameters=function["parameters"],
        handler=run,
    )


def _content(result: OutputResult) -> Content:
    return [
        ("function_use", item.name, item.input, item.function_id)
        if isinstance(item, OutputResultFunctionUse)
        else ("text", item.text)
        for item in result.content
    ]
