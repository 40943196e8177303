"""Executors: a handler, or a prompt with a model and a parser, behind one `execute`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, overload

from ..model import Model
from ..parsers import Parser
from .core import CoreExecutor, Executor
from .deprecated import LlmExecutorOpenAiFunctions
from .functions import LlmExecutorWithFunctions
from .hooks import ExecutionMetadata, GivenHooks, Hooks
from .keywords import RunKeywords
from .llm import LlmExecutor, PromptSource
from .running import RunStream

__all__ = [
    "CoreExecutor",
    "ExecutionMetadata",
    "Executor",
    "Hooks",
    "LlmExecutor",
    "LlmExecutorOpenAiFunctions",
    "LlmExecutorWithFunctions",
    "PromptSource",
    "RunKeywords",
    "RunStream",
    "create_core_executor",
    "create_llm_executor",
    "create_llm_function_executor",
]

T = TypeVar("T")


@overload
def create_core_executor(
    handler: Callable[[Any], Awaitable[T]],
    *,
    name: str | None = None,
    hooks: GivenHooks | None = None,
) -> CoreExecutor[T]: ...


@overload
def create_core_executor(
    handler: Callable[[Any], T],
    *,
    name: str | None = None,
    hooks: GivenHooks | None = None,
) -> CoreExecutor[T]: ...


def create_core_executor(
    handler: Callable[[Any], Any],
    *,
    name: str | None = None,
    hooks: GivenHooks | None = None,
) -> CoreExecutor[Any]:
    """An executor around a function of the input, sync or async.

    A sync one runs where `execute` is called: on the event loop.

    Args:
        handler: takes the input; what it returns is the output.
        name: told to the hooks; the handler's own if not given.
        hooks: functions by event, see `Executor.on`.
    """
    return CoreExecutor(handler, name=name, hooks=hooks)


@overload
def create_llm_executor(
    *,
    llm: Model,
    prompt: PromptSource,
    parser: None = None,
    name: str | None = None,
    hooks: GivenHooks | None = None,
) -> LlmExecutor[str]: ...


@overload
def create_llm_executor(
    *,
    llm: Model,
    prompt: PromptSource,
    parser: Parser[T],
    name: str | None = None,
    hooks: GivenHooks | None = None,
) -> LlmExecutor[T]: ...


def create_llm_executor(
    *,
    llm: Model,
    prompt: PromptSource,
    parser: Parser[Any] | None = None,
    name: str | None = None,
    hooks: GivenHooks | None = None,
) -> LlmExecutor[Any]:
    """An executor that answers in text, parsed (a string by default).

    Args:
        llm: what `use_llm` gives.
        prompt: a prompt, a string (sent as it is: no template), or a function of the input (sync
            or async) that returns one.
        parser: what turns the text into the output.
        name: told to the hooks.
        hooks: functions by event, see `Executor.on`.
    """
    return LlmExecutor(llm=llm, prompt=prompt, parser=parser, name=name, hooks=hooks)


@overload
def create_llm_function_executor(
    *,
    llm: Model,
    prompt: PromptSource,
    parser: None = None,
    name: str | None = None,
    hooks: GivenHooks | None = None,
) -> LlmExecutorWithFunctions[str]: ...


@overload
def create_llm_function_executor(
    *,
    llm: Model,
    prompt: PromptSource,
    parser: Parser[T],
    name: str | None = None,
    hooks: GivenHooks | None = None,
) -> LlmExecutorWithFunctions[T]: ...


def create_llm_function_executor(
    *,
    llm: Model,
    prompt: PromptSource,
    parser: Parser[Any] | None = None,
    name: str | None = None,
    hooks: GivenHooks | None = None,
) -> LlmExecutorWithFunctions[Any]:
    """An executor whose model may call functions; takes what `create_llm_executor` takes."""
    return LlmExecutorWithFunctions(llm=llm, prompt=prompt, parser=parser, name=name, hooks=hooks)
