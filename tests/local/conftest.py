"""The local model in tests: the real engine on a tiny model, or the real weights where marked."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from local.scripted_engine import ScriptedEngine
from local.tiny_model import write_tiny_model

from llm_tools.integrations.local import launching


@pytest.fixture(scope="session")
def tiny_gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "tiny.gguf"
    write_tiny_model(path)
    return path


@pytest.fixture(scope="module", autouse=True)
def own_process() -> Iterator[None]:
    """What a module starts ends with it."""
    yield
    launching.stop()


@pytest.fixture
def tiny_model(tiny_gguf: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The endpoint `local` runs the tiny model."""
    if find_spec("xllamacpp") is None:
        pytest.skip("needs the extra `local`")
    monkeypatch.setenv("LLM_TOOLS_LOCAL_MODEL", str(tiny_gguf))
    return tiny_gguf


@pytest.fixture
def engine() -> Iterator[ScriptedEngine]:
    with ScriptedEngine() as running:
        yield running
