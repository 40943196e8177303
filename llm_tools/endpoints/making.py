"""A host that speaks Chat Completions, in one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypedDict

from typing_extensions import Unpack

from ..errors import ConfigurationError
from ..spec import Auth, Endpoint, Framing, KeyAuth, Params, Place, QuirkValues, Setting


class EndpointFields(TypedDict, total=False):
    """The other fields of `Endpoint`, which says what they mean."""

    protocol: str
    dialect: str
    base_url_env: tuple[str, ...]
    auth: Auth
    place: Callable[[Mapping[str, str], str], Place] | None
    settings: tuple[Setting, ...]
    path: str | None
    stream_path: str | None
    framing: Framing | None
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    quirks: QuirkValues
    per_model: tuple[tuple[str, QuirkValues], ...]
    aliases: Mapping[str, str]
    picks: Callable[[str, Params], bool] | None
    model_id: Callable[[str], str] | None
    replay_key: str | None
    launcher: str | None
    tier: Literal["verified", "community"]
    docs_url: str | None


def create_openai_compatible_endpoint(
    *,
    key: str,
    base_url: str,
    api_key_env: str | tuple[str, ...] | None = None,
    **fields: Unpack[EndpointFields],
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
