"""Ollama on this machine or another, and its cloud."""

from __future__ import annotations

from collections.abc import Mapping

from ..spec import Endpoint, KeyAuth, Place

_LOCAL = "http://localhost:11434"
_PORT = 11434
_ANYWHERE = ("", "0.0.0.0", "[::]")  # noqa: S104 - what a server listens on; nobody listens here


def _place(values: Mapping[str, str], _: str) -> Place:
    return Place(read_host(values.get("base_url") or _LOCAL))


def read_host(host: str) -> str:
    """A base URL out of `OLLAMA_HOST`, which may lack a scheme, a port or a host.

    As Ollama's own clients read it: the port is 11434 unless there is a scheme, and an address a
    server listens on everywhere means this machine.
    """
    host = host.strip()
    scheme, separator, rest = host.partition("://")
    if not separator:
        scheme, rest = "http", host
    address, slash, path = rest.partition("/")
    name, port = _split_port(address)
    if name in _ANYWHERE:
        name = "127.0.0.1"
    if port is None:
        port = "" if separator else f":{_PORT}"
    return f"{scheme}://{name}{port}{slash}{path}".rstrip("/")


def _split_port(address: str) -> tuple[str, str | None]:
    """Name and `:port`; an IPv6 address without brackets has no port."""
    if address.count(":") > 1 and not address.startswith("["):
        return f"[{address}]", None
    end = address.rfind("]")
    colon = address.rfind(":")
    return (address[:colon], address[colon:]) if colon > end else (address, None)


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        key="ollama",
        dialect="ollama",
        base_url=_LOCAL,
        base_url_env=("OLLAMA_HOST",),
        api_key_env=("OLLAMA_API_KEY",),
        auth=KeyAuth(optional=True),
        place=_place,
        per_model=(
            # https://docs.ollama.com/capabilities/thinking
            (r"(.*/)?gpt-oss.*", {"efforts": ("low", "medium", "high")}),
        ),
        tier="verified",
        docs_url="https://docs.ollama.com/api/chat",
    ),
)
