"""What providers say when they fail becomes the one error class that fits."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from llm_tools.errors import (
    AuthenticationError,
    BadRequestError,
    ContentFilterError,
    ContextLengthError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    ProviderError,
    QuotaExceededError,
    RateLimitError,
    ServerError,
)
from llm_tools.faults import error_in_body, exception_frame, named_error, provider_error
from llm_tools.spec import Frame

Kind = type[ProviderError]


def openai(message: str = "no", **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


# status, headers, body, class, code, retryable, part of the message
ANSWERS: list[tuple[int, dict[str, str], Any, Kind, str | None, bool, str]] = [
    # OpenAI and its kin
    (400, {}, openai("bad", type="invalid_request_error", code=None), BadRequestError, "invalid_request_error", False, "bad"),
    (400, {}, openai(code="context_length_exceeded"), ContextLengthError, "context_length_exceeded", False, "Shorten"),
    (400, {}, openai("This model's maximum context length is 8192 tokens.", type="invalid_request_error"), ContextLengthError, "invalid_request_error", False, "8192"),
    (400, {}, openai(code="content_filter", innererror={"code": "ResponsibleAIPolicyViolation"}), ContentFilterError, "content_filter", False, "flagged"),
    (400, {}, openai("The response was filtered due to Azure's content management policy."), ContentFilterError, None, False, "policy"),
    (400, {}, openai(code="model_not_found"), NotFoundError, "model_not_found", False, "model's name"),
    (400, {}, openai("The requested model 'x' does not exist."), NotFoundError, None, False, "'x'"),
    (401, {}, openai("Incorrect API key provided", code="invalid_api_key"), AuthenticationError, "invalid_api_key", False, "Check the key"),
    (402, {}, openai("Insufficient Balance"), QuotaExceededError, None, False, "credit"),
    (403, {}, openai("You are not allowed to sample from this model"), PermissionDeniedError, None, False, "access"),
    (404, {}, openai(code="model_not_found"), NotFoundError, "model_not_found", False, "model_not_found"),
    (408, {}, openai(), ServerError, None, True, "again"),
    (409, {}, openai(), BadRequestError, None, True, "no"),
    (413, {}, b"", ContextLengthError, None, False, "Shorten"),
    (418, {}, b"", BadRequestError, None, False, "no reason"),
    (422, {}, openai(code="content_filter"), ContentFilterError, "content_filter", False, "flagged"),
    (424, {}, b"", ServerError, None, True, "again"),
    (425, {}, b"", BadRequestError, None, True, "425"),
    (429, {}, openai("Rate limit reached", type="requests", code="rate_limit_exceeded"), RateLimitError, "rate_limit_exceeded", True, "Wait"),
    (429, {}, openai(type="insufficient_quota", code="insufficient_quota"), QuotaExceededError, "insufficient_quota", False, "credit"),
    (429, {}, openai(type="insufficient_quota", code="billing_hard_limit_reached"), QuotaExceededError, "billing_hard_limit_reached", False, "credit"),
    (429, {}, openai("You exceeded your current quota, please check your plan"), QuotaExceededError, None, False, "credit"),
    (500, {}, b"", ServerError, None, True, "again"),
    (500, {}, openai("Overloaded"), ServerError, None, True, "Overloaded"),
    (503, {}, openai("The server is down"), ServerError, None, True, "down"),
    (503, {}, openai("That model is currently overloaded"), OverloadedError, None, True, "fall back"),
    (503, {}, openai(code="slow_down"), OverloadedError, "slow_down", True, "fall back"),
    # Anthropic
    (400, {}, {"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low"}}, QuotaExceededError, "invalid_request_error", False, "credit"),
    (400, {}, {"type": "error", "error": {"type": "invalid_request_error", "message": "x", "details": {"error_code": "tool_name_conflict"}}}, BadRequestError, "tool_name_conflict", False, "x"),
    (401, {}, {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}, AuthenticationError, "authentication_error", False, "x-api-key"),
    (413, {}, {"type": "error", "error": {"type": "request_too_large", "message": "big"}}, ContextLengthError, "request_too_large", False, "big"),
    (529, {}, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, OverloadedError, "overloaded_error", True, "Overloaded"),
    # AWS
    (400, {"x-amzn-errortype": "ValidationException:http://internal.amazon.com/x/"}, {"message": "Input is too long for requested model."}, ContextLengthError, "ValidationException", False, "too long"),
    (403, {"x-amzn-errortype": "ExpiredTokenException"}, {"message": "The security token included in the request is expired"}, AuthenticationError, "ExpiredTokenException", False, "expired"),
    (403, {"x-amzn-errortype": "AccessDeniedException:http://x/"}, {"message": "You don't have access to the model"}, PermissionDeniedError, "AccessDeniedException", False, "access"),
    (403, {}, {"Message": "Bearer Token has expired"}, AuthenticationError, None, False, "expired"),
    (424, {"x-amzn-errortype": "ModelErrorException"}, {"message": "It broke", "originalStatusCode": 500, "resourceName": "r"}, ServerError, "ModelErrorException", True, ": It broke"),
    (429, {}, {"__type": "com.amazon.coral#ThrottlingException", "message": "Too many tokens"}, RateLimitError, "ThrottlingException", True, "Too many"),
    (503, {"x-amzn-errortype": "ServiceUnavailableException"}, {"message": "Model is getting throttled."}, OverloadedError, "ServiceUnavailableException", True, "throttled"),
    # Google
    (400, {}, {"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}, AuthenticationError, "INVALID_ARGUMENT", False, "not valid"),
    (400, {}, [{"error": {"code": 400, "message": "The input token count (9) exceeds the maximum", "status": "INVALID_ARGUMENT"}}], ContextLengthError, "INVALID_ARGUMENT", False, "exceeds"),
    (404, {}, {"error": {"code": 404, "message": "gone", "status": "NOT_FOUND"}}, NotFoundError, "NOT_FOUND", False, "gone"),
    (429, {}, {"error": {"code": 429, "message": "You exceeded your current quota", "status": "RESOURCE_EXHAUSTED"}}, RateLimitError, "RESOURCE_EXHAUSTED", True, "quota"),
    (503, {}, {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}, OverloadedError, "UNAVAILABLE", True, "busy"),
    # others
    (400, {}, {"code": "invalid-argument", "error": "Incorrect API key provided."}, AuthenticationError, "invalid-argument", False, "Incorrect"),
    (400, {}, {"error": "json: cannot unmarshal string"}, BadRequestError, None, False, "unmarshal"),
    (401, {}, {"detail": "Invalid API Key"}, AuthenticationError, None, False, "Invalid"),
    (422, {}, {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs", "type": "extra"}]}, BadRequestError, None, False, "body.seed: Extra inputs"),
    (400, {}, {"object": "error", "message": "m", "type": "BadRequestError", "code": 400}, BadRequestError, "BadRequestError", False, ": m"),
    (404, {}, {"error": "model 'x' not found"}, NotFoundError, None, False, "'x'"),
    (400, {}, openai("no call", type="invalid_request_error", code="tool_use_failed", failed_generation="x"), BadRequestError, "tool_use_failed", False, "Ask again"),
    (400, {}, openai("Provider returned error", code=400, metadata={"provider_name": "P", "raw": '{"error":{"message":"prompt is too long","code":"string_above_max"}}'}), ContextLengthError, "400", False, "prompt is too long"),
    (502, {}, openai("Provider returned error", code=502, metadata={"raw": "upstream <b>gone</b>"}), ServerError, "502", True, "upstream gone"),
    (502, {}, openai("Provider returned error", code=502, metadata={"raw": {"errors": [{"message": "inner"}]}}), ServerError, "502", True, "inner"),
    (500, {}, {"success": False, "errors": [{"code": 1, "message": "AiError"}]}, ServerError, None, True, "AiError"),
    (400, {}, openai("a/b is not a valid model ID", code=400), NotFoundError, "400", False, "model's name"),
    (400, {}, openai("Invalid model name passed in model=x"), NotFoundError, None, False, "model's name"),
    (400, {}, openai("Model Not Exist", type="invalid_request_error"), NotFoundError, "invalid_request_error", False, "model's name"),
    (400, {}, {"code": "invalid", "error": "This model's maximum prompt length is 9 but the request contains 10 tokens."}, ContextLengthError, "invalid", False, "Shorten"),
    (422, {}, openai("`inputs` tokens + `max_new_tokens` must be <= 8193"), ContextLengthError, None, False, "Shorten"),
    (400, {}, openai("the input token count is 10 but model only supports up to 9"), ContextLengthError, None, False, "Shorten"),
    (400, {}, {"message": "too many total text bytes"}, ContextLengthError, None, False, "Shorten"),
    (400, {}, openai("Content Exists Risk"), ContentFilterError, None, False, "flagged"),
    (403, {}, openai('x requires moderation. Your input was flagged for "y". No credits were charged.', code=403), ContentFilterError, "403", False, "flagged"),
    (403, {}, openai("Your account was flagged"), PermissionDeniedError, None, False, "access"),
    (403, {}, openai("This violates the policy of your organization"), PermissionDeniedError, None, False, "access"),
    (403, {}, {"code": "denied", "error": "Your team doesn't have any credits or licenses yet."}, QuotaExceededError, "denied", False, "credit"),
    (403, {}, {"type": "error", "error": {"type": "billing_error", "message": "x"}}, QuotaExceededError, "billing_error", False, "credit"),
    (403, {}, {"error": {"code": 403, "message": "Your API key was reported as leaked.", "status": "PERMISSION_DENIED"}}, AuthenticationError, "PERMISSION_DENIED", False, "Check the key"),
    (429, {}, {"code": "exhausted", "error": "Your team has either used all available credits or reached its monthly spending limit."}, QuotaExceededError, "exhausted", False, "credit"),
    (400, {}, openai("You have reached your specified API usage limits."), QuotaExceededError, None, False, "credit"),
    (400, {}, openai(code="", message=None), BadRequestError, None, False, "null"),
    # no JSON
    (502, {}, b"<!DOCTYPE html><html><head><title>x | 502: Bad\n gateway</title></head></html>", ServerError, None, True, "x | 502: Bad gateway"),
    (503, {}, b"<html><body><p>No  luck</p></body></html>", ServerError, None, True, "No luck"),
    (500, {}, b"upstream connect error", ServerError, None, True, "upstream connect error"),
    (500, {}, b'"just a string"', ServerError, None, True, "just a string"),
    (500, {}, b"\xff\xfe\x00", ServerError, None, True, "\ufffd"),
    (500, {}, b"[" * 5000, ServerError, None, True, "[["),
    (529, {}, b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n', OverloadedError, "overloaded_error", True, "Overloaded"),
    (500, {}, {"unknown": "shape"}, ServerError, None, True, "unknown"),
    (500, {}, [], ServerError, None, True, "no reason"),
    # redirects
    (301, {"location": "https://other.example/v1?key=abc"}, b"", ProviderError, None, False, "other.example"),
    (308, {"location": "/elsewhere"}, b"", ProviderError, None, False, "same host"),
    (307, {"location": "http://[broken"}, b"", ProviderError, None, False, "redirects"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "headers", "body", "kind", "code", "retryable", "part"), ANSWERS
)
def test_answers_with_an_error_status(
    status: int,
    headers: dict[str, str],
    body: Any,
    kind: Kind,
    code: str | None,
    retryable: bool,
    part: str,
) -> None:
    """Status and body together name the class, the code, and what to do."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    error = provider_error("acme", status=status, body=data, headers=headers)
    assert type(error) is kind
    assert (error.status, error.code, error.retryable) == (status, code, retryable)
    assert part in str(error)
    assert str(error).startswith("acme answered ")
    assert len(str(error)) < 1000
    assert error.endpoint == "acme"
    assert error.body == data.decode("utf-8", "replace")[:1999] + (
        "…" if len(data) > 2000 else error.body[1999:]
    )


