"""Ids that are minted for calls, and who mints them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from llm_tools import ScriptedLlm, set_id_factory

pytestmark = pytest.mark.anyio


@pytest.fixture
def asked() -> Iterator[list[str]]:
    """What a factory with one idea alone was asked for; it gives up in the end."""
    given: list[str] = []

    def always_the_same() -> str:
        assert len(given) < 100
        given.append("fixed")
        return "fixed"

    set_id_factory(always_the_same)
    yield given
    set_id_factory(None)


async def test_a_factory_that_repeats_itself(asked: list[str]) -> None:
    """Its id is used once in an answer; the calls after it get other ids all the same."""
    call = {"type": "function_use", "name": "f"}
    script = ScriptedLlm([[call, call, call], call])
    calls = (await script.call("x", functions=[{"name": "f"}])).function_calls
    ids = [one.function_id for one in calls]
    assert ids[0] == "fixed"
    assert len(set(ids)) == 3
    assert all(len(made) == 9 for made in ids[1:])
    again = await script.call("x", functions=[{"name": "f"}])
    assert again.function_calls[0].function_id == "fixed"
    assert len(asked) < 30
