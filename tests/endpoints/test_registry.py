"""From keys to targets, and hosts that join at run time."""

from __future__ import annotations

import sys
import threading
from importlib.metadata import EntryPoint
from types import SimpleNamespace
from typing import Any

import pytest

from llm_tools import (
    ConfigurationError,
    create_openai_compatible_endpoint,
    list_endpoints,
    register_endpoint,
    registry,
    use_llm,
)
from llm_tools.registry import find_dialect, find_endpoint, resolve
from llm_tools.spec import SUPPORT_OPTIONS, Endpoint, KeyAuth
from llm_tools.testing import ScriptedTransport

ANSWER = {
    "id": "1",
    "object": "chat.completion",
    "created": 1,
    "model": "small",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "ping", "arguments": "{}"},
                    }
                ],
            },
        }
    ],
}


# ---------------------------------------------------------------- a host of one's own


@pytest.mark.anyio
async def test_a_host_joins_by_one_row_and_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """One row, no other edit: the host takes calls, its key comes from its variable."""
    register_endpoint(
        create_openai_compatible_endpoint(
            key="acme", base_url="https://llm.acme.example/v1", api_key_env="ACME_KEY"
        )
    )
    monkeypatch.setenv("ACME_KEY", "sk-of-acme")
    wire = ScriptedTransport([ANSWER])
    llm = use_llm("acme.small", transport=wire, temperature=0.5)
    result = await llm.call("Hi", functions=[{"name": "ping"}], function_call="any")
    assert [(use.name, use.input, use.function_id) for use in result.function_calls] == [
        ("ping", {}, "c1")
    ]
    (request,) = wire.requests
    assert (request.method, request.url) == (
        "POST",
        "https://llm.acme.example/v1/chat/completions",
    )
    assert request.headers["authorization"] == "Bearer sk-of-acme"
    assert request.body == {
        "model": "small",
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [
            {
                "type": "function",
                "function": {"name": "ping", "parameters": {"type": "object", "properties": {}}},
            }
        ],
        "tool_choice": "required",
        "temperature": 0.5,
    }


def test_a_new_host_is_in_the_list_with_its_support() -> None:
    """`list_endpoints()` tells of it as of all others."""
    register_endpoint(
        create_openai_compatible_endpoint(key="acme", base_url="https://llm.acme.example/v1")
    )
    (info,) = [info for info in list_endpoints() if info.key == "acme"]
    assert (info.protocol, info.base_url, info.api_key_env, info.tier) == (
        "chat",
        "https://llm.acme.example/v1",
        (),
        "community",
    )
    assert tuple(info.support) == SUPPORT_OPTIONS
    assert info.support["any"] == "native"
    assert info.support["subset"] == "emulated"


@pytest.mark.anyio
async def test_a_host_without_a_key_sends_none() -> None:
    """A server of one's own needs no key; one that is given is sent."""
    register_endpoint(
        create_openai_compatible_endpoint(key="mine", base_url="http://127.0.0.1:9/v1")
    )
    wire = ScriptedTransport([ANSWER, ANSWER])
    await use_llm("mine.small", transport=wire).call("Hi")
    await use_llm("mine.small", transport=wire, api_key="sk-given").call("Hi")
    assert [request.headers.get("authorization") for request in wire.requests] == [
        None,
        "Bearer sk-given",
    ]


def test_a_record_may_say_more() -> None:
    """Headers, constant body, quirks, models' own quirks, aliases and protocol are data."""
    register_endpoint(
        Endpoint(
            key="acme",
            protocol="responses",
            dialect="openai_responses",
            base_url="https://llm.acme.example/v1",
            api_key_env=("ACME_KEY",),
            auth=KeyAuth(header="x-acme-key", prefix=""),
            headers={"x-team": "tools"},
            body={"store": True, "service_tier": "flex"},
            quirks={"allowed_tools": False},
            per_model=((r"old-.*", {"strict": False}),),
            aliases={"best": "old-1"},
        )
    )
    llm = use_llm("acme.best")
    assert llm.target.model == "old-1"
    assert (llm.target.quirks.allowed_tools, llm.target.quirks.strict) == (False, False)
    request = llm.build_request("Hi")
    assert request.url == "https://llm.acme.example/v1/responses"
    assert request.headers["x-team"] == "tools"
    assert request.body["service_tier"] == "flex"
    assert use_llm("acme.responses.v1", model="new").target.quirks.strict is True


