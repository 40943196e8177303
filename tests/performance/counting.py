"""What a piece of work costs, as numbers that are the same on every machine.

The cost is the number of profile events (`call` and `c_call` of `sys.setprofile`) in which code of
`llm_tools` is called or calls. What the libraries below do among themselves is not counted, so
their versions do not matter. Beside it stands the memory held at the peak, in bytes.
"""

from __future__ import annotations

import gc
import os
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import llm_tools

PACKAGE = str(Path(llm_tools.__file__).parent) + os.sep

Events = Counter[str]
"""How many events each function of ours had; a call out of ours is the caller's."""


@contextmanager
def counted(home: str = PACKAGE) -> Iterator[Events]:
    """Count the events of this thread, until the block ends, of code below the folder `home`.

    The garbage collector rests meanwhile: what it finalizes belongs to earlier work.
    """
    events: Events = Counter()
    names: dict[CodeType, str | None] = {}

    def name_of(frame: FrameType | None) -> str | None:
        if frame is None:
            return None
        code = frame.f_code
        if code not in names:
            file = code.co_filename
            ours = file.startswith(home)
            place = file[len(home) :].replace(os.sep, "/")
            names[code] = f"{place}:{code.co_qualname}" if ours else None
        return names[code]

    def tell(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            name = name_of(frame) or name_of(frame.f_back)
        elif event == "c_call":
            name = name_of(frame)
        else:
            return
        if name is not None:
            events[name] += 1

    gc.collect()
    gc.disable()
    sys.setprofile(tell)
    try:
        yield events
    finally:
        sys.setprofile(None)
        gc.enable()


def middle(runs: list[Events]) -> Events:
    """The run in the middle, by all its events: one with a hiccup of the network is at an end."""
    return sorted(runs, key=Events.total)[len(runs) // 2]


def peak_of(work: Callable[[], Any]) -> int:
    """The most bytes that Python's allocators hold for a piece of work while it runs."""
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        work()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
        gc.enable()
