"""Another process: takes up a run from its JSON on stdin, and prints what came of it."""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio

from llm_tools import (
    Edited,
    FunctionResult,
    PendingRun,
    Refused,
    ScriptedLlm,
    create_chat_prompt,
    create_llm_function_executor,
    tool,
)

made: list[int] = []


@tool(requires_approval=True)
def pay(amount: int) -> str:
    """Pay."""
    made.append(amount)
    return f"paid {amount}"


@tool
def look(key: str) -> str:
    """Look it up."""
    raise AssertionError("this one was done before")


DECISIONS: dict[str, Any] = {
    "yes": True,
    "no": False,
    "never": Refused("out of budget"),
    "less": Edited({"amount": 1}),
    "by_hand": FunctionResult(name="", function_id="", content="paid in cash"),
}


async def main(backend: str) -> None:
    pending = PendingRun.from_json(sys.stdin.read())
    llm = ScriptedLlm(['"all settled"'])
    executor = create_llm_function_executor(llm=llm, prompt=create_chat_prompt("unused"))
    decisions = {call.function_id: DECISIONS[call.function_id] for call in pending.waiting}
    done = await executor.resume(pending, decisions=decisions, functions=[pay, look])
    seen = llm.calls[0]
    print(
        json.dumps(
            {
                "output": done.output,
                "turns": done.turns,
                "tokens": done.usage.total_tokens,
                "made": sorted(made),
                "results": [[r.function_id, r.content, r.is_error] for r in done.results],
                "messages": [[m.role, m.function_id] for m in seen.messages],
                "function_call": seen.function_call,
                "strict": seen.function_call_strict_input,
                "schema": seen.json_schema,
                "first": seen.messages[0].content,
            }
        )
    )


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], backend=sys.argv[1])
