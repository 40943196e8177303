"""How Sphinx builds the documentation: `sphinx-build -n -W --keep-going docs docs/_build`."""

from importlib.metadata import version as version_of

project = "llm_tools"
author = "the llm_tools contributors"
copyright = author
release = version_of("llm-tools")
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "changelog.d"]
suppress_warnings: list[str] = []

html_theme = "furo"
html_title = f"{project} {release}"
html_copy_source = False

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

# The docstrings are Google style with Markdown's single backticks.
default_role = "code"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False

autodoc_member_order = "bysource"
autodoc_class_signature = "separated"
autodoc_typehints = "none"  # the signatures hold the types as they are written in the code
autodoc_preserve_defaults = True
