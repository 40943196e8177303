"""The engine's work for one request: prompts in, text out, tokens counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import msgspec
from msgspec import Struct

from .client import Client
from .conversation import Turn
from .loopback import Address, Exchange, Refused
from .refusing import ApiError


class Prompt(Struct, frozen=True, kw_only=True):
    """One run of the model: at most `limit` tokens, as JSON of `schema` if there is one."""

    turns: Sequence[Turn]
    limit: int
    schema: dict[str, Any] | None = None
    options: dict[str, Any] = {}


class _PromptDetails(Struct, frozen=True):
    cached_tokens: int = 0


class Usage(Struct, frozen=True):
    """Tokens, as the engine counts them and as OpenAI spells them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    prompt_tokens_details: _PromptDetails = _PromptDetails()

    def __add__(self, other: Usage) -> Usage:
        cached = (
            self.prompt_tokens_details.cached_tokens + other.prompt_tokens_details.cached_tokens
        )
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.total_tokens + other.total_tokens,
            _PromptDetails(cached),
        )


class _Delta(Struct, frozen=True):
    content: str | None = None


class _Choice(Struct, frozen=True):
    delta: _Delta
    finish_reason: Literal["stop", "length"] | None = None


class _Fault(Struct, frozen=True):
    message: str = "the engine failed"
    type: str = ""


class _Chunk(Struct, frozen=True):
    choices: list[_Choice] = []
    usage: Usage | None = None
    error: _Fault | None = None


_CHUNK = msgspec.json.Decoder(_Chunk)


class Completion:
    """Iterate its text once; then `finish_reason` and `usage` are there."""

    def __init__(self, events: Iterator[bytes]) -> None:
        self._events = events
        self.finish_reason: Literal["stop", "length"] = "stop"
        self.usage: Usage = Usage()

    def __iter__(self) -> Iterator[str]:
        for payload in self._events:
            if payload.strip() == b"[DONE]":
                return
            chunk = _CHUNK.decode(payload)
            if chunk.error is not None:
                raise _refusal(chunk.error, 500)
            self.usage = chunk.usage or self.usage
            for choice in chunk.choices:
                self.finish_reason = choice.finish_reason or self.finish_reason
                if choice.delta.content:
                    yield choice.delta.content
        raise ApiError("The local model broke off.", status=500)


class Session:
    """All runs of the model for one request of one client; `usage` is their sum."""

    def __init__(self, address: Address, client: Client) -> None:
        self._address = address
        self._client = client
        self.usage: Usage = Usage()

    @contextmanager
    def complete(self, prompt: Prompt) -> Iterator[Completion]:
        """Run the model; leaving the block stops it.

        Raises:
            ApiError: the prompt is too long, or the grammar cannot express the schema.
            ClientGone: the client left.
        """
        exchange = Exchange(self._address, _body(prompt), self._client)
        completion = Completion(exchange.events())
        try:
            yield completion
        except Refused as refused:
            raise _read_refusal(refused) from None
        except ConnectionError as error:
            raise ApiError("The local model broke off.", status=500) from error
        finally:
            exchange.close()
            self.usage += completion.usage


def _body(prompt: Prompt) -> bytes:
    body: dict[str, Any] = {
        "messages": prompt.turns,
        "max_tokens": prompt.limit,
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0,
        "seed": 1,
        **prompt.options,
    }
    if prompt.schema is not None:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": prompt.schema},
        }
    return msgspec.json.encode(body)


class _Refusal(Struct, frozen=True):
    error: _Fault = _Fault()


def _read_refusal(refused: Refused) -> ApiError:
    try:
        fault = msgspec.json.decode(refused.body, type=_Refusal).error
    except msgspec.DecodeError:
        fault = _Fault()
    return _refusal(fault, refused.status)


def _refusal(fault: _Fault, status: int) -> ApiError:
    """What an error of the engine's means to the client."""
    if fault.type == "exceed_context_size_error":
        return ApiError(
            f"The messages are too long for the local model: {fault.message}.",
            code="context_length_exceeded",
            param="messages",
        )
    if status == 400:
        return ApiError(
            f"The local model's grammar cannot express the schema: {fault.message}. Make the "
            "schema simpler.",
            code="schema_not_supported",
        )
    return ApiError(f"The local model failed: {fault.message}.", status=500)