@pytest.mark.parametrize(
    ("headers", "details", "seconds"),
    [
        ({"retry-after-ms": "1500"}, None, 1.5),
        ({"retry-after-ms": "0", "retry-after": "1"}, None, 1.0),
        ({"retry-after-ms": "soon", "retry-after": "2.5"}, None, 2.5),
        ({"retry-after": "0"}, None, 0.0),
        ({"retry-after": "-3"}, None, None),
        ({"retry-after": "inf"}, None, None),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, None, 30.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:27:00 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, None, 0.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT"}, None, None),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, None, None),
        ({"retry-after": "tomorrow", "date": "now"}, None, None),
        ({}, [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}], 34.5),
        ({}, [{"@type": "x"}, {"retryDelay": {"seconds": 3}}], 3.0),
        ({}, [{"retryDelay": "soon"}], None),
        ({"retry-after": "7"}, [{"retryDelay": "34s"}], 7.0),
        ({}, "text", None),
    ],
)  # fmt: skip
def test_how_long_to_wait(headers: dict[str, str], details: Any, seconds: float | None) -> None:
    """Every way of asking for time is understood, and nonsense is not."""
    body = json.dumps(openai(code="x", details=details)).encode()
    error = provider_error("acme", status=429, body=body, headers=headers)
    assert error.retry_after == seconds


