"""Calls one after the other, the plainest comparison there is."""

from __future__ import annotations

import agent_work
from clients import opened
from measuring import Effort, Row, compare


async def compare_in_sequence(
    address: str,
    what: str,
    effort: Effort,
    *,
    aims: tuple[float | None, float | None] = (None, None),
    encoding: bool = False,
    **work: int,
) -> list[Row]:
    """The rows of calls one after the other.

    Args:
        address: the server's.
        what: what is done, for the rows.
        effort: how long to measure.
        aims: what the default and the fast transport are aimed to stay under.
        encoding: whether the floors encode the body for every call, as `llm_tools` does.
        work: how many `messages` and `tools` go out, where it is not the usual number.
    """
    async with opened(f"{address}/one", **work) as (floors, ours):
        calls = {
            name: client.call_encoding if encoding else client.call
            for name, client in floors.items()
        } | {name: client.call for name, client in ours.items()}
        for call in calls.values():
            assert await call() == [agent_work.CALL]
        return await compare(what, calls, effort, aims=aims)
