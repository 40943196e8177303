"""The records the layers hand to each other: dialect, endpoint, target, call, plan.

A *dialect* is a wire protocol: pure functions. An *endpoint* is a host that speaks one: data. A
*quirk* is a named flag by which an endpoint or a model departs from its dialect. Together with a
model they make a *target*, resolved once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from msgspec import Struct, field

from .content import JSON, Message, OutputResult, ResultWarning, StreamEvent

if TYPE_CHECKING:
    from .functions.choice import FunctionChoice
    from .functions.definitions import FunctionSet
    from .functions.output import OutputSchema, PreparedOutput
    from .functions.preparing import PreparedFunctions
    from .history import History

Body: TypeAlias = dict[str, JSON]
Support: TypeAlias = Literal["native", "emulated", "refused"]
Framing: TypeAlias = Literal["sse", "ndjson", "aws_events", "aws_chunks"]
"""How a stream is cut into frames; `aws_chunks` are AWS frames that hold base64 of an SSE event."""

QuirksT = TypeVar("QuirksT", bound="Quirks")


class Quirks(Struct, frozen=True, kw_only=True):
    """Base of a dialect's flags; each dialect module defines and documents its own."""


# ---------------------------------------------------------------- who and where


class Setting(Struct, frozen=True):
    """A value an endpoint needs to be found or opened: an option, else a variable, else a default.

    `secret` values never enter a repr, a pickle or a target.
    """

    name: str
    env: tuple[str, ...] = ()
    default: str | None = None
    required: bool = False
    secret: bool = False


class Place(Struct, frozen=True):
    """Where requests go: everything before the dialect's own path, and a constant query."""

    base_url: str
    query: str = ""


class NoAuth(Struct, frozen=True):
    """No key."""


class KeyAuth(Struct, frozen=True, rename="camel"):
    """The key, behind `prefix`, in `header` (and bare in each of `also`).

    `optional`: a local server that may or may not want a key. `token_header`: where an
    `access_token` (string or callable) goes, as a bearer token, instead of a key.
    """

    header: str = "authorization"
    prefix: str = "Bearer "
    also: tuple[str, ...] = ()
    optional: bool = False
    token_header: str | None = None


class GoogleAuth(Struct, frozen=True):
    """OAuth: an `access_token` given, else google-auth's default credentials (extra `vertex`)."""

    scopes: tuple[str, ...] = ("https://www.googleapis.com/auth/cloud-platform",)


class AwsAuth(Struct, frozen=True):
    """A bearer token (`api_key`) if there is one, else SigV4 by botocore (extra `bedrock`)."""

    service: str = "bedrock"


Auth: TypeAlias = NoAuth | KeyAuth | GoogleAuth | AwsAuth

QuirkValues: TypeAlias = Mapping[str, Any]