def test_a_rate_limit_names_its_seconds() -> None:
    """The message of a rate limit says how long to wait."""
    error = provider_error("acme", status=429, body=b"", headers={"retry-after": "3"})
    assert str(error).endswith("Wait 3 s, send less at a time, or share a create_limiter(…).")


@pytest.mark.parametrize(
    ("headers", "body", "request_id"),
    [
        ({"x-request-id": "a", "cf-ray": "b"}, {}, "a"),
        ({"request-id": "a"}, {}, "a"),
        ({"x-amzn-requestid": "a"}, {}, "a"),
        ({"apim-request-id": "a"}, {}, "a"),
        ({}, {"error": {"message": "x"}, "request_id": "req_1"}, "req_1"),
        ({}, {"error": "x", "request_id": "req_1"}, "req_1"),
        ({}, {"error": {"message": "x", "requestId": "r"}}, "r"),
        ({}, {"error": {"message": "x"}, "request_id": 5}, None),
    ],
)
def test_request_ids(headers: dict[str, str], body: Any, request_id: str | None) -> None:
    """The provider's id of the request is kept, from headers or body."""
    error = provider_error("acme", status=500, body=json.dumps(body).encode(), headers=headers)
    assert error.request_id == request_id


# body, class, status, code, retryable
CARRIED: list[tuple[Any, Kind, int, str | None, bool]] = [
    ({"error": {"message": "x", "code": 502}}, ServerError, 502, "502", True),
    ({"choices": None, "error": {"message": "x", "code": 429}}, RateLimitError, 429, "429", True),
    ({"error": {"message": "x", "code": "insufficient_quota"}}, QuotaExceededError, 429, "insufficient_quota", False),
    ({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}, OverloadedError, 529, "overloaded_error", True),
    ({"type": "error", "error": {"type": "invalid_request_error", "message": "x"}}, BadRequestError, 400, "invalid_request_error", False),
    ({"type": "error", "error": {"type": "api_error", "message": "x"}}, ServerError, 500, "api_error", True),
    ({"type": "error", "error": {"type": "timeout_error", "message": "x"}}, ServerError, 504, "timeout_error", True),
    ({"type": "error", "code": "rate_limit_exceeded", "message": "x", "param": None}, RateLimitError, 429, "rate_limit_exceeded", True),
    ({"type": "error", "code": "invalid_prompt", "message": "x"}, BadRequestError, 400, "invalid_prompt", False),
    ({"code": "Some words", "error": "text"}, ServerError, 500, "Some words", True),
    ({"error": "text"}, ServerError, 500, None, True),
    ({"error": ["text"]}, ServerError, 500, None, True),
    ({"error": {"message": "x", "code": "tool_use_failed", "status_code": 400}}, BadRequestError, 400, "tool_use_failed", False),
    ([{"error": {"code": 404, "message": "x", "status": "NOT_FOUND"}}], NotFoundError, 404, "NOT_FOUND", False),
    ([{}, {"error": {"message": "x", "status": "UNAVAILABLE"}}], OverloadedError, 503, "UNAVAILABLE", True),
    ({"detail": "Not allowed", "status": 403}, PermissionDeniedError, 403, "403", False),
    ({"message": "busy", "type": "engine_overloaded_error"}, OverloadedError, 529, "engine_overloaded_error", True),
    ({"errors": [{"message": "x"}], "success": False}, ServerError, 500, None, True),
    ({"error": {"message": "x", "code": 99999999999999}}, ServerError, 500, "99999999999999", True),
    ({"error": {"code": True, "message": "x"}}, ServerError, 500, None, True),
]  # fmt: skip


