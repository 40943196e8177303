"""Prompts fill the templates of their author, once, and evaluate nothing else."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from llm_tools.content import (
    Message,
    OutputResultFunctionUse,
    OutputResultImage,
    OutputResultText,
)
from llm_tools.dialogue import create_dialogue
from llm_tools.errors import ConfigurationError, PromptError
from llm_tools.prompts import (
    ChatPrompt,
    Literal,
    TextPrompt,
    create_chat_prompt,
    create_prompt,
)


def one(template: Any, values: Any = None) -> Any:
    (message,) = create_chat_prompt(template).format(values)
    return message.content


def test_a_chat_prompt_fills_messages_of_all_roles() -> None:
    """In the order they were added; the methods return the prompt."""
    prompt = (
        create_chat_prompt("You help {{ user }}.")
        .add_user_message("{{ question }}")
        .add_assistant_message("Hm, {{ user }}.")
        .add_function_call_message("look_up", {"who": ["{{ user }}"], "n": 1}, "c1")
        .add_function_message({"found": "{{ user }}!"}, "look_up", "c1", is_error=True)
        .add_system_message("Bye.")
    )
    assert prompt.format({"user": "Ada", "question": "Who?", "unused": 1}) == [
        Message(role="system", content="You help Ada."),
        Message(role="user", content="Who?"),
        Message(role="assistant", content="Hm, Ada."),
        Message(
            role="assistant",
            content=(
                OutputResultFunctionUse(
                    name="look_up", input={"who": ["Ada"], "n": 1}, function_id="c1"
                ),
            ),
        ),
        Message(
            role="function",
            content={"found": "Ada!"},
            name="look_up",
            function_id="c1",
            is_error=True,
        ),
        Message(role="system", content="Bye."),
    ]


def test_a_prompt_can_be_used_again_with_other_values() -> None:
    """Nothing of one call is left for the next."""
    prompt = create_chat_prompt("{{ a }}")
    assert [prompt.format({"a": value})[0].content for value in ("x", "y", "x")] == ["x", "y", "x"]


def test_a_text_prompt_is_one_user_message() -> None:
    """Its templates are put together as they are."""
    prompt = create_prompt("text", "Dear {{ name }},").add_text("\nyes").add_text(Literal("{{"))
    assert prompt.format({"name": "Ada"}) == [Message(role="user", content="Dear Ada,\nyes{{")]
    assert create_prompt("text").format() == [Message(role="user", content="")]


def test_create_prompt_makes_the_kind_asked_for() -> None:
    """Chat or text, nothing else."""
    assert isinstance(create_prompt("chat", "s"), ChatPrompt)
    assert isinstance(create_prompt(), ChatPrompt)
    assert isinstance(create_prompt("text"), TextPrompt)
    with pytest.raises(ConfigurationError, match="'chat' and 'text'"):
        create_prompt("poem")
    assert create_chat_prompt().format() == []


@dataclasses.dataclass
class Asked:
    a: int


class AskedStruct(msgspec.Struct):
    a: int


@pytest.mark.parametrize(
    ("template", "values", "expected"),
    [
        ("{{ a }}", Asked(1), "1"),
        ("{{ a }}", AskedStruct(a=1), "1"),
        ("{{ input }}", "hi", "hi"),
        ("{{ input }}", 5, "5"),
        ("{{input}}{{ input }}", {"input": "x"}, "xx"),
        ("no template", None, "no template"),
        ("{ single } }} {", None, "{ single } }} {"),
        ("{{ a }}}", {"a": 1}, "1}"),
        ("a\r\n{{ a }}\n", {"a": 1}, "a\r\n1\n"),
        ("{{ a }}", {"a": "<b>&'\""}, "<b>&'\""),
        ("{{ a }}", {"a": "{{ b }}{% x"}, "{{ b }}{% x"),
        ("{% for x in xs %}{{ loop.index }}{{ x }}\n{% endfor %}", {"xs": "ab"}, "1a\n2b\n"),
        ("{{ a.b[0] }}", {"a": {"b": "x"}}, "x"),
        ("{{ a | upper }}", {"a": "<é"}, "<É"),
        ("{% if a is defined %}{{ a }}{% else %}none{% endif %}", {}, "none"),
        ("{{ a | default('x') }}", {}, "x"),
        ("{{ a | tojson }}", {"a": {"t": "<'&>", "n": {1}}}, '{"t":"<\'&>","n":[1]}'),
        ("{{ a | tojson(indent=1) }}", {"a": [1]}, "[\n 1\n]"),
        ("{# note #}x", {}, "x"),
        ("{{ true }}", {}, "True"),
        ("{{ range }}", {"range": "mine"}, "mine"),
        ("{% for i in range(3) %}{{ i }}{% endfor %}", {}, "012"),
        ("{{ 6 * 7 }}{{ 'ab' * 2 }}{{ 2 ** 8 }}{{ '%s' % a }}{{ [1] * 2 }}", {"a": 1}, "42abab2561[1, 1]"),
        ("{{ ünder }}", {"ünder": 1}, "1"),
    ],
)  # fmt: skip
def test_templates_are_filled_verbatim(template: str, values: Any, expected: str) -> None:
    """Nothing is escaped, values are never templates, line ends stay."""
    assert one(template, values) == expected


@pytest.mark.parametrize("template", ["{{ who }}", "{{ who | upper }}", "{% if who %}{% endif %}"])
def test_a_missing_variable_is_named(template: str) -> None:
    """The error names it and what was given, never the values."""
    with pytest.raises(PromptError, match=r"'who'.*given: key") as caught:
        one(template, {"key": "SECRET"})
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("name", ["range", "dict", "namespace", "cycler", "joiner"])
def test_a_word_of_jinja2_is_no_value(name: str) -> None:
    """Where a value of that name is missing; given, it is filled in."""
    prompt = create_chat_prompt(f"In {{{{ {name} }}}}.")
    with pytest.raises(PromptError, match=f"'{name}'"):
        prompt.format({})
    assert prompt.format({name: "kube-system"})[0].content == "In kube-system."
    words = (
        "{% set n = namespace(x=dict(a=1)) %}{{ n.x.a }}{% for i in range(2) %}{{ i }}{% endfor %}"
    )
    assert create_chat_prompt(words).format({})[0].content == "101"


def test_the_template_itself_is_no_value() -> None:
    """Jinja2 keeps `self` for it, whatever the values."""
    with pytest.raises(PromptError, match="'self' is the template itself"):
        create_chat_prompt("{{ self }}").format({"self": "me"})


def test_a_missing_attribute_is_named() -> None:
    """Also inside a value."""
    with pytest.raises(PromptError, match="'nope'"):
        one("{{ a.nope }}", {"a": {}})


@pytest.mark.parametrize("broken", ["{{ x", "{% if %}", "{{{ x }}}", "{% endfor %}", "{{ a b }}"])
def test_a_broken_template_is_refused_when_added(broken: str) -> None:
    """With its line, and the way to write braces as text."""
    with pytest.raises(PromptError, match=r"line 2.*Literal"):
        create_chat_prompt().add_user_message(f"first\n{broken}")


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ a.append(1) }}",
        "{{ a.__init__.__globals__ }}",
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{{ range(10 ** 9) }}",
        "{{ 'x' * 10 ** 9 }}",
        "{{ 10 ** 9 * 'x' }}",
        "{{ a * 10 ** 9 }}",
        "{{ 9 ** 99999 }}",
        "{{ (9 ** 3000) * (9 ** 3000) }}",
        "{{ '%99999d' % 1 }}",
        "{{ '%*d' % (9, 1) }}",
        "{{ 'x'.ljust(9) }}",
        "{{ '{:9}'.format(1) }}",
        "{% for i in range(60000) %}{{ 'x' * 1000 }}{% endfor %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{{ 1 / 0 }}",
        "{{ boom }}",
    ],
)
def test_the_sandbox_holds(template: str) -> None:
    """No way to Python's insides, no changed values, no result out of all proportion."""

    class Boom:
        def __str__(self) -> str:
            raise RuntimeError("no")

    values = {"a": [1], "boom": Boom()}
    with pytest.raises(PromptError):
        one(f"{{% if true %}}{template}{{% endif %}}", values)
    assert values["a"] == [1]


