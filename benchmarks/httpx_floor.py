"""The floor: one `httpx.AsyncClient`, a request body built beforehand, the answer decoded typed.

It does the least a program can do with httpx for the same result: nothing is normalised, checked or
encoded per call, and what comes is read straight into structs.
"""

from __future__ import annotations

from typing import Any

import agent_work
import httpx
import msgspec
from msgspec import Struct

Content = list[tuple[Any, ...]]


class Function(Struct):
    name: str = ""
    arguments: str = ""


class Call(Struct):
    index: int = 0
    id: str = ""
    function: Function | None = None


class Message(Struct):
    content: str | None = None
    tool_calls: list[Call] | None = None


class Choice(Struct):
    message: Message | None = None
    delta: Message | None = None


class Completion(Struct):
    choices: list[Choice]


_decode = msgspec.json.Decoder(Completion).decode
_decode_any = msgspec.json.decode


class HttpxClient:
    """The floor's counterpart of `adapter.Client`, with the same three coroutine functions."""

    def __init__(
        self,
        base_url: str,
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]],
        *,
        idle: float = 5.0,
    ) -> None:
        self._url = f"{base_url}/chat/completions"
        self._parts = {"model": agent_work.MODEL, "tools": tools, "tool_choice": "auto"}
        self._messages = messages
        self._body = msgspec.json.encode({**self._parts, "messages": messages})
        self._streamed = msgspec.json.encode({**self._parts, "messages": messages, "stream": True})
        self._client = httpx.AsyncClient(
            headers={
                "authorization": f"Bearer {agent_work.KEY}",
                "content-type": "application/json",
            },
            timeout=600,
            limits=httpx.Limits(
                max_connections=None, max_keepalive_connections=None, keepalive_expiry=idle
            ),
        )

    async def call(self) -> Content:
        """One request, its body prebuilt."""
        return _content(await self._post(self._body))

    async def stream(self) -> Content:
        """One streamed request, each event decoded."""
        calls: dict[int, tuple[str, str, list[str]]] = {}
        rest = b""
        async with self._client.stream("POST", self._url, content=self._streamed) as response:
            async for data in response.aiter_bytes():
                *events, rest = (rest + data).split(b"\n\n")
                for event in events:
                    _apply(event, calls)
        return [
            ("function_use", name, _decode_any("".join(parts)), call_id)
            for name, call_id, parts in calls.values()
        ]

    async def loop(self) -> str:
        """Two requests, the second with the result of the first's call; both bodies encoded."""
        messages = [*self._messages]
        while True:
            body = msgspec.json.encode({**self._parts, "messages": messages})
            message = await self._post(body)
            if not message.tool_calls:
                return message.content or ""
            messages.append(
                {"role": "assistant", "content": None, "tool_calls": _spelled(message.tool_calls)}
            )
            for call in message.tool_calls:
                content = agent_work.local_tool(
                    call.function.name, _decode_any(call.function.arguments)
                )
                messages.append({"role": "tool", "tool_call_id": call.id, "content": content})

    async def two_calls(self) -> str:
        """Two prebuilt requests: what a loop is held against."""
        await self.call()
        await self.call()
        return agent_work.TEXT

    async def aclose(self) -> None:
        """Close its connections."""
        await self._client.aclose()

    async def _post(self, body: bytes) -> Message:
        response = await self._client.post(self._url, content=body)
        assert response.status_code == 200
        message = _decode(response.content).choices[0].message
        assert message is not None
        return message


def _content(message: Message) -> Content:
    if not message.tool_calls:
        return [("text", message.content)]
    return [
        ("function_use", call.function.name, _decode_any(call.function.arguments), call.id)
        for call in message.tool_calls
        if call.function is not None
    ]


def _spelled(calls: list[Call]) -> list[dict[str, Any]]:
    return [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.function.name, "arguments": call.function.arguments},
        }
        for call in calls
        if call.function is not None
    ]


def _apply(event: bytes, calls: dict[int, tuple[str, str, list[str]]]) -> None:
    data = event.removeprefix(b"data: ")
    if data == b"[DONE]":
        return
    for choice in _decode(data).choices:
        for piece in (choice.delta and choice.delta.tool_calls) or ():
            function = piece.function or Function()
            if piece.index not in calls:
                calls[piece.index] = (function.name, piece.id, [])
            calls[piece.index][2].append(function.arguments)