def test_a_second_record_of_a_key_takes_its_place() -> None:
    """The last one registered counts; other protocols of the key stay."""
    for base_url in ("https://one.example/v1", "https://two.example/v1"):
        register_endpoint(create_openai_compatible_endpoint(key="openai", base_url=base_url))
    assert use_llm("openai.x").build_request("Hi").url == "https://two.example/v1/chat/completions"
    assert find_endpoint("openai", "responses").base_url == "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("record", "complaint"),
    [
        ({"key": ""}, "must not be empty"),
        ({"key": "a.b"}, "dot"),
        ({"key": "acme", "protocol": "chat.v1"}, "one word"),
        ({"key": "acme", "protocol": "chat2"}, "small letters"),
        ({"key": "acme", "dialect": "esperanto"}, "no dialect 'esperanto'"),
        ({"key": "acme", "dialect": "../x"}, "no dialect"),
        ({"key": "acme", "quirks": {"allowed_tool": True}}, "did you mean 'allowed_tools'"),
        ({"key": "acme", "per_model": ((".*", {"colour": 1}),)}, "no quirk 'colour'"),
        ({"key": "acme", "per_model": (("(", {}),)}, "no regular expression"),
    ],
)
def test_a_record_that_cannot_work_is_refused(record: dict[str, Any], complaint: str) -> None:
    """The error says what is wrong, when the host is registered."""
    with pytest.raises(ConfigurationError, match=complaint):
        register_endpoint(Endpoint(**record))


def test_what_is_no_record_is_refused() -> None:
    """A typed error."""
    with pytest.raises(ConfigurationError, match="takes an Endpoint, got 'acme'"):
        register_endpoint("acme")  # type: ignore[arg-type]


def test_a_field_no_endpoint_has_is_refused() -> None:
    """The short way takes the fields of a record, and names them."""
    with pytest.raises(ConfigurationError, match="no colour"):
        create_openai_compatible_endpoint(key="acme", base_url="https://x.example", colour="red")


# ---------------------------------------------------------------- hosts of installed packages


class Found:
    """Entry points as `importlib.metadata` gives them."""

    def __init__(self, *points: EntryPoint) -> None:
        self.points = points
        self.asked: list[str] = []

    def __call__(self, *, group: str) -> tuple[EntryPoint, ...]:
        self.asked.append(group)
        return self.points


ONE = create_openai_compatible_endpoint(key="plugged", base_url="https://plugged.example/v1")
SEVERAL = (
    create_openai_compatible_endpoint(key="plugged_too", base_url="https://too.example/v1"),
    create_openai_compatible_endpoint(
        key="openai", base_url="https://api.openai.com/v1", protocol="realtime"
    ),
    create_openai_compatible_endpoint(key="openai", base_url="https://impostor.example/v1"),
)
WRONG = (Endpoint(key="a.b"),)


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch) -> Found:
    """A package that adds endpoints is installed."""
    found = Found(
        *[
            EntryPoint(name, f"{__name__}:{name}", registry.ENTRY_POINT_GROUP)
            for name in ("ONE", "SEVERAL")
        ]
    )
    monkeypatch.setitem(sys.modules, __name__, SimpleNamespace(**globals()))
    monkeypatch.setattr("importlib.metadata.entry_points", found)
    registry._loaded.discard("entry points")
    return found


def test_a_package_adds_endpoints(plugged: Found) -> None:
    """An unknown key is looked for in installed packages, once; a record or several are found."""
    assert use_llm("plugged.x").build_request("Hi").url.startswith("https://plugged.example/v1/")
    assert use_llm("plugged_too.x").target.endpoint.key == "plugged_too"
    assert plugged.asked == ["llm_tools.endpoints"]


def test_a_package_adds_a_protocol_to_a_known_key(plugged: Found) -> None:
    """A protocol that is not built in is looked for as well."""
    assert use_llm("openai.realtime.v1", model="x").target.endpoint.protocol == "realtime"


