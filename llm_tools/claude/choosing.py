"""The choice among functions, where it meets thinking."""

from __future__ import annotations

from ..content import ResultWarning
from ..errors import UnsupportedOptionError
from ..functions.definitions import FunctionSet
from ..functions.preparing import PreparedFunctions, prepare_functions
from ..functions.subsets import WireRules
from ..spec import Body, Call, Quirks
from ..turns import functions_of_history, has_calls

FUNCTIONS_REBUILT = ResultWarning(
    code="functions_rebuilt",
    detail="The history holds calls, so the functions in it were declared again, without schemas.",
)
SUBSET_CHECKED = ResultWarning(
    code="subset_checked",
    detail=(
        "The history holds reasoning signed over all functions, so all were sent; whether the "
        "model kept to the choice is checked here."
    ),
)


class ForcingQuirks(Quirks, frozen=True, kw_only=True):
    """Flags of models that say how they take a forced call.

    Attributes:
        forced_choice: the model takes a forced call at all.
        forced_needs_thinking_off: it takes one only while thinking is switched off.
    """

    forced_choice: bool = True
    forced_needs_thinking_off: bool = False


def allow_forced(
    model: str, quirks: ForcingQuirks, call: Call, thinking: str | None
) -> tuple[Body, tuple[ResultWarning, ...]]:
    """The model's own fields a forced call needs beside it, and what must be said.

    https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use

    Args:
        model: its name, for the message.
        quirks: the model's.
        call: the call, which forces.
        thinking: the `thinking.type` the caller asked for in `extra_body`.

    Raises:
        UnsupportedOptionError: the model refuses a forced call, or refuses it here.
    """
    if not quirks.forced_choice:
        raise UnsupportedOptionError(
            f"{model} refuses a forced call; use function_call='auto' and say in the prompt which "
            "function to call, or another model."
        )
    if thinking == "enabled":
        raise UnsupportedOptionError(
            "A forced call cannot be had while thinking is enabled; take 'thinking' out of "
            "extra_body, or use function_call='auto'."
        )
    off = thinking == "disabled" or (thinking is None and call.params.effort == "none")
    if off or not quirks.forced_needs_thinking_off:
        return {}, ()
    if thinking is not None or call.params.effort is not None:
        raise UnsupportedOptionError(
            f"{model} refuses a forced call while it thinks; leave effort and 'thinking' out, or "
            "use function_call='auto'."
        )
    detail = "Thinking was switched off: the model refuses a forced call while it thinks."
    warning = ResultWarning(code="thinking_switched_off", detail=detail)
    return {"thinking": {"type": "disabled"}}, (warning,)


def only_named(
    functions: FunctionSet, prepared: PreparedFunctions, names: tuple[str, ...]
) -> tuple[PreparedFunctions, tuple[ResultWarning, ...]]:
    """The functions of these names, for the wire cannot say a subset; made once."""
    kept = functions.cached(("only", prepared, names), lambda: _only(prepared, names))
    detail = f"Only {', '.join(names)} went out: the wire cannot say a subset."
    return kept, (ResultWarning(code="subset_filtered", detail=detail),)


def functions_again(call: Call, rules: WireRules) -> PreparedFunctions | None:
    """Those of the history, declared again: both wires want them beside calls in it."""
    if not has_calls(call.messages):
        return None
    return prepare_functions(functions_of_history(call.messages), rules, strict=False)


def _only(prepared: PreparedFunctions, names: tuple[str, ...]) -> PreparedFunctions:
    return PreparedFunctions(
        tuple(item for item in prepared.items if item.definition.name in names)
    )