def test_removed_filters_are_unknown_when_added() -> None:
    """Filters that pad without limit are not there."""
    for template in ("{{ 'x' | center(9) }}", "{{ '%9d' | format(1) }}"):
        with pytest.raises(PromptError, match="No filter"):
            create_chat_prompt(template)
    with pytest.raises(PromptError, match=r"cannot be compiled|could not be filled"):
        one("{{" + "(" * 2000 + "1" + ")" * 2000 + "}}")


def test_literal_text_is_no_template() -> None:
    """Alone, among parts, and in nested values."""
    prompt = (
        create_chat_prompt(Literal("{{ x }}"))
        .add_user_message([Literal("{{ y"), {"type": "text", "text": "{{ z }}"}])
        .add_function_message([Literal("{{"), "{{ z }}"], "f", "c")
    )
    assert prompt.format({"z": 1}) == [
        Message(role="system", content="{{ x }}"),
        Message(role="user", content=(OutputResultText(text="{{ y"), OutputResultText(text="1"))),
        Message(role="function", content=["{{", "1"], name="f", function_id="c"),
    ]


def test_structs_are_data() -> None:
    """What models and dialogues are made of is never a template."""
    use = OutputResultFunctionUse(name="f", input={"t": "{{ x }}"}, function_id="c")
    text = OutputResultText(text="{{ x }}")
    prompt = create_chat_prompt().add_assistant_message([text, use]).add_function_call_message(use)
    assert prompt.add_function_call_message([use]).format() == [
        Message(role="assistant", content=(text, use)),
        Message(role="assistant", content=(use,)),
        Message(role="assistant", content=(use,)),
    ]