def test_a_known_key_asks_no_package(plugged: Found) -> None:
    """Finding entry points is slow; what is built in needs none, and is never replaced."""
    assert use_llm("openai.gpt-4o").build_request("Hi").url.startswith("https://api.openai.com/")
    assert plugged.asked == []
    keys = [(info.key, info.protocol) for info in list_endpoints()]
    assert ("plugged", "chat") in keys
    assert len(keys) == len(set(keys))
    assert use_llm("openai.gpt-4o").build_request("Hi").url.startswith("https://api.openai.com/")


def test_a_broken_package_is_told_about_and_passed_by(plugged: Found) -> None:
    """The others still join; the warning names the entry point."""
    group = registry.ENTRY_POINT_GROUP
    plugged.points = (
        EntryPoint("gone", "no_such_module:ENDPOINTS", group),
        EntryPoint("wrong", f"{__name__}:WRONG", group),
        *plugged.points,
    )
    with pytest.warns(RuntimeWarning) as warned:
        keys = {info.key for info in list_endpoints()}
    assert "plugged" in keys
    assert "a.b" not in keys
    assert [str(item.message).split("'")[1] for item in warned] == ["gone", "wrong"]


# ---------------------------------------------------------------- what is there


PROTOCOL_KEYS = {
    "openai.chat.v1": "openai_chat",
    "openai.responses.v1": "openai_responses",
    "azure.chat.v1": "openai_chat",
    "azure.responses.v1": "openai_responses",
    "anthropic.chat.v1": "anthropic_messages",
    "amazon:anthropic.chat.v1": "anthropic_messages",
    "amazon.converse.v1": "bedrock_converse",
    "google.chat.v1": "gemini",
    "vertex.chat.v1": "gemini",
    "xai.chat.v1": "openai_chat",
    "deepseek.chat.v1": "openai_chat",
    "ollama.chat.v1": "ollama",
    "mistral.chat.v1": "openai_chat",
    "groq.chat.v1": "openai_chat",
    "openrouter.chat.v1": "openai_chat",
    "llamacpp.chat.v1": "openai_chat",
    "vllm.chat.v1": "openai_chat",
    "lmstudio.chat.v1": "openai_chat",
    "together.chat.v1": "openai_chat",
    "fireworks.chat.v1": "openai_chat",
    "cerebras.chat.v1": "openai_chat",
}


@pytest.mark.parametrize("key", PROTOCOL_KEYS)
def test_protocol_keys_that_are_promised(key: str) -> None:
    """Each names its wire, and takes any model."""
    target = use_llm(key, model="some-model").target
    assert target.dialect.key == PROTOCOL_KEYS[key]
    assert f"{target.endpoint.key}.{target.endpoint.protocol}.v1" == key


def test_there_are_many_endpoints_each_once() -> None:
    """Six wires, more than 25 hosts, every row complete."""
    infos = list_endpoints()
    assert len(infos) >= 25
    assert len({(info.key, info.protocol) for info in infos}) == len(infos)
    assert {info.dialect for info in infos} == set(PROTOCOL_KEYS.values())
    for info in infos:
        assert tuple(info.support) == SUPPORT_OPTIONS
        assert set(info.support.values()) <= {"native", "emulated", "refused"}
        assert info.docs_url is None or info.docs_url.startswith("https://")


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("openai", "OPENAI_API_KEY"),
        ("azure", "AZURE_OPENAI_API_KEY"),
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("google", "GEMINI_API_KEY"),
        ("google", "GOOGLE_API_KEY"),
        ("xai", "XAI_API_KEY"),
        ("deepseek", "DEEPSEEK_API_KEY"),
        ("mistral", "MISTRAL_API_KEY"),
        ("groq", "GROQ_API_KEY"),
        ("openrouter", "OPENROUTER_API_KEY"),
        ("amazon", "AWS_BEARER_TOKEN_BEDROCK"),
    ],
)
def test_variables_of_keys(key: str, name: str) -> None:
    """Where each host's key is looked for."""
    assert all(name in info.api_key_env for info in list_endpoints() if info.key == key)


