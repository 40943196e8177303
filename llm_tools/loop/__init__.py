"""The loop around a model: call, dispatch, reply, until text."""

from __future__ import annotations

from .conversation import is_continued, split_prompt
from .limits import RunLimits
from .options import Ask, ChooseByTurn, KeptOptions, OnEvent, RunOptions
from .pending import PendingRun
from .run import Run

__all__ = [
    "Ask",
    "ChooseByTurn",
    "KeptOptions",
    "OnEvent",
    "PendingRun",
    "Run",
    "RunLimits",
    "RunOptions",
    "is_continued",
    "split_prompt",
]