@pytest.mark.parametrize(("body", "kind", "status", "code", "retryable"), CARRIED)
def test_errors_inside_a_200(
    body: Any, kind: Kind, status: int, code: str | None, retryable: bool
) -> None:
    """An error in a body or chunk is the class its code names, and the code is its status."""
    error = error_in_body("acme", body, {"x-request-id": "r"})
    assert error is not None
    assert type(error) is kind
    assert (error.status, error.code, error.retryable) == (status, code, retryable)
    assert error.request_id == "r"
    assert json.loads(error.body or "") == body


@pytest.mark.parametrize(
    "body",
    [
        {"choices": [], "error": None},
        {"id": "x", "error": {}, "output": []},
        {"error": "", "message": {"role": "assistant", "content": "x"}},
        {"model": "m", "message": {"content": "message"}, "done": False},
        {"type": "ping"},
        {"type": "message_stop"},
        {"type": "message_start", "message": {"role": "assistant"}},
        {"success": True, "errors": [], "result": {}, "messages": []},
        {"candidates": [], "usageMetadata": {}},
        {},
        [],
        [{"candidates": []}],
        None,
        "error",
        3,
    ],
)
def test_answers_are_no_errors(body: Any) -> None:
    """What is no error is not taken for one."""
    assert error_in_body("acme", body, {}) is None


