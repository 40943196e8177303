"""The command `llm-tools`. Nothing heavy is imported before a subcommand runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from ..errors import LlmToolsError
from .arguments import create_parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand; 0 if it did what it was asked, 1 if not, 2 for a bad command line."""
    options = create_parser().parse_args(arguments)
    try:
        status: int = options.run(options)
    except LlmToolsError as error:
        print(f"llm-tools: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output has seen enough; what is left goes nowhere at the final flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status
