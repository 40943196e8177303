"""How Sphinx builds the documentation: `sphinx-build -n -W --keep-going docs docs/_build`."""

from __future__ import annotations

import re
from importlib.metadata import version as version_of
from typing import Any

from llm_tools import Dialogue, PendingRun, RunResult, content, errors, llm, options, spec

project = "llm_tools"
author = "the llm_tools contributors"
copyright = author
release = version_of("llm-tools")
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "changelog.d"]

html_theme = "furo"
html_title = f"{project} {release}"
html_copy_source = False

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

nitpick_ignore_regex = [
    # Other projects' pages cannot be looked up without a network; the names say enough.
    ("py:.*", r"(collections|contextlib|httpx|msgspec|os|types|typing_extensions)\..*"),
    # A type variable has no page.
    ("py:class", r"([\w.]+\.)?[PRT]"),
    # Keywords of a method, which its docstring describes.
    ("py:class", r"llm_tools\.executors\.(running|keywords)\.\w+"),
    # A protocol with one attribute, described by `Functions`.
    ("py:class", r"llm_tools\.functions\.definitions\.HasDefinition"),
]

napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
# Unions keep their names in signatures; `reference/types.md` says what is in them.
autodoc_type_aliases = {
    name: name
    for name in (
        "Approve",
        "ChooseByTurn",
        "Decision",
        "FunctionCall",
        "FunctionLike",
        "Functions",
        "GivenHooks",
        "Hook",
        "Messages",
        "OnEvent",
        "PromptSource",
        "StreamEvent",
    )
}
autodoc_preserve_defaults = True

# Structs' hints are read when a signature is shown; these are there for type checkers only.
content.Dialogue, content.PendingRun = Dialogue, PendingRun
errors.OutputResult, errors.RunResult = content.OutputResult, RunResult
spec.JSON = options.JSON = llm.JSON = content.JSON
llm.ResultWarning = content.ResultWarning

_CODE = re.compile(r"(?<![`:\w])`([^`\n]+)`(?!`)(\w?)")


def code_spans(*arguments: Any) -> None:
    """Read single backticks in docstrings as Markdown does: as code, whatever follows."""
    lines = arguments[-1]
    lines[:] = [_CODE.sub(_literal, line) for line in lines]


def _literal(found: re.Match[str]) -> str:
    return f"``{found[1]}``" + (f"\\ {found[2]}" if found[2] else "")


_ALIAS = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")


def alias_names(*arguments: Any) -> tuple[str | None, str | None]:
    """Undo what becomes of an alias inside a union."""
    return tuple(text and _ALIAS.sub(r"\1", text) for text in arguments[-2:])


def setup(app: Any) -> None:
    """Sphinx calls this."""
    app.connect("autodoc-process-signature", alias_names)
    app.connect("autodoc-process-docstring", code_spans)