# ---------------------------------------------------------------- keys


@pytest.mark.parametrize(
    ("key", "endpoint", "model"),
    [
        ("openai.gpt-4o-mini", "openai", "gpt-4o-mini"),
        ("openrouter.anthropic/claude-opus-4.6", "openrouter", "anthropic/claude-opus-4.6"),
        ("google.gemini-2.5-flash", "google", "gemini-2.5-flash"),
        ("google.models/gemini-2.5-flash", "google", "gemini-2.5-flash"),
        ("ollama.qwen3:0.6b", "ollama", "qwen3:0.6b"),
        ("ollama.hf.co/x/y.gguf:Q4", "ollama", "hf.co/x/y.gguf:Q4"),
        ("amazon:anthropic.claude-sonnet-4-5", "amazon:anthropic", "anthropic.claude-sonnet-4-5"),
        (
            "amazon:anthropic.anthropic.claude-3-haiku-20240307-v1:0",
            "amazon:anthropic",
            "anthropic.claude-3-haiku-20240307-v1:0",
        ),
        ("amazon.nova-pro-v1:0", "amazon", "amazon.nova-pro-v1:0"),
        ("amazon.us.amazon.nova-lite-v1:0", "amazon", "us.amazon.nova-lite-v1:0"),
        ("amazon.meta.llama3-3-70b-instruct-v1:0", "amazon", "meta.llama3-3-70b-instruct-v1:0"),
        (
            "amazon.arn:aws:bedrock:us-east-1:123:inference-profile/us.x",
            "amazon",
            "arn:aws:bedrock:us-east-1:123:inference-profile/us.x",
        ),
        ("together.meta-llama/Llama-4-Maverick", "together", "meta-llama/Llama-4-Maverick"),
        ("nvidia.nobody/has-heard-of-this", "nvidia", "nobody/has-heard-of-this"),
    ],
)
def test_a_key_splits_at_its_first_dot(key: str, endpoint: str, model: str) -> None:
    """What is in front is the host, the rest is the model, known or not."""
    options = {"region": "us-east-1"} if endpoint.startswith("amazon") else {}
    target = use_llm(key, **options).target
    assert (target.endpoint.key, target.model) == (endpoint, model)


@pytest.mark.parametrize(
    ("key", "model", "complaint"),
    [
        ("", None, "names no model"),
        ("openai", None, "names no model"),
        ("openai.", None, "names no model"),
        (".gpt-4o", None, "no endpoint ''"),
        ("opnai.gpt-4o", None, "did you mean 'openai'"),
        ("Anthropic.claude", None, "did you mean 'anthropic'"),
        ("zzzzzzzz.x", None, "register_endpoint"),
        ("openai.chat.v1", None, "model="),
        ("openai.chat.v1", "", "model="),
        ("openai.chats.v1", "x", r"openai\.chat\.v1, openai\.responses\.v1"),
        ("groq.responses.v1", "x", r"there is groq\.chat\.v1"),
        ("openai.gpt-4o", "gpt-4o", "already names a model"),
        (["openai.gpt-4o"], "gpt-4o", "leave model='gpt-4o' out"),
        (5, None, "not by 5"),
        (None, None, "not by None"),
        ("openai.chat.v1", 5, "not by 5"),
    ],
)
def test_a_key_that_names_nothing_is_refused(key: Any, model: Any, complaint: str) -> None:
    """The error says what to write instead."""
    with pytest.raises(ConfigurationError, match=complaint):
        use_llm(key, model=model)


def test_openai_models_are_routed_by_what_chat_refuses() -> None:
    """A protocol key forces one; else the model, and the effort, decide."""
    assert use_llm("openai.gpt-5.6").target.endpoint.protocol == "responses"
    assert use_llm("openai.gpt-4o").target.endpoint.protocol == "chat"
    assert use_llm("openai.gpt-5.4").target.endpoint.protocol == "chat"
    assert use_llm("openai.gpt-5.4", effort="low").target.endpoint.protocol == "responses"
    assert use_llm("openai.chat.v1", model="gpt-5.6").target.endpoint.protocol == "chat"
    assert use_llm("openai.responses.v1", model="gpt-4o").target.endpoint.protocol == "responses"


