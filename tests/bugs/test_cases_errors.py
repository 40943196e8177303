"""Error answers that other clients misread, and retries that could not help."""

from __future__ import annotations

from typing import Any

import pytest
from bugs.handed import handed, load, model

from llm_tools import (
    AuthenticationError,
    BadRequestError,
    LlmToolsError,
    OverloadedError,
    ProviderError,
    QuotaExceededError,
    RateLimitError,
    ResponseDecodeError,
    ServerError,
)
from llm_tools.testing import ScriptedResponse, ScriptedTransport

PROVIDERS = {"openai": "openai_chat"}


async def failure(provider: str, case: dict[str, Any], **options: Any) -> LlmToolsError:
    """The error of one answer, without retries."""
    reply = ScriptedResponse(
        status=case["status"],
        headers=case.get("headers", {}),
        body=case["body"] if "body" in case else case["raw"].encode(),
    )
    settings = {"max_attempts": 1, "api_key": "sk-any", **options}
    llm = model(PROVIDERS.get(provider, provider), transport=ScriptedTransport([reply]), **settings)
    with pytest.raises(LlmToolsError) as caught:
        await llm.call("Hi")
    return caught.value


@handed
@pytest.mark.anyio
async def test_errors_in_every_dress() -> None:
    """A typed error that says status, message, body, and whether to ask again."""
    cases, expected = load("B21/cases.json"), load("B21/expected.json")
    for case in cases:
        error = await failure(case["provider"], case)
        rule = expected[case["name"]]
        assert str(error)
        assert isinstance(error, ProviderError | ResponseDecodeError), case["name"]
        if "retryable" in rule:
            assert error.retryable is rule["retryable"], case["name"]
        if "effective_status" in rule or "status" in rule:
            assert isinstance(error, ProviderError)
            assert error.status == rule.get("effective_status", rule.get("status")), case["name"]
            assert error.endpoint == {"openai": "openai"}.get(case["provider"], case["provider"])
        assert rule.get("message_contains", "") in str(error)
        assert len(str(error)) <= rule.get("message_max_chars", 10_000)
        if "type" in rule:
            assert isinstance(error, ProviderError)
            assert error.code == rule["type"]


