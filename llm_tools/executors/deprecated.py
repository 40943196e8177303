"""Names that still work, and say what to use instead."""

from __future__ import annotations

import warnings
from typing import TypeVar

from ..model import Model
from ..parsers import Parser
from .functions import LlmExecutorWithFunctions
from .hooks import GivenHooks
from .llm import PromptSource

T = TypeVar("T")


class LlmExecutorOpenAiFunctions(LlmExecutorWithFunctions[T]):
    """Deprecated: `LlmExecutorWithFunctions` works with every provider, and takes the same."""

    def __init__(
        self,
        *,
        llm: Model,
        prompt: PromptSource,
        parser: Parser[T] | None = None,
        name: str | None = None,
        hooks: GivenHooks | None = None,
    ) -> None:
        warnings.warn(
            "LlmExecutorOpenAiFunctions is deprecated since 0.1; use LlmExecutorWithFunctions or "
            "create_llm_function_executor, which work with every provider.",
            DeprecationWarning,
            stacklevel=2,
        )
        super().__init__(llm=llm, prompt=prompt, parser=parser, name=name, hooks=hooks)