# name of the exception, class, status
FRAMES: list[tuple[str, Kind, int]] = [
    ("internalServerException", ServerError, 500),
    ("modelStreamErrorException", ServerError, 424),
    ("validationException", BadRequestError, 400),
    ("throttlingException", RateLimitError, 429),
    ("modelTimeoutException", ServerError, 408),
    ("serviceUnavailableException", ServerError, 503),
    ("accessDeniedException", PermissionDeniedError, 403),
    ("resourceNotFoundException", NotFoundError, 404),
    ("serviceQuotaExceededException", QuotaExceededError, 429),
    ("somethingNewException", ServerError, 500),
]


@pytest.mark.parametrize(("name", "kind", "status"), FRAMES)
def test_aws_exception_frames(name: str, kind: Kind, status: int) -> None:
    """An exception frame of an AWS stream is the class of its type."""
    error = exception_frame("acme", Frame(f"exception:{name}", b'{"message":"what it says"}'), {})
    assert type(error) is kind
    assert (error.status, error.code) == (status, name)
    assert "what it says" in str(error)


def test_named_errors() -> None:
    """A dialect that reads an error itself names its code, message and status."""
    error = named_error("acme", code="server_error", message="boom")
    assert (type(error), error.status, error.code) == (ServerError, 500, "server_error")
    assert "boom" in str(error)
    assert error.body == ""
    error = named_error("acme", status=418, code=7, message="tea", body={"a": 1})
    assert (type(error), error.status, error.code, error.body) == (
        BadRequestError,
        418,
        "7",
        '{"a":1}',
    )
    error = named_error("acme", body={"error": {"message": "m", "code": 503, "type": "overloaded"}})
    assert (type(error), error.status) == (OverloadedError, 503)
    assert ": m." in str(error)


