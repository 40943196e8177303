"""Google's and Amazon's ways to say who the caller is."""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path
from typing import Any

import anyio
import botocore.auth
import botocore.awsrequest
import botocore.credentials
import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from transport.scripted import HERE, KEY, Script, Server, http, make_request

from llm_tools.errors import ConfigurationError, TransportError
from llm_tools.spec import AwsAuth, GoogleAuth
from llm_tools.transport import OutgoingRequest, Secret, Transport, TransportSettings
from llm_tools.transport.credentials import aws, google

pytestmark = pytest.mark.anyio
AWS_URL = "https://bedrock-runtime.eu-west-1.amazonaws.com"


async def sent(request: OutgoingRequest) -> httpx.Request:
    """What a request looks like on its way."""
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={})

    settings = TransportSettings(transport=httpx.MockTransport(answer), max_attempts=1)
    await Transport(settings).send(request)
    return seen[0]


def amazon(**options: Any) -> OutgoingRequest:
    secrets = {"api_key", "secret_access_key", "session_token"}
    wrapped = {k: Secret(v) if k in secrets else v for k, v in options.items()}
    return make_request(
        AWS_URL, path="/model/anthropic.claude-x%3A0/converse", options=wrapped,
        endpoint={"auth": AwsAuth(), "api_key_env": ("AWS_BEARER_TOKEN_BEDROCK",)},
    )  # fmt: skip


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No credentials of an earlier test, nor of this machine."""
    aws._chain.cache_clear()
    google._found.clear()
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NO_GCE_CHECK", "true")


def signature_of(request: httpx.Request, access: str, secret: str, token: str | None) -> str:
    """The authorization botocore gives the same request at the same time."""
    names = request.headers["authorization"].split("SignedHeaders=")[1].split(",")[0].split(";")
    headers = {
        name: request.headers[name]
        for name in names
        if name not in ("host", "x-amz-date", "x-amz-security-token")
    }
    again = botocore.awsrequest.AWSRequest("POST", str(request.url), headers, request.content)
    credentials = botocore.credentials.Credentials(access, secret, token)
    signer = botocore.auth.SigV4Auth(credentials, "bedrock", "eu-west-1")
    again.context["timestamp"] = request.headers["x-amz-date"]
    again.headers["X-Amz-Date"] = request.headers["x-amz-date"]
    if token:
        again.headers["X-Amz-Security-Token"] = token
    canonical = signer.canonical_request(again)
    signature = signer.signature(signer.string_to_sign(again, canonical), again)
    return str(signature)


async def test_a_bearer_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """A token given, else the one of the environment, goes before any signature."""
    assert (await sent(amazon(api_key="tok"))).headers["authorization"] == "Bearer tok"
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "env-tok")
    request = await sent(amazon())
    assert request.headers["authorization"] == "Bearer env-tok"
    assert "x-amz-date" not in request.headers


async def test_a_signature_with_given_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys given sign the request, body, path and headers as they are sent; a token may join."""
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "not this one")
    keys = {"access_key_id": "AKIDEXAMPLE", "secret_access_key": "SECRETEXAMPLE"}
    for token in (None, "SESSIONEXAMPLE"):
        options = {**keys, "region": "eu-west-1", **({"session_token": token} if token else {})}
        request = await sent(amazon(**options))
        assert request.url.raw_path == b"/model/anthropic.claude-x%3A0/converse"
        authorization = request.headers["authorization"]
        assert authorization.startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
        assert "/eu-west-1/bedrock/aws4_request" in authorization
        signed = authorization.split("SignedHeaders=")[1].split(",")[0].split(";")
        assert {"content-type", "host", "x-amz-date"} <= set(signed)
        assert not {"user-agent", "accept-encoding", "content-length"} & set(signed)
        assert request.headers.get("x-amz-security-token") == token
        expected = signature_of(request, "AKIDEXAMPLE", "SECRETEXAMPLE", token)
        assert authorization.endswith(f"Signature={expected}")


