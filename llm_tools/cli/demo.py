"""`llm-tools demo`: a small story in which every step is checked.

It uses nothing but the public interface, so it is also the shortest honest example of it.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from importlib.util import find_spec

import anyio

from ..errors import ConfigurationError, LlmToolsError
from .painting import Paint
from .story import Mismatch, Story, tell

_MODEST = (
    "This was SmolLM2 with 135 million parameters: it shows that your code works, it is no "
    "assistant.\nExpect wrong choices and false facts from it. For real use: a key and --model "
    "openai.gpt-4o-mini."
)


def run(options: Namespace) -> int:
    """Tell the story; 0 only if each step truly happened."""
    if options.loop == "trio" and find_spec("trio") is None:
        raise ConfigurationError("--loop trio needs trio: run `pip install 'llm-tools[trio]'`.")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    paint = Paint()
    try:
        anyio.run(tell, Story(options.model, paint), backend=options.loop)
    except (LlmToolsError, Mismatch) as error:
        print(paint.bad(f"\n✗ {error}"))
        return 1
    if options.model.startswith("local."):
        print(paint.dim(f"\n{_MODEST}"))
    print(paint.good("\n✓ every step happened"))
    return 0