def test_long_bodies_are_shortened() -> None:
    """A page of any length leaves a short message and body."""
    error = provider_error("acme", status=500, body=b"x" * 100_000, headers={})
    assert len(str(error)) < 700
    assert error.body is not None
    assert len(error.body) == 2000
    long_word = openai(code="c" * 5000, message="m")
    assert (
        len(str(provider_error("a", status=400, body=json.dumps(long_word).encode(), headers={})))
        < 300
    )


def test_errors_survive_a_pickle() -> None:
    """Every field of an error comes out of a pickle as it went in."""
    error = provider_error(
        "acme",
        status=429,
        body=b'{"error":{"message":"slow","code":"rate_limit_exceeded"}}',
        headers={"retry-after": "2", "x-request-id": "r"},
    )
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is RateLimitError
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)


class Unmakeable(Exception):
    """Is pickled, and cannot be made anew: as many exceptions of libraries."""

    def __init__(self, *, code: int) -> None:
        super().__init__(f"code {code}")


def causes(error: BaseException | None) -> list[str]:
    """A chain of causes, each by its type and what it says."""
    return [] if error is None else [repr(error), *causes(error.__cause__)]


@pytest.mark.parametrize(
    ("cause", "kept"),
    [
        (OSError(111, "refused"), ["ConnectionRefusedError(111, 'refused')"]),
        (Unmakeable(code=7), ["RuntimeError('Unmakeable: code 7')"]),
        (ValueError(lambda: None), None),
        (None, []),
    ],
    ids=["picklable", "not made anew", "not picklable", "none"],
)
def test_a_pickled_error_keeps_its_cause(
    cause: BaseException | None, kept: list[str] | None
) -> None:
    """Itself, or what it says; through errors of ours that have causes, too."""
    inner, outer = ServerError("inner", endpoint="acme"), ServerError("outer", endpoint="acme")
    inner.__cause__, outer.__cause__ = cause, inner
    told = causes(pickle.loads(pickle.dumps(outer)))
    assert told[:2] == [repr(outer), repr(inner)]
    assert told[2:] == kept if kept is not None else told[2].startswith("RuntimeError('ValueError")


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["error", "errors", "message", "code", "type", "detail", "details", "status",
                         "metadata", "raw", "innererror", "request_id", "loc", "msg", "reason"]),
        inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(JSON_VALUES, st.integers(300, 599), st.dictionaries(
    st.sampled_from(["retry-after", "retry-after-ms", "date", "location", "x-amzn-errortype"]),
    st.text(max_size=9)))  # fmt: skip
def test_any_json_is_an_error_of_the_tree(value: Any, status: int, headers: dict[str, str]) -> None:
    """Whatever a provider sends, a typed error with a message comes out, and nothing else."""
    error = provider_error("acme", status=status, body=json.dumps(value).encode(), headers=headers)
    assert error.status == status
    assert str(error)
    carried = error_in_body("acme", value, headers)
    assert carried is None or 300 <= carried.status < 600
    assert named_error("acme", body=value, headers=headers).endpoint == "acme"


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.integers(300, 599))
def test_any_bytes_are_an_error_of_the_tree(body: bytes, status: int) -> None:
    """No bytes make the reading of an error fail."""
    assert provider_error("acme", status=status, body=body, headers={}).status == status


