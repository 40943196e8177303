"""Every error of the library, by who must act.

LlmToolsError
├── ConfigurationError              the caller: change the options
│   └── UnsupportedOptionError      the caller: this endpoint or model refuses the option
├── PromptError                     the caller: a template and its values do not fit
├── ParserError                     the model's text does not fit the parser or the schema
├── RefusalError                    the model declined
├── RunLimitError                   a limit of `run` was reached
├── FunctionInputError              the model's input does not fit the function
├── UnknownFunctionError            the model named a function that was not offered
├── FunctionTimeoutError            a function took longer than it may
├── FunctionNotApprovedError        `approve` said no
├── UnmetFunctionCallError          a forced call did not come
├── TransportError                  the network
│   └── RequestTimeoutError
├── ResponseDecodeError             the provider: bytes that are no answer
├── StreamError                     the provider: a stream that broke off
└── ProviderError                   the provider: it said no
    ├── BadRequestError
    │   ├── ContextLengthError
    │   └── ContentFilterError
    ├── AuthenticationError
    ├── PermissionDeniedError
    ├── NotFoundError
    ├── RateLimitError
    ├── QuotaExceededError
    └── ServerError
        └── OverloadedError

Each has `retryable`, is picklable, and says in its message what to do next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .later import later

if TYPE_CHECKING:
    from .content import OutputResult, RunResult
else:
    OutputResult = later("content", "OutputResult")
    RunResult = later("content", "RunResult")

__all__ = [
    "AuthenticationError",
    "BadRequestError",
    "ConfigurationError",
    "ContentFilterError",
    "ContextLengthError",
    "FunctionInputError",
    "FunctionNotApprovedError",
    "FunctionTimeoutError",
    "LlmToolsError",
    "NotFoundError",
    "OverloadedError",
    "ParserError",
    "PermissionDeniedError",
    "PromptError",
    "ProviderError",
    "QuotaExceededError",
    "RateLimitError",
    "RefusalError",
    "RequestTimeoutError",
    "ResponseDecodeError",
    "RunLimitError",
    "ServerError",
    "StreamError",
    "TransportError",
    "UnknownFunctionError",
    "UnmetFunctionCallError",
    "UnsupportedOptionError",
]


def _rebuild(
    kind: type[LlmToolsError],
    message: str,
    state: dict[str, Any],
    notes: list[str],
    cause: BaseException | None = None,
) -> LlmToolsError:
    error = kind.__new__(kind)
    Exception.__init__(error, message)
    error.__dict__.update(state)
    for note in notes:
        error.add_note(note)
    error.__cause__ = cause
    return error


def _portable(cause: BaseException | None) -> BaseException | None:
    """A cause as another process can have it: itself, or what it says.

    Many exceptions of libraries are pickled, and fail to be made anew from that.
    """
    if cause is None:
        return None
    import pickle

    try:
        pickle.loads(pickle.dumps(cause))  # noqa: S301 - bytes of our own
    except Exception:  # noqa: BLE001 - whatever its parts raise
        return RuntimeError(f"{type(cause).__name__}: {cause}")
    return cause


class LlmToolsError(Exception):
    """The root: catch this to catch everything the library raises by itself.

    Attributes:
        retryable: whether the same call may succeed if it is made again.
        result: what was there when the error came (an `OutputResult`, or a `RunResult` out of
            `run`), or None.
    """

    retryable: bool = False
    result: OutputResult | RunResult | None = None

    def __init__(
        self,
        message: str,
        *,
        result: OutputResult | RunResult | None = None,
        retryable: bool | None = None,
    ) -> None:
        super().__init__(message)
        self.message: str = message
        if result is not None:
            self.result = result
        if retryable is not None:
            self.retryable = retryable

    def __reduce__(self) -> tuple[Any, ...]:
        state = dict(self.__dict__)
        notes = state.pop("__notes__", [])
        cause = _portable(self.__cause__)
        return (_rebuild, (type(self), str(self), state, list(notes), cause))


class ConfigurationError(LlmToolsError):
    """The options do not fit together; nothing was sent."""


class UnsupportedOptionError(ConfigurationError):
    """This endpoint or model refuses the option; nothing was sent, the message names a way out."""


class PromptError(LlmToolsError):
    """A template is broken, or a value it needs is missing."""


class ParserError(LlmToolsError):
    """Text that does not fit the parser or the JSON schema.

    Attributes:
        text: the whole text as it came.
    """

    def __init__(self, message: str, *, text: str = "", result: OutputResult | None = None) -> None:
        super().__init__(message, result=result)
        self.text: str = text


class RefusalError(LlmToolsError):
    """The model declined to answer; `result` holds what it said."""

    result: OutputResult | Any


class RunLimitError(LlmToolsError):
    """A limit of `run` was reached; `result` is the `RunResult` so far and can be continued."""

    result: RunResult | Any


class FunctionInputError(LlmToolsError):
    """Input that does not fit the function's parameters; the function did not run."""


