"""How a host or a model departs from the Responses wire."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ...spec import Quirks

Reasoning: TypeAlias = Literal["unknown", "never", "on_request", "by_default", "always"]
"""When a model reasons. `on_request` needs an effort, `by_default` stops at effort `none`."""


class ResponsesQuirks(Quirks, frozen=True, kw_only=True):
    """Flags of an endpoint or a model.

    Attributes:
        strict: the wire holds the model to a function's schema; where it does not, the input is
            validated here.
        allowed_tools: the wire knows the choice among some of the functions sent.
        parallel_off: the wire can hold the model to one call at a time.
        min_output_tokens: the smallest `max_output_tokens` it takes.
        reasoning: when the model reasons; a reasoning model refuses sampling parameters.
        effort: it can be told how much to reason.
        encrypted_reasoning: reasoning comes encrypted, on demand, so that it can be replayed.
        forced_call_stops_reasoning: a forced call is refused while the model reasons.
        images: the model sees images.
        calls_last: calls must follow the other items of their turn.
        custom_outputs: each call of a custom tool wants an output; else the host ran it itself.
    """

    strict: bool = True
    allowed_tools: bool = True
    parallel_off: bool = True
    min_output_tokens: int = 16
    reasoning: Reasoning = "unknown"
    effort: bool = True
    encrypted_reasoning: bool = True
    forced_call_stops_reasoning: bool = False
    images: bool = True
    calls_last: bool = False
    custom_outputs: bool = False

    @property
    def takes_effort(self) -> bool:
        """Whether an effort may be sent at all."""
        return self.effort and self.reasoning != "never"

    def reasons(self, effort: str | None) -> bool:
        """Whether the model is known to reason when asked for this effort."""
        match self.reasoning:
            case "always":
                return True
            case "by_default":
                return effort != "none"
            case "on_request":
                return effort not in (None, "none")
            case _:
                return False
