"""The loop around a model: call, dispatch, reply, until text."""

from __future__ import annotations

from .conversation import is_continued, split_prompt
from .limits import RunLimits
from .pending import PendingRun
from .run import Run, RunOptions

__all__ = ["PendingRun", "Run", "RunLimits", "RunOptions", "is_continued", "split_prompt"]
