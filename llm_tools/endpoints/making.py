"""A host that speaks Chat Completions, in one line."""

from __future__ import annotations

from typing import Any

from ..errors import ConfigurationError
from ..spec import Endpoint, KeyAuth


def create_openai_compatible_endpoint(
    *,
    key: str,
    base_url: str,
    api_key_env: str | tuple[str, ...] | None = None,
    **fields: Any,
) -> Endpoint:
    """The record of an OpenAI-compatible host, for `register_endpoint`.

    Args:
        key: what stands before the first dot of a model key.
        base_url: everything before `/chat/completions`.
        api_key_env: the environment variable of its key, or several, first one set wins; None
            for a server that needs no key (one given as `api_key=` is sent all the same).
        **fields: further fields of `Endpoint`, such as `quirks` or `headers`.

    Raises:
        ConfigurationError: `Endpoint` has no such field.
    """
    unknown = sorted(set(fields) - set(Endpoint.__struct_fields__))
    if unknown:
        raise ConfigurationError(
            f"An endpoint has no {', '.join(unknown)}; it has "
            f"{', '.join(Endpoint.__struct_fields__)}."
        )
    if isinstance(api_key_env, str):
        api_key_env = (api_key_env,)
    fields.setdefault("auth", KeyAuth(optional=api_key_env is None))
    return Endpoint(key=key, base_url=base_url, api_key_env=api_key_env or (), **fields)