DRESSES: list[tuple[str, dict[str, Any], type[LlmToolsError], int | None, bool]] = [
    ("openrouter", {"status": 200, "body": {"error": {"message": "No credit", "code": 402}}}, QuotaExceededError, 402, False),
    ("openrouter", {"status": 200, "body": {"error": {"message": "Busy", "code": 503}, "choices": []}}, ServerError, 503, True),
    ("openrouter", {"status": 200, "body": {"error": {"message": "Slow down", "code": "429"}}}, RateLimitError, 429, True),
    ("openai_chat", {"status": 200, "body": {"error": "the model crashed"}}, ProviderError, None, True),
    ("xai", {"status": 200, "body": {"error": "rate limited", "code": "429"}}, ProviderError, None, True),
    ("openai_chat", {"status": 200, "raw": ""}, ResponseDecodeError, None, True),
    ("openai_chat", {"status": 200, "raw": "null"}, ResponseDecodeError, None, True),
    ("openai_chat", {"status": 200, "raw": "[]"}, ResponseDecodeError, None, True),
    ("openai_chat", {"status": 200, "raw": "{"}, ResponseDecodeError, None, True),
    ("openai_chat", {"status": 200, "raw": '"ok"'}, ResponseDecodeError, None, True),
    ("openai_chat", {"status": 200, "body": {"choices": None}}, ResponseDecodeError, None, True),
    ("openai_chat", {"status": 200, "raw": "<html>Log in</html>", "headers": {"content-type": "text/html"}}, ResponseDecodeError, None, False),
    ("openai_chat", {"status": 500, "raw": "null"}, ServerError, 500, True),
    ("openai_chat", {"status": 502, "raw": "<html>" + "x" * 9000 + "</html>"}, ServerError, 502, True),
    ("openai_chat", {"status": 503, "raw": "upstream connect error"}, ServerError, 503, True),
    ("openai_chat", {"status": 400, "body": {"error": "bad request"}}, BadRequestError, 400, False),
    ("openai_chat", {"status": 400, "body": {"message": "no tools"}}, BadRequestError, 400, False),
    ("openai_chat", {"status": 400, "body": {"error": {"message": None}}}, BadRequestError, 400, False),
    ("openai_chat", {"status": 400, "body": {"error": None}}, BadRequestError, 400, False),
    ("openai_chat", {"status": 400, "body": ["no"]}, BadRequestError, 400, False),
    ("mistral", {"status": 422, "body": {"detail": [{"loc": ["body", "seed"], "msg": "extra", "type": "x"}]}}, BadRequestError, 422, False),
    ("gemini", {"status": 429, "body": [{"error": {"code": 429, "message": "Quota", "status": "RESOURCE_EXHAUSTED"}}]}, RateLimitError, 429, True),
    ("gemini", {"status": 400, "body": {"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}}, AuthenticationError, 400, False),
    ("bedrock_converse", {"status": 429, "body": {"message": "Too many"}, "headers": {"x-amzn-errortype": "ThrottlingException"}}, RateLimitError, 429, True),
    ("ollama", {"status": 500, "body": {"error": "llama runner process has terminated"}}, ServerError, 500, True),
    ("ollama", {"status": 200, "body": {"error": "model is loading"}}, ProviderError, None, True),
    ("anthropic", {"status": 529, "raw": ""}, OverloadedError, 529, True),
    ("anthropic", {"status": 200, "body": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}}, OverloadedError, 529, True),
    ("groq", {"status": 401, "body": {"error": {"message": "Invalid API Key", "code": "invalid_api_key"}}}, AuthenticationError, 401, False),
]  # fmt: skip


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("provider", "case", "kind", "status", "retryable"),
    DRESSES,
    ids=lambda value: str(value)[:50],
)
async def test_more_dresses(
    provider: str, case: dict[str, Any], kind: type, status: int | None, retryable: bool
) -> None:
    """Bare strings, arrays, nulls, pages and nothing at all."""
    error = await failure(provider, case)
    assert isinstance(error, kind)
    assert error.retryable is retryable
    if status is not None:
        assert isinstance(error, ProviderError)
        assert error.status == status
    assert 0 < len(str(error)) <= 2000
    assert "sk-any" not in repr(error.__dict__)


@pytest.mark.anyio
async def test_a_key_that_comes_back_is_masked() -> None:
    """A provider that quotes the key in its complaint."""
    case = {"status": 401, "body": {"error": {"message": "Bad key sk-secret-1234567890."}}}
    error = await failure("openai_chat", case, api_key="sk-secret-1234567890")
    assert "sk-secret-1234567890" not in str(error) + repr(error.__dict__)


# ---------------------------------------------------------------- retries


async def count(case: dict[str, Any], *, stream: bool, provider: str = "openai_chat") -> Any:
    """How many requests three attempts make, and the error at the end."""
    headers = {"retry-after": "0", **case.get("headers", {})}
    reply = ScriptedResponse(status=case["status"], headers=headers, body=case["body"])
    wire = ScriptedTransport(lambda _: reply)
    llm = model(provider, transport=wire, max_attempts=3, api_key="sk-any")
    with pytest.raises(ProviderError) as caught:
        if stream:
            async with llm.stream("Hi") as events:
                async for _ in events:
                    pass
        else:
            await llm.call("Hi")
    return len(wire.requests), caught.value


@handed
@pytest.mark.anyio
@pytest.mark.parametrize("stream", [False, True])
async def test_only_what_may_help_is_tried_again(stream: bool) -> None:
    """An empty account is asked once, a rate limit three times; streamed or not."""
    cases, expected = load("B22/cases.json"), load("B22/expected.json")
    for case in cases:
        requests, error = await count(case, stream=stream)
        assert requests == expected["with_max_attempts_3_http_requests"][case["name"]], case["name"]
        said = case["body"]["error"]
        assert said["message"] in str(error)
        if case["name"] in ("insufficient_quota", "billing_hard_limit"):
            assert isinstance(error, QuotaExceededError)
            assert not isinstance(error, RateLimitError)
            assert error.code in (said["code"], said["type"])
            assert not error.retryable


EMPTY_ACCOUNTS: list[tuple[str, int, Any]] = [
    ("openai_chat", 429, {"error": {"message": "m", "type": "insufficient_quota"}}),
    ("openai_chat", 429, {"error": {"message": "m", "code": "insufficient_quota"}}),
    ("openai_responses", 429, {"error": {"message": "m", "code": "billing_not_active"}}),
    ("deepseek", 402, {"error": {"message": "Insufficient Balance", "type": "unknown_error"}}),
    ("openrouter", 402, {"error": {"message": "Insufficient credits", "code": 402}}),
    ("anthropic", 400, {"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low to access the API."}}),
    ("anthropic", 402, {"type": "error", "error": {"type": "billing_error", "message": "m"}}),
]  # fmt: skip


@pytest.mark.anyio
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("provider", "status", "body"), EMPTY_ACCOUNTS, ids=str)
async def test_empty_accounts_everywhere(
    provider: str, status: int, body: Any, stream: bool
) -> None:
    """Whatever the provider calls it, waiting does not help."""
    requests, error = await count(
        {"status": status, "body": body}, stream=stream, provider=provider
    )
    assert requests == 1
    assert isinstance(error, QuotaExceededError)
    assert not error.retryable
    assert body["error"]["message"] in str(error)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("status", "headers", "requests"),
    [
        (408, {}, 3),
        (409, {}, 3),
        (425, {}, 3),
        (429, {}, 3),
        (500, {}, 3),
        (501, {}, 1),
        (502, {}, 3),
        (503, {}, 3),
        (504, {}, 3),
        (522, {}, 3),
        (529, {}, 3),
        (400, {"x-should-retry": "true"}, 3),
        (500, {"x-should-retry": "false"}, 1),
        (429, {"retry-after": "120"}, 1),
        (404, {}, 1),
        (413, {}, 1),
        (422, {}, 1),
        (424, {}, 1),
    ],
)
async def test_which_statuses_are_tried_again(
    status: int, headers: dict[str, str], requests: int
) -> None:
    """The list, the header that overrules it, and the wait that is too long."""
    case = {"status": status, "headers": headers, "body": {"error": {"message": "m"}}}
    made, error = await count(case, stream=False)
    assert made == requests
    if headers.get("retry-after") == "120":
        assert error.retry_after == 120
