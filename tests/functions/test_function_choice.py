"""`function_call` as it is given."""

from __future__ import annotations

import pytest

from llm_tools import ConfigurationError
from llm_tools.functions.choice import read_function_call


def test_the_word_of_another_api_is_translated_in_the_error() -> None:
    """Who writes 'required' is told that it is called 'any' here."""
    with pytest.raises(ConfigurationError, match=r"Offered: look\. To have any function .* 'any'"):
        read_function_call("required", ["look"])


def test_a_function_of_that_name_is_just_called() -> None:
    """'required' is no mode: a function may have that name."""
    choice = read_function_call("required", ["required"])
    assert choice is not None
    assert choice.named == "required"


def test_another_unknown_name_gets_no_such_hint() -> None:
    """The hint is for that word alone."""
    with pytest.raises(ConfigurationError) as refused:
        read_function_call("go", ["look"])
    assert str(refused.value).endswith("Offered: look.")
