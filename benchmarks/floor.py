"""What both floors share: bodies built beforehand, and answers read straight into structs.

A floor does the least a program can do for the same result: nothing is normalised or checked, and
only what is asked for by name is encoded per call. `httpx_floor` and `socket_floor` send.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator
from typing import Any, Self

import agent_work
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


class Floor:
    """A floor's counterpart of `adapter.Client`, with the same three coroutine functions."""

    def __init__(
        self, base_url: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]]
    ) -> None:
        self._parts = {"model": agent_work.MODEL, "tools": tools, "tool_choice": "auto"}
        self._messages = messages
        self._body = self._encode(messages)
        self._streamed = self._encode(messages, stream=True)
        self._aim_at(base_url)

    @property
    def body_size(self) -> int:
        """How many bytes one request's body has."""
        return len(self._body)

    def towards(self, base_url: str) -> Self:
        """The same client, over the same connections, for another address of the same host."""
        other = copy.copy(self)
        other._aim_at(base_url)  # noqa: SLF001 - its own
        return other

    async def call(self) -> Content:
        """One request, its body prebuilt."""
        return _content(await self._ask(self._body))

    async def call_encoding(self) -> Content:
        """One request, its body encoded first."""
        return _content(await self._ask(self._encode(self._messages)))

    async def stream(self) -> Content:
        """One streamed request, each event decoded."""
        calls: dict[int, tuple[str, str, list[str]]] = {}
        rest = b""
        async for data in self._receive(self._streamed):
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
            message = await self._ask(self._encode(messages))
            if not message.tool_calls:
                return message.content or ""
            messages.append(
                {"role": "assistant", "content": None, "tool_calls": _spelled(message.tool_calls)}
            )
            for name, given, call_id in [found[1:] for found in _content(message)]:
                content = agent_work.local_tool(name, given)
                messages.append({"role": "tool", "tool_call_id": call_id, "content": content})

    async def two_calls(self) -> str:
        """Two prebuilt requests: what a loop is held against."""
        await self.call()
        await self.call()
        return agent_work.TEXT

    async def aclose(self) -> None:
        """Close its connections."""
        raise NotImplementedError

    def _aim_at(self, base_url: str) -> None:
        raise NotImplementedError

    async def _post(self, body: bytes) -> bytes:
        """Send this, and the body of the answer."""
        raise NotImplementedError

    def _receive(self, body: bytes) -> AsyncIterator[bytes]:
        """Send this, and the body of the answer as it comes."""
        raise NotImplementedError

    def _encode(self, messages: list[dict[str, Any]], **more: Any) -> bytes:
        return msgspec.json.encode({**self._parts, "messages": messages, **more})

    async def _ask(self, body: bytes) -> Message:
        message = _decode(await self._post(body)).choices[0].message
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