def test_images_are_parts_and_may_be_templates() -> None:
    """Also base64 data, which is checked once it is filled in."""
    prompt = create_chat_prompt().add_user_message(
        [
            {"type": "image", "url": "https://x/{{ name }}.png"},
            {"type": "image", "data": "{{ data }}", "mediaType": "image/png"},
        ]
    )
    (message,) = prompt.format({"name": "a", "data": "aGk="})
    assert message.content == (
        OutputResultImage(url="https://x/a.png"),
        OutputResultImage(data="aGk=", media_type="image/png"),
    )
    with pytest.raises(ConfigurationError, match="message 0 of the prompt at /content/1/data"):
        prompt.format({"name": "a", "data": "?"})


def test_history_is_copied_when_added_and_looked_up_by_key() -> None:
    """A dialogue, messages or text; `add_from_history` takes it as it is then."""
    dialogue = create_dialogue().add_user_message("{{ a }}")
    prompt = create_chat_prompt().add_from_history(dialogue).add_chat_history_placeholder("past")
    first = dialogue.history
    dialogue.add_assistant_message("b")
    assert prompt.format({"past": dialogue}) == [*first, *dialogue.history]
    assert prompt.format({"past": "x"}) == [*first, Message(role="user", content="x")]
    assert prompt.format({"past": []}) == [*first]
    with pytest.raises(PromptError, match="'past'"):
        prompt.format({})
    with pytest.raises(ConfigurationError, match=r"messages\[0\]"):
        prompt.format({"past": [1]})


@pytest.mark.parametrize(
    ("add", "error"),
    [
        (lambda p: p.add_user_message(5), ConfigurationError),
        (lambda p: p.add_user_message(["x"]), ConfigurationError),
        (lambda p: p.add_user_message([{"type": "image"}]), ConfigurationError),
        (lambda p: p.add_function_call_message("f", {}), ConfigurationError),
        (lambda p: p.add_function_call_message(5), ConfigurationError),
        (lambda p: p.add_from_history([5]), ConfigurationError),
    ],
)
def test_what_makes_no_message_is_refused_when_added(add: Any, error: type[Exception]) -> None:
    """Where no value is needed, nothing waits for the call."""
    with pytest.raises(error):
        add(create_chat_prompt())


def test_a_text_prompt_takes_text_only() -> None:
    """A template is text."""
    with pytest.raises(PromptError, match="got int"):
        create_prompt("text").add_text(5)


def test_nesting_ends() -> None:
    """A value far too deep is refused, not followed."""
    deep: Any = "{{ x }}"
    for _ in range(500):
        deep = [deep]
    with pytest.raises(PromptError, match="levels"):
        create_chat_prompt().add_function_message(deep, "f", "c")


def test_names_alone_need_no_jinja2() -> None:
    """Plain `{{ name }}` templates leave the engine unimported."""
    code = (
        "import sys\n"
        "from llm_tools.prompts import create_chat_prompt\n"
        "p = create_chat_prompt('{{ a }} {b}').add_user_message('x')\n"
        "assert p.format({'a': 1})[0].content == '1 {b}'\n"
        "assert 'jinja2' not in sys.modules\n"
        "create_chat_prompt('{{ a|upper }}')\n"
        "assert 'jinja2' in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@given(st.text(), st.text(alphabet="{}%# ax"))
def test_values_reach_the_message_unchanged(text: str, braces: str) -> None:
    """Whatever a value holds, by the short way and through Jinja2."""
    assert one("{{ v }}", {"v": braces}) == braces
    assert one("{{ v }}{% if true %}{% endif %}", {"v": text}) == text
    assert create_chat_prompt(Literal(braces)).format()[0].content == braces


@given(st.text(alphabet="{}%#| axy'\n"))
def test_a_template_is_filled_or_refused(template: str) -> None:
    """Any text at all: a message or a `PromptError`."""
    try:
        content = one(template, {"a": 1, "x": "y"})
    except PromptError:
        return
    assert isinstance(content, str)
