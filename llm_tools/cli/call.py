"""`llm-tools call`: one question, one answer."""

from __future__ import annotations

import sys
from argparse import Namespace

import anyio

from ..content import Message, OutputResult
from ..llm import use_llm


def run(options: Namespace) -> int:
    """Print the model's answer; warnings go to stderr."""
    text = sys.stdin.read() if options.text == "-" else options.text
    result = anyio.run(_ask, options, text)
    for warning in result.warnings:
        print(f"llm-tools: {warning.code}: {warning.detail}", file=sys.stderr)
    if not result.text:
        print(f"llm-tools: no text came ({result.stop_reason}).", file=sys.stderr)
        return 1
    print(result.text)
    return 0


async def _ask(options: Namespace, text: str) -> OutputResult:
    messages = [Message(role="user", content=text)]
    if options.system:
        messages.insert(0, Message(role="system", content=options.system))
    return await use_llm(options.key, model=options.model).call(messages)
