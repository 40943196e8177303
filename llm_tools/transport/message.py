"""What goes into a transport and what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from ..spec import Framing, Target


class OutgoingRequest(Struct, frozen=True, kw_only=True):
    """One encoded call.

    Attributes:
        target: the endpoint and model; its endpoint says where and with which key.
        options: the where-options the caller gave (`api_key`, `base_url`, `region` …); secrets
            are wrapped in `Secret`.
        path: the dialect's own path, filled in, with its query if it has one.
        headers: what the dialect adds to the endpoint's own headers.
        body: JSON.
        framing: how the answer's stream is cut; None for a whole answer.
    """

    target: Target[Any]
    options: Mapping[str, Any]
    path: str
    headers: Mapping[str, str]
    body: bytes
    framing: Framing | None = None

    def __repr__(self) -> str:
        target = self.target
        size = len(self.body)
        return f"<OutgoingRequest {target.endpoint.key}.{target.model} {self.path} {size} bytes>"


class HttpAnswer(Struct, frozen=True):
    """A whole 2xx answer; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Location(Struct, frozen=True, kw_only=True):
    """Where a request would go, and its headers with secrets masked."""

    url: str
    headers: Mapping[str, str]