@pytest.mark.parametrize(
    ("option", "complaint"),
    [
        ({"temprature": 1}, "Did you mean 'temperature'"),
        ({"functions": []}, "no option 'functions'"),
        ({"region": "us-east-1"}, "openai takes no 'region'"),
        ({"temperature": "hot"}, "temperature='hot' must be a number"),
        ({"temperature": True}, "temperature=True must be a number"),
        ({"top_p": float("nan")}, "top_p=nan must be a number"),
        ({"top_k": 0}, "top_k=0 must be a whole number of at least 1"),
        ({"max_tokens": 1.5}, "max_tokens=1.5 must be a whole number"),
        ({"max_tokens": True}, "max_tokens=True must be a whole number"),
        ({"seed": "7"}, "seed='7' must be a whole number"),
        ({"effort": 1}, "effort=1 must be a string"),
        ({"effort": ""}, "effort='' must be a string"),
        ({"stop_sequences": 5}, "stop_sequences=5 must be strings"),
        ({"stop_sequences": ["a", 5]}, "stop_sequences"),
        ({"stop_sequences": [""]}, "stop_sequences"),
        ({"parallel_function_calls": "no"}, "parallel_function_calls='no' must be True or False"),
        ({"repair_arguments": 1}, "repair_arguments=1 must be True or False"),
        ({"extra_body": [1]}, "extra_body=.* must be a dict"),
        ({"base_url": 5}, "base_url=5 must be a string"),
        ({"temperature": 10**400}, "temperature=1000.* must be a number"),
        ({"timeout": "30"}, "timeout='30' must be a number of seconds above 0"),
        ({"timeout": float("nan")}, "timeout=nan must be a number of seconds"),
        ({"deadline": 0}, "deadline=0 must be a number of seconds above 0"),
        ({"deadline": True}, "deadline=True must be a number of seconds"),
        ({"max_attempts": 0}, "max_attempts=0 must be a whole number of at least 1"),
        ({"max_attempts": 1.5}, "max_attempts=1.5 must be a whole number"),
        ({"http2": "yes"}, "http2='yes' must be True or False"),
        ({"allow_http": "no"}, "allow_http='no' must be True or False"),
    ],
)
def test_options_that_cannot_be_are_refused(option: dict[str, Any], complaint: str) -> None:
    """When the model is made, not when it is called."""
    with pytest.raises(ConfigurationError, match=complaint):
        use_llm("openai.gpt-4o", **option)
    with pytest.raises(ConfigurationError, match=complaint):
        use_llm("openai.gpt-4o").with_options(**option)


@pytest.mark.parametrize("name", ["max_attempts", "transport", "http2", "allow_http", "client"])
def test_none_of_the_wire_is_its_default(name: str) -> None:
    """None stands for nothing; of `timeout` alone it says no limit."""
    given: Any = {name: None}
    assert use_llm("openai.gpt-4o", **given).options.wire == use_llm("openai.gpt-4o").options.wire
    assert use_llm("openai.gpt-4o", timeout=None).options.wire.timeout is None


def test_stop_sequences_may_be_one_string_or_any_iterable() -> None:
    """They go out as a list."""
    for given in ("END", ["END"], ("END",), iter(["END"])):
        llm = use_llm("openai.gpt-4o", stop_sequences=given)
        assert llm.build_request("Hi").body["stop"] == ["END"]


def test_endpoints_are_found_by_many_threads_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first look-ups of a program may be simultaneous; none finds a half-filled registry."""
    monkeypatch.setattr(registry, "_endpoints", {})
    monkeypatch.setattr(registry, "_loaded", {"entry points"})
    start = threading.Barrier(8)
    found: list[str] = []

    def look() -> None:
        start.wait()
        found.append(resolve("litellm.x").endpoint.key)

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["litellm"] * 8


def test_a_dialect_is_found_by_its_key() -> None:
    """And no other module can be had that way."""
    assert find_dialect("gemini").key == "gemini"
    for wrong in ("none", "openai_chat.quirks", "__init__", ""):
        with pytest.raises(ConfigurationError, match="dialect"):
            find_dialect(wrong)
