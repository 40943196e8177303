"""A record that can work passes; of any other, every flaw is told, with what to change."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from llm_tools import ConfigurationError, Endpoint, list_endpoints, register_endpoint
from llm_tools.registry import find_dialect, find_endpoint
from llm_tools.spec import GoogleAuth, KeyAuth, NoAuth, Place, Setting
from llm_tools.testing import check_endpoint

ALL = [(info.key, info.protocol) for info in list_endpoints()]
URL = "https://api.acme.example/v1/chat/completions"


def record(**fields: Any) -> Endpoint:
    """A record without flaws, but for these fields."""
    whole: dict[str, Any] = {
        "key": "acme",
        "base_url": "https://api.acme.example/v1",
        "api_key_env": ("ACME_API_KEY",),
        **fields,
    }
    return Endpoint(**whole)


def flaws(endpoint: Any, **options: Any) -> list[str]:
    """What is told of a record, line by line."""
    with pytest.raises(ConfigurationError) as caught:
        check_endpoint(endpoint, **options)
    first, *lines = str(caught.value).split("\n")
    assert first == f"The endpoint {endpoint.key!r} has flaws:"
    return lines


@pytest.mark.parametrize(("key", "protocol"), ALL)
def test_every_endpoint_passes(key: str, protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the environment says."""
    endpoint = find_endpoint(key, protocol)
    for variable in (*endpoint.base_url_env, *endpoint.api_key_env):
        monkeypatch.setenv(variable, "nonsense")
    check_endpoint(endpoint)


@pytest.mark.parametrize(
    ("key", "model"),
    [
        ("openai", "gpt-4o-mini"),
        ("anthropic", "claude-sonnet-5-5"),
        ("amazon", "meta.llama3-3-70b-instruct-v1:0"),
        ("google", "gemini-2.5-pro"),
        ("moonshot", "kimi-k3"),
    ],
)
def test_a_model_of_its_own(key: str, model: str) -> None:
    """The quirks that hold for it are looked at as well."""
    check_endpoint(find_endpoint(key), model=model)


def test_records_that_are_whole() -> None:
    """Among them what looks odd, but works."""
    check_endpoint(record())
    check_endpoint(record(api_key_env="ACME_API_KEY"))
    check_endpoint(record(base_url="http://127.0.0.1:8000/v1", auth=KeyAuth(optional=True)))
    check_endpoint(record(base_url="http://gpu.lan/v1", auth=NoAuth(), api_key_env=()))
    check_endpoint(record(base_url=None, base_url_env=("ACME_BASE_URL",)))
    check_endpoint(record(auth=GoogleAuth(), api_key_env=()))
    check_endpoint(record(path="/models/{model}/chat", aliases={"big": "rocket/1"}))
    check_endpoint(record(per_model=[("old-.*", {"parallel": False})]))


def test_nothing_is_registered() -> None:
    """A record that was checked is still unknown, and its twin in the registry is another."""
    check_endpoint(record(key="acme-checked"))
    assert "acme-checked" not in {info.key for info in list_endpoints()}


