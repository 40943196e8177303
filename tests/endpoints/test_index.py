"""The index by which a key's records are found without loading all others is complete."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from llm_tools import endpoints, list_endpoints, registry, use_llm
from llm_tools.spec import Endpoint

PLACES = [
    (path.stem, record)
    for path in sorted(Path(endpoints.__path__[0]).glob("*.py"))
    for record in getattr(import_module(f"{endpoints.__name__}.{path.stem}"), "ENDPOINTS", ())
]
"""Every record there is, and the module it stands in."""


@pytest.fixture
def nothing_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The registry of a program that has just begun."""
    monkeypatch.setattr(registry, "_endpoints", {})
    monkeypatch.setattr(registry, "_loaded", {"entry points"})


def test_the_index_names_the_modules_of_every_key_and_no_others() -> None:
    """In both directions: no record is left out, no entry leads to a module without one."""
    found: dict[str, set[str]] = {}
    others: set[str] = set()
    for module, record in PLACES:
        if record.key in registry._MODULES:
            found.setdefault(record.key, set()).add(module)
        else:
            others.add(module)
    assert {key: set(modules) for key, modules in registry._MODULES.items()} == found
    assert set(registry._OTHERS) == others


@pytest.mark.usefixtures("nothing_loaded")
@pytest.mark.parametrize(
    ("module", "record"),
    [pytest.param(*place, id=f"{place[1].key}.{place[1].protocol}") for place in PLACES],
)
def test_every_record_is_found_by_its_name_alone(module: str, record: Endpoint) -> None:
    """By the first look-up of a program, which loads the modules of that key and no others."""
    key = f"{record.key}.{record.protocol}.v1"
    assert use_llm(key, model="some-model").target.endpoint is record
    wanted = registry._MODULES.get(record.key, registry._OTHERS)
    assert module in wanted
    assert registry._loaded == {"entry points", *wanted}


@pytest.mark.usefixtures("nothing_loaded")
def test_the_list_holds_every_record_once() -> None:
    """And nothing else."""
    listed = sorted((info.key, info.protocol) for info in list_endpoints())
    assert listed == sorted((record.key, record.protocol) for _, record in PLACES)
