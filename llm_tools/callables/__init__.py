"""Functions that can be run: `@tool`, `CallableExecutor`, `UseExecutors`."""

from .collecting import as_callable, by_name, visible_functions
from .decorating import Tool, tool
from .executor import CallableExecutor
from .making import create_callable_executor
from .settings import FunctionOptions, FunctionSettings
from .using import UseExecutors, use_executors

__all__ = [
    "CallableExecutor",
    "FunctionOptions",
    "FunctionSettings",
    "Tool",
    "UseExecutors",
    "as_callable",
    "by_name",
    "create_callable_executor",
    "tool",
    "use_executors",
    "visible_functions",
]
