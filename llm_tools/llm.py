"""`use_llm`: a model behind one `await`, whatever the provider.

One call is encode, send, decode: the first and the last are pure and belong to the dialect, the
middle is the transport's.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack, overload

import msgspec
from msgspec import Struct

from .content import JSON, OutputResult, ResultWarning
from .errors import ConfigurationError
from .given import check_switch
from .later import later
from .options import LlmOptions, Options, check_where, hide_keys, merge_options
from .registry import resolve
from .spec import Target
from .transport import SharedTransport

if TYPE_CHECKING:
    from .asking import Asker
    from .event_stream import EventStream
    from .fallbacks import FallbackLlm
    from .functions.choice import FunctionCall
    from .history import Messages
    from .model import Functions
else:
    EventStream = later("event_stream", "EventStream")
    FallbackLlm = later("fallbacks", "FallbackLlm")
    FunctionCall = later("functions.choice", "FunctionCall")
    Messages = later("history", "Messages")
    Functions = later("model", "Functions")


class Request(Struct, frozen=True, kw_only=True):
    """What a call would send; secrets in `headers` are masked."""

    method: str
    url: str
    headers: dict[str, str]
    body: dict[str, JSON]
    warnings: tuple[ResultWarning, ...] = ()


@overload
def use_llm(key: str, *, model: str | None = None, **options: Unpack[LlmOptions]) -> Llm: ...


@overload
def use_llm(key: list[str] | tuple[str, ...], **options: Unpack[LlmOptions]) -> FallbackLlm: ...


def use_llm(
    key: str | list[str] | tuple[str, ...],
    *,
    model: str | None = None,
    **options: Unpack[LlmOptions],
) -> Llm | FallbackLlm:
    """A model, by `"<endpoint>.<model>"` or `"<endpoint>.<protocol>.v1"` plus `model`.

    Nothing is read, opened or sent before the first call. Keys come from `api_key=` (a string, or
    a function that returns one) or the endpoint's environment variable at call time.

    A list of keys makes one model of several, see `fallback`.

    Raises:
        ConfigurationError: an unknown endpoint or option, no model, or two.
    """
    options = hide_keys(options)
    if isinstance(key, list | tuple):
        if model is not None:
            raise ConfigurationError(f"A list names its models itself: leave model={model!r} out.")
        from .fallbacks import fallback

        return fallback(*[use_llm(one, **options) for one in key])
    return Llm(key, model, merge_options(Options(), options))


class Llm:
    """A model at an endpoint. Immutable, and safe under any number of concurrent calls and loops.

    `async with llm:` gives it connections of its own, in this loop, until the block ends.
    """

    __slots__ = ("_asker", "_key", "_model", "_options", "_target", "_transport")

    def __init__(
        self,
        key: str,
        model: str | None,
        options: Options,
        *,
        transport: SharedTransport | None = None,
    ) -> None:
        target = resolve(key, model=model, params=options.params, settings=options.settings)
        check_where(options, target.endpoint)
        self._key = key
        self._model = model
        self._options = options
        self._target = target
        self._transport = transport or SharedTransport(options.wire)
        self._asker: Asker | None = None

    @property
    def target(self) -> Target[Any]:
        """The endpoint, model and quirks that requests are built for."""
        return self._target

    @property
    def options(self) -> Options:
        """The options in force; secrets in it show as `***`."""
        return self._options

    def with_options(self, **changes: Unpack[LlmOptions]) -> Llm:
        """The same model under changed options; connections and caches are shared.

        Raises:
            ConfigurationError: an unknown option or an impossible value.
        """
        changes = hide_keys(changes)
        options = merge_options(self._options, changes)
        shared = self._transport if options.wire == self._options.wire else None
        return Llm(self._key, self._model, options, transport=shared)

    async def call(
        self,
        messages: Messages,
        *,
        functions: Functions | None = None,
        function_call: FunctionCall = None,
        function_call_strict_input: bool = False,
        json_schema: Any = None,
    ) -> OutputResult:
        """One request, one answer.

        Args:
            messages: a string, `Message`s, a dialogue, or dicts in the same JSON form.
            functions: what the model may call: dicts, `FunctionDefinition`s, callables. One whose
                visibility handler hides it for an empty input is not sent.
            function_call: `auto`, `none`, `any`, a name, `{"name": …}` or
                `{"names": […], "mode": …}`.
            function_call_strict_input: hold the model to the functions' schemas.
            json_schema: the shape of a text answer: a schema, or a Struct, dataclass or TypedDict.

        Raises:
            ConfigurationError: the options do not fit each other or the endpoint; nothing is sent.
            ProviderError: the provider said no.
            TransportError: no answer came.
            ResponseDecodeError: what came is no answer.
            UnmetFunctionCallError: a forced call did not come.
            ParserError: the text does not fit `json_schema`.
        """
        asker = self._ask()
        encoded = asker.encode(
            messages,
            functions,
            function_call,
            function_call_strict_input,
            json_schema,
            stream=False,
        )
        plan, request = encoded.plan, asker.write(encoded, stream=False)
        del encoded  # its body is in the request's bytes: one is enough while the answer takes time
        return asker.read(plan, await self._transport.get().send(request))

    def stream(
        self,
        messages: Messages,
        *,
        functions: Functions | None = None,
        function_call: FunctionCall = None,
        function_call_strict_input: bool = False,
        json_schema: Any = None,
    ) -> EventStream:
        """One request, its answer as events: `async with llm.stream(…) as events`.

        Takes and raises what `call` does; see `EventStream` for when.
        """
        asker = self._ask()
        encoded = asker.encode(
            messages,
            functions,
            function_call,
            function_call_strict_input,
            json_schema,
            stream=True,
        )
        from .event_stream import EventStream

        request = asker.write(encoded, stream=True)
        return EventStream(self._transport.get(), request, encoded.plan)

    def build_request(
        self,
        messages: Messages,
        *,
        functions: Functions | None = None,
        function_call: FunctionCall = None,
        function_call_strict_input: bool = False,
        json_schema: Any = None,
        stream: bool = False,
    ) -> Request:
        """What `call` (or `stream`) would send, without sending: no I/O, no key needed.

        Raises:
            ConfigurationError: as `call` would.
        """
        check_switch("stream", stream)
        asker = self._ask()
        encoded = asker.encode(
            messages,
            functions,
            function_call,
            function_call_strict_input,
            json_schema,
            stream=stream,
        )
        outgoing = asker.write(encoded, stream=stream)
        location = self._transport.get().locate(outgoing)
        return Request(
            method="POST",
            url=location.url,
            headers=dict(location.headers),
            body=msgspec.json.decode(outgoing.body),
            warnings=encoded.plan.warnings,
        )

    async def __aenter__(self) -> Self:
        await self._transport.get().__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._transport.get().__aexit__(exc_type, exc, traceback)

    async def aclose(self) -> None:
        """Close the connections `async with` opened for this model; a later call opens again."""
        await self._transport.get().aclose()

    def __repr__(self) -> str:
        target = getattr(self, "_target", None)  # a crash reporter may look at one half made
        return f"<Llm {target.endpoint.key}.{target.model}>" if target else "<Llm>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Llm, (self._key, self._model, self._options))

    def _ask(self) -> Asker:
        """What encodes this model's requests; made, and its room loaded, with the first of them."""
        asker = self._asker
        if asker is None:
            from .asking import Asker

            asker = self._asker = Asker(self._target, self._options)
        return asker
