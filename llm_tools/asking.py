"""From what a caller asks to the bytes that ask it, and from the answer's bytes to its result.

`Llm` loads this with its first call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from .errors import ConfigurationError
from .functions.choice import read_function_call
from .functions.visibility import offer_functions
from .given import check_switch
from .history import keep_history, mend, read_again, read_history
from .reply import check_answer
from .spec import Call
from .transport import OutgoingRequest

if TYPE_CHECKING:
    from .content import JSON, OutputResult
    from .functions.choice import FunctionCall
    from .functions.output import OutputSchema
    from .history import Messages
    from .model import Functions
    from .options import Options
    from .spec import Encoded, Plan, Target
    from .transport import HttpAnswer

_UNSOUND = (TypeError, AttributeError, LookupError, ValueError, RecursionError)
"""What comes of messages that are not what their types say; structs are taken on trust first."""


class Asker:
    """What the calls of one model have in common; made with the first of them."""

    __slots__ = ("_framing", "_options", "_paths", "_target")

    def __init__(self, target: Target[Any], options: Options) -> None:
        self._target = target
        self._options = options
        self._framing = target.endpoint.framing or target.dialect.framing
        self._paths = (fill_path(target, stream=False), fill_path(target, stream=True))

    def encode(
        self,
        messages: Messages,
        functions: Functions | None,
        function_call: FunctionCall,
        strict: bool,
        json_schema: Any,
        *,
        stream: bool,
    ) -> Encoded:
        """The body of a request and the plan for its answer; arguments are those of `Llm.call`.

        Raises:
            ConfigurationError: they do not fit each other or the endpoint.
        """
        options = self._options
        offered = None if functions is None else offer_functions(functions)
        choice = read_function_call(function_call, offered.by_name if offered else ())
        output = None if json_schema is None else _read_output(json_schema)
        history = read_history(messages, strict=options.strict_history)
        call = Call(
            messages=history.messages,
            history=history,
            functions=offered,
            choice=choice,
            strict=check_switch("function_call_strict_input", strict),
            output=output,
            params=options.params,
            extra_body=options.extra_body,
            stream=stream,
            repair_arguments=options.repair_arguments,
            warnings=history.warnings,
        )
        target = self._target
        try:
            return target.dialect.encode(target, call)
        except _UNSOUND:
            mended, warnings = mend(read_again(history.messages), strict=options.strict_history)
            call = replace(call, messages=mended, history=None, warnings=warnings)
            return target.dialect.encode(target, call)

    def write(self, encoded: Encoded, *, stream: bool) -> OutgoingRequest:
        """The request as it goes to the transport; its conversation is remembered.

        Raises:
            ConfigurationError: something in it is no JSON value.
        """
        body = encode_body(encoded.body)
        history = encoded.plan.call.history
        if history is not None:
            keep_history(history, len(body))
        return OutgoingRequest(
            target=self._target,
            options=self._options.where,
            path=encoded.path or self._paths[stream],
            headers=encoded.headers,
            body=body,
            framing=self._framing if stream else None,
        )

    def read(self, plan: Plan, answer: HttpAnswer) -> OutputResult:
        """The result of a whole 2xx answer.

        Raises:
            ResponseDecodeError: it is no answer of this wire.
            ProviderError: it is an error in disguise.
            UnmetFunctionCallError, ParserError: it is not what was asked for.
        """
        result = self._target.dialect.decode(plan, answer.body, answer.headers)
        error = check_answer(plan, result)
        if error is not None:
            raise error
        return result


def encode_body(body: Mapping[str, JSON]) -> bytes:
    """The body's bytes. Lone surrogates, which no JSON text may hold, become U+FFFD.

    Raises:
        ConfigurationError: something in it is no JSON value.
    """
    try:
        # A copy of its size: the encoder's own bytes keep the half as much again they grew into.
        return bytes(memoryview(msgspec.json.encode(body)))
    except UnicodeEncodeError:
        return msgspec.json.encode(_without_surrogates(body))
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise ConfigurationError(f"The request holds something that is no JSON: {error}") from error


def fill_path(target: Target[Any], *, stream: bool) -> str:
    """The path of a call, or of a stream, with the model in it where it belongs there."""
    endpoint, dialect = target.endpoint, target.dialect
    path = endpoint.path or dialect.path
    if stream:
        path = endpoint.stream_path or endpoint.path or dialect.stream_path
    if "{model}" not in path:
        return path
    from urllib.parse import quote

    return path.replace("{model}", quote(target.model, safe=":@"))


def _read_output(json_schema: Any) -> OutputSchema:
    from .functions.output import normalize_output

    return normalize_output(json_schema)


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_without_surrogates(item) for item in value]
    return value
