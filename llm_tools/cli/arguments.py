"""What can be typed after `llm-tools`."""

from __future__ import annotations

from argparse import Action, ArgumentParser, Namespace
from collections.abc import Callable
from importlib import import_module
from typing import Any

LOCAL_MODEL = "local.smollm2"

Run = Callable[[Namespace], int]


class _Version(Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: ArgumentParser, *_: Any, **__: Any) -> None:
        from importlib.metadata import version

        print(version("llm-tools"))
        parser.exit()


def create_parser() -> ArgumentParser:
    """The whole command line; each subcommand's `run` takes the parsed options."""
    parser = ArgumentParser(prog="llm-tools", description="Tool calling from the command line.")
    parser.add_argument("--version", action=_Version, nargs=0, help="show it and leave")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="a function call from end to end, checked")
    demo.add_argument("--model", default=LOCAL_MODEL, metavar="KEY", help="default: %(default)s")
    demo.add_argument("--loop", choices=("asyncio", "trio"), default="asyncio")
    demo.set_defaults(run=_lazy("demo"))

    endpoints = commands.add_parser("endpoints", help="every endpoint and what it supports")
    endpoints.add_argument("--json", action="store_true", help="for programs")
    endpoints.set_defaults(run=_lazy("endpoints"))

    explain = commands.add_parser("explain", help="what a request to a model looks like")
    explain.add_argument("key", metavar="KEY", help="such as openai.gpt-4o-mini")
    explain.add_argument("--model", help="beside a protocol key such as openai.chat.v1")
    explain.set_defaults(run=_lazy("explain"))

    call = commands.add_parser("call", help="ask a model, print its answer")
    call.add_argument("key", metavar="KEY", help="such as openai.gpt-4o-mini")
    call.add_argument("text", help="what to say; - reads it from stdin")
    call.add_argument("--model", help="beside a protocol key such as openai.chat.v1")
    call.add_argument("--system", help="instructions")
    call.set_defaults(run=_lazy("call"))

    local = commands.add_parser("local", help="the model on this machine")
    actions = local.add_subparsers(title="actions", required=True, metavar="ACTION")
    for name, does in (("fetch", "get its weights"), ("status", "say what is there")):
        actions.add_parser(name, help=does).set_defaults(run=_lazy("local", name))
    return parser


def _lazy(module: str, function: str = "run") -> Run:
    def run(options: Namespace) -> int:
        found: Run = getattr(import_module(f".{module}", __package__), function)
        return found(options)

    return run