FLAWS: dict[str, tuple[dict[str, Any], str]] = {
    # what register_endpoint() refuses as well
    "a field of another kind": (
        {"headers": {"x-region": 3}},
        "The endpoint 'acme' cannot be registered: Expected `str`, got `int` - at "
        "`$.headers[...]` (of `Endpoint`).",
    ),
    "a framing there is none of": (
        {"framing": "sses"},
        "The endpoint 'acme' cannot be registered: Invalid enum value 'sses' - at `$.framing` "
        "(of `Endpoint`).",
    ),
    "a key with a dot": (
        {"key": "ac.me"},
        "An endpoint's key must not be empty or hold a dot, and its protocol must be one word of "
        "small letters: 'ac.me', 'chat'.",
    ),
    "a dialect there is none of": ({"dialect": "esperanto"}, "There is no dialect 'esperanto'."),
    "a quirk there is none of": (
        {"quirks": {"paralel": False}},
        "openai_chat knows no quirk 'paralel'; did you mean 'parallel'?",
    ),
    "a quirk with a value that is none": (
        {"quirks": {"choice": "objekt"}},
        "openai_chat cannot take the quirk choice='objekt': Invalid enum value 'objekt' - at "
        "`$.choice`.",
    ),
    "a pattern that is none": (
        {"per_model": (("(", {}),)},
        "acme: per_model pattern '(' is no regular expression: missing ), unterminated subpattern "
        "at position 0.",
    ),
    # where its key is
    "no variable of the key": (
        {"api_key_env": ()},
        "api_key_env names no variable: name the one its key is read from, or set "
        "auth=KeyAuth(optional=True) for a server that needs none.",
    ),
    "a variable nobody reads": (
        {"auth": NoAuth()},
        "auth=NoAuth() sends no key, so api_key_env is never read: leave it out, or say how the "
        "key travels with auth=KeyAuth(…).",
    ),
    "a key for a variable": (
        {"api_key_env": ("sk-0123456789abcdef0123",)},
        "api_key_env holds what is no environment variable's name: give the name, such as "
        "ACME_API_KEY, and not its value.",
    ),
    "a key in a header": (
        {"headers": {"Authorization": "Bearer ***"}},
        "headers holds 'Authorization', where a key belongs, and a record holds none: say with "
        "auth= how the key travels, and with api_key_env= where it is read.",
    ),
    "a key in the key's own header": (
        {"headers": {"x-acme": "***"}, "auth": KeyAuth(header="X-Acme", prefix="")},
        "headers holds 'x-acme', where a key belongs, and a record holds none: say with auth= how "
        "the key travels, and with api_key_env= where it is read.",
    ),
    "what looks like a key in a header": (
        {"headers": {"x-team": "sk-0123456789abcdef0123"}},
        "headers holds a key under 'x-team', and a record holds none: say with auth= how the key "
        "travels, and with api_key_env= where it is read.",
    ),
    "a key in the body": (
        {"body": {"api_key": "any"}},
        "body holds a key under 'api_key', and a record holds none: say with auth= how the key "
        "travels, and with api_key_env= where it is read.",
    ),
    "a key in the URL": (
        {"base_url": "https://api.acme.example/v1?key=0123"},
        f"{URL}?key=*** holds a key: keys travel in a header, which auth= names.",
    ),
    # headers
    "a header of two lines": (
        {"headers": {"x-team": "a\r\nb: c"}},
        "The header 'x-team' of acme cannot be sent: it holds a line break, another control "
        "character, or characters outside Latin-1. Look at the option it is from.",
    ),
    "a key's header that is none": (
        {"auth": KeyAuth(header="x acme")},
        "The header 'x acme' of acme cannot be sent: it holds a line break, another control "
        "character, or characters outside Latin-1. Look at the option it is from.",
    ),
    "a header of the transport's": (
        {"headers": {"Host": "acme.example"}},
        "headers holds 'Host', which the transport writes: leave it out.",
    ),
    # the body
    "a constant that is no JSON": (
        {"body": {"extra": object}},
        "body cannot be sent. The request holds something that is no JSON: Encoding objects of "
        "type type is unsupported. Leave that out of it.",
    ),
    "a constant of the dialect's": (
        {"body": {"stream": True}},
        "body holds 'stream', which the dialect writes itself: leave it out.",
    ),
    # where it goes
    "another scheme": (
        {"base_url": "ftp://api.acme.example"},
        "The base URL 'ftp://api.acme.example' of acme cannot be used: it must begin with https:// "
        "or http://.",
    ),
    "no scheme": (
        {"base_url": "api.acme.example/v1"},
        "The base URL 'api.acme.example/v1' of acme cannot be used: it must begin with https:// or "
        "http://.",
    ),
    "a key in the clear": (
        {"base_url": "http://api.acme.example/v1"},
        f"{URL.replace('https', 'http')} would send a key over plain http to another machine: use "
        "https.",
    ),
    "a placeholder nobody fills": (
        {"path": "/{deployment}/chat"},
        "https://api.acme.example/v1/{deployment}/chat holds a placeholder that nothing fills: "
        "{model} is the only one.",
    ),
    "a path without its slash": (
        {"stream_path": "chat"},
        "stream_path='chat' must begin with a slash: it follows the base URL as it is.",
    ),
    "a place that needs what nobody gives": (
        {"place": lambda values, model: Place(f"https://{values['region']}.example/v1")},
        "place= ends in KeyError: 'region'. It must return a Place, whatever the values of "
        "settings= are that it is given: those that are required or have a default are always "
        "there.",
    ),
    "a place that is none": (
        {"place": lambda values, model: "https://api.acme.example"},
        "place= returns 'https://api.acme.example': it must return a Place.",
    ),
    "a place that is nowhere": (
        {"place": lambda values, model: Place(values.get("base_url", "nowhere"))},
        "The base URL 'nowhere' of acme cannot be used: it must begin with https:// or http://.",
    ),
    "a model that is said nowhere": (
        {
            "dialect": "anthropic_messages",
            "quirks": {"model_in_body": False},
            "path": "/messages",
        },
        "Neither https://api.acme.example/v1/messages nor the body names the model: put {model} "
        "into path=, or leave the model in the body.",
    ),
    # names
    "an alias of nothing": (
        {"aliases": {"big": ""}},
        "The alias 'big' leads to '': neither may be empty.",
    ),
    "an alias that reads as a protocol": (
        {"aliases": {"chat.v1": "rocket-1"}},
        "The alias 'chat.v1' reads as a protocol key, so it names no model: choose another word.",
    ),
    "an alias of an alias": (
        {"aliases": {"best": "big", "big": "rocket-1"}},
        "The alias 'best' leads to 'big', an alias itself: let it lead to the model.",
    ),
    "a model id that fails": (
        {"model_id": lambda model: {}[model]},
        "model_id= ends in KeyError for 'some-model': 'some-model'. It must return the model's "
        "name on the wire.",
    ),
    "a model id that is none": (
        {"model_id": lambda model: None},
        "model_id= returns None for 'some-model': it must return a name.",
    ),
    "a setting nobody can give": (
        {"settings": (Setting("zone"),)},
        "The setting 'zone' can be given by nobody: use_llm() has no such option, so name a "
        "variable in env=, or a default=.",
    ),
    "a setting twice": (
        {"settings": (Setting("region"), Setting("region"))},
        "The setting 'region' is there twice: leave one out.",
    ),
    "a setting's variable": (
        {"settings": (Setting("region", env=("the region",)),)},
        "the setting 'region' holds what is no environment variable's name: give the name, such as "
        "ACME_API_KEY, and not its value.",
    ),
    "a launcher that names no function": (
        {"launcher": "acme.launching"},
        "launcher='acme.launching' must be written as 'package.module:function'.",
    ),
    "signatures of nobody": (
        {"replay_key": ""},
        "replay_key is empty: name whose signatures are read back, or leave it out.",
    ),
}