class Endpoint(Struct, frozen=True, kw_only=True, rename="camel"):
    """A host that speaks a dialect, as data. `f"{key}.{protocol}.v1"` is its protocol key.

    Attributes:
        key: what stands before the first dot of a model key, such as `openai`.
        protocol: the wire's short name within the key: `chat`, `responses`, `converse`.
        dialect: the dialect's key, such as `openai_chat`.
        base_url: everything before the dialect's own path, as the vendor's SDK takes it; None
            where `place` makes it or the caller must give it.
        base_url_env: environment variables that override it, first one set wins.
        api_key_env: environment variables of the key, first one set wins.
        auth: how the key travels.
        place: makes the base URL (and a query) from the settings' values and the model, where
            `base_url` alone cannot say it.
        settings: further values it needs (region, project, resource …).
        path, stream_path, framing: override the dialect's; `{model}` stands for the model.
        headers, body: sent with every request, under what the dialect builds.
        quirks: flags for the whole endpoint; per_model: (regular expression, flags) applied in
            order to models it fully matches.
        aliases: short model names to the real ones.
        picks: whether this record serves `key.model` when several share the key (options at
            hand); the first record under a key without `picks` is its default.
        model_id: makes the wire's model id from what stands behind the dot.
        replay_key: who may read back what this endpoint signs; the key itself if not given.
        launcher: `module:function`, an async function that starts the server and returns
            (base URL, key); resolved on the first send.
        tier: `verified` (recorded or run here) or `community`.
        docs_url: the vendor's page.
    """

    key: str
    protocol: str = "chat"
    dialect: str = "openai_chat"
    base_url: str | None = None
    base_url_env: tuple[str, ...] = ()
    api_key_env: tuple[str, ...] = ()
    auth: Auth = KeyAuth()
    place: Callable[[Mapping[str, str], str], Place] | None = None
    settings: tuple[Setting, ...] = ()
    path: str | None = None
    stream_path: str | None = None
    framing: Framing | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, JSON] = field(default_factory=dict)
    quirks: QuirkValues = field(default_factory=dict)
    per_model: tuple[tuple[str, QuirkValues], ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    picks: Callable[[str, Params], bool] | None = None
    model_id: Callable[[str], str] | None = None
    replay_key: str | None = None
    launcher: str | None = None
    tier: Literal["verified", "community"] = "community"
    docs_url: str | None = None


class Target(Struct, Generic[QuirksT], frozen=True, kw_only=True):
    """An endpoint, a model and the quirks that hold for the two: what requests are built for.

    `settings` are the endpoint's non-secret settings that were given as options.
    """

    endpoint: Endpoint
    dialect: Dialect[QuirksT]
    model: str
    quirks: QuirksT
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def replay_key(self) -> str:
        """The key in `provider_metadata` under which this target finds its own blocks."""
        return self.endpoint.replay_key or self.endpoint.key


# ---------------------------------------------------------------- one call


class Params(Struct, frozen=True, kw_only=True):
    """The parameters of a call; None is the provider's default."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    stop_sequences: tuple[str, ...] | None = None
    effort: str | None = None
    parallel_function_calls: bool | None = None
    seed: int | None = None

    def given(self) -> list[str]:
        """The names of those that are set."""
        return [name for name in self.__struct_fields__ if getattr(self, name) is not None]


class Call(Struct, frozen=True, kw_only=True):
    """What the caller asked, in neutral form; `messages` are mended (every call has its result).

    `history` is what is known of them from earlier calls, for whoever renders them.
    """

    messages: tuple[Message, ...]
    history: History | None = None
    functions: FunctionSet | None = None
    choice: FunctionChoice | None = None
    strict: bool = False
    output: OutputSchema | None = None
    params: Params = Params()
    extra_body: Mapping[str, JSON] | None = None
    stream: bool = False
    repair_arguments: bool = True
    warnings: tuple[ResultWarning, ...] = ()


class Plan(Struct, frozen=True, kw_only=True):
    """What decoding must know about the request it answers.

    `emulation` names what the answer stands in for: `function_call` means that the text is a JSON
    object `{"name", "arguments"}` that becomes a call.
    """

    target: Target[Any]
    call: Call
    functions: PreparedFunctions | None = None
    output: PreparedOutput | None = None
    emulation: Literal["function_call"] | None = None
    warnings: tuple[ResultWarning, ...] = ()


class Encoded(Struct, frozen=True, kw_only=True):
    """A request body (values may be `msgspec.Raw`), extra headers, and the plan for its answer.

    `path` is given where this request goes to another path than the target's others.
    """

    body: Body
    plan: Plan
    headers: Mapping[str, str] = field(default_factory=dict)
    path: str | None = None


class Frame(Struct, frozen=True):
    """One unit of a stream: the event's name where the framing has one, and its bytes.

    AWS exception frames have the event name `exception:<type>`.
    """

    event: str | None
    data: bytes


class StreamDecoder(Protocol):
    """Reads one stream: frames in, events out. No I/O.

    It assembles the wire's own whole answer and hands it to the dialect's one decoder, so that
    the streamed result equals the other.
    """

    @property
    def ended(self) -> bool:
        """Whether the last of the wire's marks has come: nothing after it counts."""

    def feed(self, frame: Frame) -> list[StreamEvent]:
        """Events of one frame, without `Finished`.

        Raises:
            ProviderError: the frame is an error of the provider's.
            StreamError: the frame is none of this wire.
        """

    def close(self) -> OutputResult:
        """The whole answer, once the bytes have ended.

        Raises:
            StreamError: the end mark has not come; `result` holds what has.
        """


class Later:
    """A function that is imported when it is first called.

    A program loads of a dialect what its calls need: who never streams, no stream decoder.
    """

    __slots__ = ("_found", "_module", "_name")

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name
        self._found: Callable[..., Any] | None = None

    def __call__(self, *args: Any) -> Any:
        """What the function returns."""
        if self._found is None:
            self._found = getattr(import_module(self._module), self._name)
        return self._found(*args)

    def __repr__(self) -> str:
        return f"{self._module}.{self._name}"


class Dialect(Struct, Generic[QuirksT], frozen=True, kw_only=True):
    """A wire protocol.

    `encode` may raise `ConfigurationError`; `decode` takes the body and the headers (lower-case
    names) of a 2xx answer and raises `ResponseDecodeError` or `ProviderError`; `support` says how
    each option is served for a target (see `SUPPORT_OPTIONS`).
    """

    key: str
    path: str
    stream_path: str
    framing: Framing
    quirks: type[QuirksT]
    encode: Callable[[Target[Any], Call], Encoded]
    decode: Callable[[Plan, bytes, Mapping[str, str]], OutputResult]
    open_stream: Callable[[Plan, Mapping[str, str]], StreamDecoder]
    support: Callable[[Target[Any]], dict[str, Support]]


SUPPORT_OPTIONS: tuple[str, ...] = (
    "auto",
    "none",
    "any",
    "named",
    "subset",
    "strict",
    "json_schema",
    "parallel_off",
    "image",
    "effort",
    "seed",
)