async def test_every_attempt_is_signed_anew() -> None:
    """A signature holds the time, so it is not kept."""
    heads = Transport(TransportSettings())._heads
    request = amazon(access_key_id="A", secret_access_key="S", region="eu-west-1")
    first, second = await heads.find(request), await heads.find(request)
    assert first is not second
    assert "SECRET" not in repr(first)


async def test_botocores_chain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The environment's keys, then a profile; other values are noticed at the next call."""
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDFROMENV")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    assert "Credential=AKIDFROMENV/" in (await sent(amazon())).headers["authorization"]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDCHANGED")
    assert "Credential=AKIDCHANGED/" in (await sent(amazon())).headers["authorization"]
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    profile = tmp_path / "credentials"
    profile.write_text("[work]\naws_access_key_id = AKIDPROFILE\naws_secret_access_key = s\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(profile))
    monkeypatch.setenv("AWS_PROFILE", "work")
    assert "Credential=AKIDPROFILE/" in (await sent(amazon())).headers["authorization"]


async def test_credentials_botocore_cannot_get(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its failures are ours, and neither they nor their frames show what the environment holds."""
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_SESSION_TOKEN", KEY)
    broken = tmp_path / "config"
    broken.write_text("[default\nx")
    for variable, value, reason in (
        ("AWS_PROFILE", "nowhere", "config profile"),
        ("AWS_ACCESS_KEY_ID", "AKID", "Partial credentials"),
        ("AWS_CONFIG_FILE", str(broken), "Unable to parse"),
    ):
        monkeypatch.setenv(variable, value)
        with pytest.raises(
            ConfigurationError, match=f"could not get credentials.*{reason}"
        ) as caught:
            await sent(amazon())
        monkeypatch.delenv(variable)
        report = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
        shown = [repr(frame.locals) for frame in report.stack if "tests" not in frame.filename]
        assert KEY not in "".join(shown)


async def test_botocore_does_not_log_the_token(caplog: pytest.LogCaptureFixture) -> None:
    """At DEBUG it writes down what it signs, headers included."""
    caplog.set_level("DEBUG", "botocore")
    request = amazon(
        access_key_id="A", secret_access_key="S" * 8, session_token=KEY, region="eu-west-1"
    )
    await sent(request)
    assert "x-amz-security-token:***" in caplog.text
    assert KEY not in caplog.text


async def test_what_amazon_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every missing or doubled piece is told before anything is sent."""
    with pytest.raises(ConfigurationError, match="botocore found no credentials for acme"):
        await sent(amazon(region="eu-west-1"))
    with pytest.raises(ConfigurationError, match="pass secret_access_key"):
        await sent(amazon(access_key_id="A", region="eu-west-1"))
    with pytest.raises(ConfigurationError, match="leave one of them out"):
        await sent(amazon(access_key_id="A", api_key="tok"))
    plain = amazon(access_key_id="A", secret_access_key="S", region="r", base_url="http://10.0.0.1")
    with pytest.raises(ConfigurationError, match="allow_http"):
        await sent(plain)
    nowhere = amazon(access_key_id="A", secret_access_key="S", base_url="https://proxy.example")
    with pytest.raises(
        ConfigurationError, match=r"acme needs region=… or the environment variable AWS_REGION"
    ):
        await sent(nowhere)


async def test_the_region_of_an_aws_host() -> None:
    """Where no region is given, the host's name tells it."""
    keys = {"access_key_id": "A", "secret_access_key": "S"}
    assert "/eu-west-1/bedrock/" in (await sent(amazon(**keys))).headers["authorization"]
    mantle = amazon(**keys, base_url="https://bedrock-mantle.us-east-2.api.aws/anthropic")
    assert "/us-east-2/bedrock/" in (await sent(mantle)).headers["authorization"]


async def test_packages_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the extra to install, and what does without it."""
    monkeypatch.delitem(sys.modules, "botocore.auth", raising=False)
    monkeypatch.setitem(sys.modules, "botocore", None)
    with pytest.raises(
        ConfigurationError, match=r"'llm-tools\[bedrock\]', or set a bearer token in AWS_B"
    ):
        await sent(amazon(access_key_id="A", secret_access_key="S", region="r"))
    monkeypatch.setitem(sys.modules, "google.auth", None)
    with pytest.raises(
        ConfigurationError, match=r"'llm-tools\[vertex\]', or pass access_token=…\."
    ):
        await sent(vertex())


# ---------------------------------------------------------------- Google


def vertex(**options: Any) -> OutgoingRequest:
    wrapped = {name: Secret(value) for name, value in options.items()}
    return make_request("https://v.example", options=wrapped, endpoint={"auth": GoogleAuth()})


async def test_a_given_access_token() -> None:
    """A token, or a function that returns one, needs no google-auth."""

    async def fetch() -> str:
        return "fetched"

    assert (await sent(vertex(access_token="tok"))).headers["authorization"] == "Bearer tok"
    assert (await sent(vertex(access_token=fetch))).headers["authorization"] == "Bearer fetched"


@pytest.fixture
def make_account(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A service account whose tokens come from the scripted server, by these steps."""

    def make(*steps: list[Any], uri: str | None = None) -> Script:
        script = server.script(*steps)
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        account = {
            "type": "service_account",
            "client_email": "a@b.example",
            "private_key": pem,
            "private_key_id": "1",
            "project_id": "p",
            "token_uri": uri or f"{script.base_url}/token",
        }
        file = tmp_path / "account.json"
        file.write_text(json.dumps(account))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
        return script

    return make


def token_answer(token: str) -> list[Any]:
    return http(json.dumps({"access_token": token, "expires_in": 3600, "token_type": "Bearer"}))


async def test_default_credentials(make_account: Any) -> None:
    """google-auth finds them and fetches a token, once until it expires."""
    script = make_account(token_answer("ya29.one"), token_answer("ya29.two"))
    for _ in range(2):
        assert (await sent(vertex())).headers["authorization"] == "Bearer ya29.one"
    assert len(script.log) == 1
    (credentials,) = google._found.values()
    credentials.token = None
    assert (await sent(vertex())).headers["authorization"] == "Bearer ya29.two"
    assert len(script.log) == 2


async def test_credentials_google_does_not_find(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where there are none the error says how to give some."""
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "missing.json"))
    with pytest.raises(ConfigurationError, match="gcloud auth application-default login"):
        await sent(vertex())


async def test_calls_side_by_side_fetch_one_token(make_account: Any) -> None:
    """Whoever comes while a token is fetched waits for that one."""
    script = make_account([["sleep", 0.2], *token_answer("ya29.one")], token_answer("ya29.two"))
    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(sent, vertex())
    assert len(script.log) == 1


@pytest.mark.parametrize(
    "answer", [http('{"error":"invalid_grant"}', status=400), http('{"access_token":""}')]
)
async def test_a_token_google_refuses(make_account: Any, answer: list[Any]) -> None:
    """Credentials that give no token are told as such, without what they hold."""
    script = make_account(answer)
    with pytest.raises(ConfigurationError, match="google-auth got no token for acme") as caught:
        await sent(vertex())
    assert len(script.log) == 1
    assert "PRIVATE KEY" not in str(caught.value)


async def test_a_network_without_google(make_account: Any, unused_port: int) -> None:
    """A token that cannot be fetched is a failure of the network, and may be tried again."""
    make_account(http("{}"), uri=f"http://127.0.0.1:{unused_port}/token")
    with pytest.raises(TransportError, match="google-auth did not reach") as caught:
        await sent(vertex())
    assert caught.value.retryable


def test_certificates_are_there() -> None:
    """The files the TLS tests need are part of the tests."""
    assert sorted(path.name for path in (HERE / "certificates").iterdir()) == [
        "ca.pem",
        "server.key",
        "server.pem",
    ]