@pytest.mark.parametrize("flaw", FLAWS)
def test_each_flaw_is_told(flaw: str) -> None:
    """In a line that says what to change."""
    fields, words = FLAWS[flaw]
    assert flaws(record(**fields)) == [words]


def test_a_place_that_nothing_satisfies() -> None:
    """What it says itself is the flaw."""

    def place(values: Any, model: str) -> Place:
        raise ConfigurationError(f"acme is not at {values.get('base_url')}.")

    assert flaws(record(place=place)) == ["acme is not at https://some-host.example/v1."]


def test_all_flaws_are_told_at_once() -> None:
    """In the record's order, each once."""
    broken = record(
        key="ac.me",
        base_url="http://api.acme.example/{region}",
        headers={"host": "acme.example", "cookie": "a=b"},
        aliases={"big": ""},
        quirks={"parallel": "no"},
    )
    assert [line.split(":")[0].split(",")[0] for line in flaws(broken)] == [
        "An endpoint's key must not be empty or hold a dot",
        "openai_chat cannot take the quirk parallel='no'",
        "headers holds 'host'",
        "headers holds 'cookie'",
        "The alias 'big' leads to ''",
    ]
    mended = replace(broken, key="acme", aliases={}, quirks={}, headers={})
    url = "http://api.acme.example/{region}/chat/completions"
    assert flaws(mended) == [
        f"{url} would send a key over plain http to another machine: use https.",
        f"{url} holds a placeholder that nothing fills: {{model}} is the only one.",
    ]


def test_a_key_in_a_record_is_never_shown() -> None:
    """Whoever reads the log of a test run reads the error."""
    key = "sk-0123456789abcdef0123"
    broken = record(
        api_key_env=(key,),
        base_url=f"https://api.acme.example/v1?api_key={key}",
        headers={"x-key": key, "x-two": f"{key}\n"},
        body={"access_token": key},
    )
    told = flaws(broken)
    assert len(told) == 6
    assert not any("0123456789" in line for line in told)


def test_flaws_of_some_models_say_of_which() -> None:
    """An alias or a pattern is named; what holds for all is told once."""

    def place(values: Any, model: str) -> Place:
        return Place("https://api.acme.example" if model != "rocket-1" else "nowhere")

    assert flaws(record(base_url=None, place=place, aliases={"big": "rocket-1"})) == [
        "Under the alias 'big': The base URL 'nowhere' of acme cannot be used: it must begin with "
        "https:// or http://."
    ]
    silent = ("old-.*", {"model_in_body": False})
    claude = record(dialect="anthropic_messages", per_model=(("new-.*", {}), silent))
    assert flaws(claude) == [
        "For models like 'old-.*': Neither https://api.acme.example/v1/v1/messages nor the body "
        "names the model: put {model} into path=, or leave the model in the body."
    ]