CASES = os.environ.get("LLM_TOOLS_BUG_CASES")
RECORDINGS = os.environ.get("LLM_TOOLS_RECORDINGS")


@pytest.mark.skipif(CASES is None, reason="LLM_TOOLS_BUG_CASES is not set")
def test_reported_error_payloads() -> None:
    """Reported error payloads have the status, word and retryability they should have."""
    folder = Path(CASES or "") / "B21"
    expected = json.loads((folder / "expected.json").read_text())
    seen = 0
    for case in json.loads((folder / "cases.json").read_text()):
        wanted = expected[case["name"]]
        body = case.get("body")
        data = case["raw"].encode() if body is None else json.dumps(body).encode()
        if case["status"] >= 300:
            error = provider_error(
                case["provider"], status=case["status"], body=data, headers=case["headers"]
            )
        else:
            carried = error_in_body(case["provider"], body, case["headers"])
            if "effective_status" not in wanted:
                assert carried is None  # no error shape: the decoder's to refuse
                continue
            assert carried is not None
            error = carried
        seen += 1
        assert error.status == wanted.get("effective_status", wanted.get("status"))
        assert error.retryable is wanted["retryable"]
        assert wanted.get("message_contains", "") in str(error)
        assert error.code == wanted.get("type", error.code)
        assert 0 < len(str(error)) <= wanted.get("message_max_chars", 2000)
    assert seen == 6


@pytest.mark.parametrize(("status", "advice"), [(409, "try again."), (425, "try again."), (400, "will not help.")])  # fmt: skip
def test_the_advice_of_a_bad_request_fits_whether_it_may_be_retried(
    status: int, advice: str
) -> None:
    """A conflict passes; a wrong request does not."""
    error = provider_error("openai", status=status, body=b"{}", headers={})
    assert str(error).endswith(advice)
    assert error.retryable is (status != 400)


@pytest.mark.skipif(RECORDINGS is None, reason="LLM_TOOLS_RECORDINGS is not set")
def test_recorded_errors_have_the_class_of_their_status() -> None:
    """Recorded error answers have a class that fits their status, a message and a code."""
    fits: dict[int, tuple[Kind, ...]] = {
        400: (BadRequestError, AuthenticationError, NotFoundError),
        401: (AuthenticationError,),
        403: (PermissionDeniedError, AuthenticationError),
        404: (NotFoundError,),
        422: (BadRequestError,),
        429: (RateLimitError, QuotaExceededError),
        503: (OverloadedError,),
    }
    seen = 0
    for path in sorted(Path(RECORDINGS or "").glob("*.jsonl")):
        for line in path.read_text().splitlines():
            record = json.loads(line)
            status, response = int(record["status"]), record["response"]
            if status < 300:
                continue
            headers = {name.lower(): value for name, value in response["headers"].items()}
            body = json.dumps(response["body"]).encode()
            error = provider_error(path.stem, status=status, body=body, headers=headers)
            assert isinstance(error, fits[status]), record["id"]
            assert "it gave no reason" not in str(error), record["id"]
            seen += 1
    assert seen > 50


def test_a_page_without_end_is_not_searched() -> None:
    """A title is looked for where titles are; tags that never close would be looked at twice each."""
    page = f"<p>{'y' * 5000}<title>Too far</title>".encode()
    assert "Too far" not in str(provider_error("acme", status=500, body=page, headers={}))
    page = b"<html><title>Near</title>" + b"<title>" * 9000
    assert "500: Near." in str(provider_error("acme", status=500, body=page, headers={}))


def test_a_wait_beyond_all_numbers() -> None:
    """It is none."""
    details = [{"retryDelay": {"seconds": 10**400}}]
    body = json.dumps({"error": {"message": "m", "details": details}}).encode()
    assert provider_error("acme", status=429, body=body, headers={}).retry_after is None
