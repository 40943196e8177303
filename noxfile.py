"""What can be checked and shown, each in an environment of its own; needs pip and nothing else."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "venv"
nox.options.sessions = ["lint", "layers", "types", "tests"]

PROJECT = nox.project.load_toml("pyproject.toml")
VENDORS = re.compile(
    r"(anthropic|bfcl|google-genai|groq|httpx2|mistralai|ollama|openai|openrouter|pydantic|sybil)\b"
)
"""They want newer versions of what the package depends on than it does itself."""
ASKS_VENDORS = re.compile(
    r"^\s*(from|import) (conformance|google.genai|groq|httpx2|mistralai|openai|pydantic|sybil)\b",
    re.MULTILINE,
)
"""How a test begins that needs them."""


def group(*names: str) -> list[str]:
    """The requirements of dependency groups, for a pip of any age."""
    return [str(one) for one in nox.project.dependency_groups(PROJECT, *names)]


@nox.session
def tests(session: nox.Session) -> None:
    """The test suite, on the installed package."""
    session.install(".", *group("tests"))
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session
def tests_lowest(session: nox.Session) -> None:
    """The test suite on the oldest versions of what the package itself depends on."""
    oldest = [re.sub(r">=([^,;]+).*", r"==\1", one) for one in PROJECT["project"]["dependencies"]]
    others = [one for one in group("tests") if not VENDORS.match(one)]
    session.install(".[vertex]", *oldest, *others)
    left_out = [*asking_vendors(), Path("tests/benchmarks")]  # those compare with a vendor's SDK
    session.run(
        "python", "-m", "pytest", *[f"--ignore={path}" for path in left_out], *session.posargs
    )


def asking_vendors() -> set[Path]:
    """The tests that ask vendors; where a folder's helper does, the folder."""
    return {
        path if path.name.startswith("test_") else path.parent
        for path in Path("tests").rglob("*.py")
        if ASKS_VENDORS.search(path.read_text())
    }


@nox.session
def lint(session: nox.Session) -> None:
    """Style, spelling, and the project's own metadata."""
    session.install(*group("lint"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("codespell")
    session.run("validate-pyproject", "pyproject.toml")


@nox.session
def layers(session: nox.Session) -> None:
    """Imports go down only."""
    session.install(".", *group("lint"))
    session.run("lint-imports")


@nox.session
def types(session: nox.Session) -> None:
    """Two type checkers, and the completeness of the public types."""
    session.install("-e", ".", *group("types", "tests"))
    session.run("mypy")
    session.run("pyright", "--verifytypes", "llm_tools", "--ignoreexternal")


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation; a broken reference is an error."""
    session.install(".", *group("docs"))
    session.run("sphinx-build", "-n", "-W", "--keep-going", "docs", "docs/_build/html")


@nox.session
def changelog(session: nox.Session) -> None:
    """What a release would say."""
    session.install(*group("changelog"))
    session.run("towncrier", "build", "--draft", "--version", PROJECT["project"]["version"])


@nox.session
def coverage(session: nox.Session) -> None:
    """How much of the package the tests reach, branches included."""
    session.install("-e", ".[local]", *group("tests"))
    session.run("coverage", "run", "-m", "pytest", *session.posargs)
    session.run("coverage", "report", "--show-missing", "--skip-covered")


@nox.session
def bench(session: nox.Session) -> None:
    """All benchmarks against their floors, and the table and plot of them in the docs."""
    session.install(".", *group("benchmarks"))
    session.run("python", "benchmarks/run_all.py", *session.posargs)


@nox.session
def local(session: nox.Session) -> None:
    """The tests that need the real model on this machine."""
    session.install(".[local]", *group("tests"))
    session.run("llm-tools", "local", "fetch")
    every_mark = ("-m", "local_model or not local_model")
    chosen = session.posargs or ("tests/local", "tests/cli")
    session.run("python", "-m", "pytest", *every_mark, *chosen)


@nox.session(reuse_venv=True)
def demo(session: nox.Session) -> None:
    """A function call from end to end on a real model, without key or network."""
    session.install("--quiet", ".[local]")
    session.run("llm-tools", "local", "fetch")
    session.run("llm-tools", "demo", *session.posargs)


@nox.session
def build(session: nox.Session) -> None:
    """The distributions, and whether the wheel works where nothing else is."""
    session.install("build")
    shutil.rmtree("dist", ignore_errors=True)
    session.run("python", "-m", "build")
    [wheel] = Path("dist").glob("*.whl")
    session.install(str(wheel))
    session.cd(session.create_tmp())
    session.run("python", "-c", "import llm_tools; print(len(llm_tools.list_endpoints()))")
    session.run("llm-tools", "--help", silent=True)
