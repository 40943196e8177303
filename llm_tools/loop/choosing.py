"""What a turn asks of the model, and what may run in it."""

from __future__ import annotations

from ..functions.choice import FunctionCall, read_function_call
from .options import ChooseByTurn, Offered


def choose(wanted: FunctionCall | ChooseByTurn, turn: int, offered: Offered) -> FunctionCall:
    """The `function_call` of a turn (from 0): a forced one holds for the first turn only."""
    if callable(wanted):
        return wanted(turn)
    if turn == 0 or wanted is None:
        return wanted
    choice = read_function_call(wanted, offered)
    if choice is None or not choice.forced:
        return wanted
    if choice.subset is not None:
        return {"names": list(choice.subset), "mode": "auto"}
    return "auto"


def allowed(wanted: FunctionCall, offered: Offered) -> Offered | None:
    """What may run in a turn with this `function_call`; None: nothing."""
    choice = read_function_call(wanted, offered)
    if choice is None:
        return offered
    if choice.mode == "none":
        return None
    return {name: function for name, function in offered.items() if choice.allows(name)}