class UnknownFunctionError(LlmToolsError):
    """A function that was not offered in this call; nothing ran."""


class FunctionTimeoutError(LlmToolsError):
    """A function took longer than its timeout."""


class FunctionNotApprovedError(LlmToolsError):
    """`approve` refused the call; the function did not run."""


class UnmetFunctionCallError(LlmToolsError):
    """A forced call did not come; `result` holds the answer that came instead."""

    result: OutputResult | Any
    retryable = True


class TransportError(LlmToolsError):
    """No usable answer came over the network.

    Attributes:
        endpoint: the endpoint's key, such as `openai`.
    """

    retryable = True

    def __init__(
        self, message: str, *, endpoint: str | None = None, retryable: bool | None = None
    ) -> None:
        super().__init__(message, retryable=retryable)
        self.endpoint: str | None = endpoint


class RequestTimeoutError(TransportError):
    """Time ran out. The provider may still be working on the request, and billing it."""


class ResponseDecodeError(LlmToolsError):
    """An answer that could not be read, or that holds nothing.

    Attributes:
        body: the start of the bytes as text (keys masked).
    """

    retryable = True

    def __init__(
        self,
        message: str,
        *,
        body: str | None = None,
        result: OutputResult | None = None,
        retryable: bool | None = None,
    ) -> None:
        super().__init__(message, result=result, retryable=retryable)
        self.body: str | None = body


class StreamError(LlmToolsError):
    """A stream that broke off, or was read before its end; `result` is what had come by then."""

    retryable = True


class ProviderError(LlmToolsError):
    """The provider answered with an error.

    Attributes:
        status: the HTTP status, or the code an error inside a 200 answer names.
        code: the provider's own word for it (`insufficient_quota`, `overloaded_error`), or None.
        request_id: the provider's id of the request, for its support.
        endpoint: the endpoint's key, such as `openai`.
        retry_after: seconds the provider asked to wait, or None.
        body: the answer's body, shortened, keys masked.
    """

    default_status: ClassVar[int] = 400

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str | None = None,
        request_id: str | None = None,
        endpoint: str | None = None,
        retry_after: float | None = None,
        body: str | None = None,
        result: OutputResult | None = None,
        retryable: bool | None = None,
    ) -> None:
        super().__init__(message, result=result, retryable=retryable)
        self.status: int = self.default_status if status is None else status
        self.code: str | None = code
        self.request_id: str | None = request_id
        self.endpoint: str | None = endpoint
        self.retry_after: float | None = retry_after
        self.body: str | None = body


class BadRequestError(ProviderError):
    """The request is wrong for this provider; sending it again cannot help."""


class ContextLengthError(BadRequestError):
    """The messages are too long for the model: shorten the history."""


class ContentFilterError(BadRequestError):
    """A filter of the provider blocked the prompt or the answer."""


class AuthenticationError(ProviderError):
    """The key is missing, wrong or expired."""

    default_status = 401


class PermissionDeniedError(ProviderError):
    """The key is known but may not do this."""

    default_status = 403


class NotFoundError(ProviderError):
    """No such model, deployment or address."""

    default_status = 404


class RateLimitError(ProviderError):
    """Too many requests or tokens for now: wait `retry_after` seconds."""

    default_status = 429
    retryable = True


class QuotaExceededError(ProviderError):
    """The account has no credit left; waiting does not help."""

    default_status = 429


class ServerError(ProviderError):
    """The provider failed on its side."""

    default_status = 500
    retryable = True


class OverloadedError(ServerError):
    """The provider is overloaded for now."""

    default_status = 529