def speak(monkeypatch: pytest.MonkeyPatch, name: str, **changes: Any) -> None:
    """A dialect that is Chat Completions but for this."""
    dialect = replace(find_dialect("openai_chat"), **{"key": name, **changes})
    monkeypatch.setitem(sys.modules, f"llm_tools.dialects.{name}", SimpleNamespace(DIALECT=dialect))


def test_a_table_of_support_that_is_not_true(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes of each option is held against it, in each direction."""
    chat = find_dialect("openai_chat")
    wrong = {"subset": "native", "any": "refused", "seed": "refused", "image": "emulated"}
    speak(monkeypatch, "boasting", support=lambda target: {**chat.support(target), **wrong})
    endpoint = record(dialect="boasting", quirks={"images": "refused"})
    end = "change the quirks, so that both agree."
    assert flaws(endpoint) == [
        f"function_call='any' is native, but the table of support says that 'any' is refused: {end}",
        "function_call='any' of a stream is native, but the table of support says that 'any' is "
        f"refused: {end}",
        "function_call={'names': ['get_weather', 'ping']} is emulated, but the table of support "
        f"says that 'subset' is native: {end}",
        "function_call={'names': ['get_weather', 'ping']} of a stream is emulated, but the table "
        f"of support says that 'subset' is native: {end}",
        "a message with an image is refused, but the table of support says that 'image' is "
        f"emulated: {end}",
        f"seed=7 is native, but the table of support says that 'seed' is refused: {end}",
    ]


def test_a_table_of_support_that_lacks_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nobody knows."""
    speak(monkeypatch, "silent", support=lambda target: {})
    (told,) = flaws(record(dialect="silent"))
    assert told.startswith("The table of support has other rows than auto, none, any, named, ")
    assert told.endswith("seed: mend the dialect silent.")


def test_a_dialect_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anything but a refusal of ours is a flaw."""

    def encode(*_: Any) -> Any:
        raise ZeroDivisionError("division by zero")

    speak(monkeypatch, "failing", encode=encode)
    assert flaws(record(dialect="failing")) == [
        "a call ends in ZeroDivisionError: division by zero. It must end in an answer, or in a "
        "ConfigurationError: look at the quirks it reads."
    ]

    def support(target: Any) -> Any:
        return {}["any"]

    speak(monkeypatch, "failing_at_once", support=support)
    assert flaws(record(dialect="failing_at_once")) == [
        "The table of support ends in KeyError: 'any'. It must end in an answer, or in a "
        "ConfigurationError: look at the quirks it reads."
    ]


def test_a_dialect_that_refuses_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is of no use."""

    def encode(*_: Any) -> Any:
        raise ConfigurationError("No.")

    options = dict.fromkeys(find_dialect("openai_chat").support(_target()), "refused")
    speak(monkeypatch, "refusing", encode=encode, support=lambda target: options)
    assert flaws(record(dialect="refusing")) == [
        "Every call is refused: change the quirks, so that one can be made."
    ]


def _target() -> Any:
    from llm_tools import use_llm

    return use_llm("openai.gpt-4o-mini").target


def test_a_header_of_the_dialects(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a dialect adds to a request is looked at as well."""
    chat = find_dialect("openai_chat")

    def encode(*given: Any) -> Any:
        return replace(chat.encode(*given), headers={"x-beta": "a\nb"})

    speak(monkeypatch, "babbling", encode=encode)
    (told,) = flaws(record(dialect="babbling"))
    assert told.startswith("The header 'x-beta' of acme cannot be sent: it holds a line break")


@pytest.mark.parametrize("given", ["acme", None, {"key": "acme"}])
def test_what_is_no_record(given: Any) -> None:
    """A typed error."""
    with pytest.raises(ConfigurationError, match=r"check_endpoint\(\) takes an Endpoint, got"):
        check_endpoint(given)
    with pytest.raises(ConfigurationError, match="model must be a string, got 5"):
        check_endpoint(record(), model=5)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="model must name a model"):
        check_endpoint(record(), model="")


@pytest.mark.parametrize("flaw", list(FLAWS)[:7])
def test_what_cannot_be_registered_is_refused_there_in_the_same_words(flaw: str) -> None:
    """The first of its flaws."""
    fields, words = FLAWS[flaw]
    with pytest.raises(ConfigurationError) as caught:
        register_endpoint(record(**fields))
    assert str(caught.value) == words
