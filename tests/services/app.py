"""A tool-calling service: one executor for all visitors, answers whole or as they come.

`POST /ask` with `{"question": …}` answers when the run has ended; `GET /watch?question=…` tells a
page, as server-sent events, what the model says and which functions it calls; `GET /` is the page.
Whoever leaves ends what runs for them.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

import anyio
import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from llm_tools import (
    FunctionResult,
    FunctionUseStart,
    LlmToolsError,
    TextDelta,
    create_chat_prompt,
    create_llm_function_executor,
    tool,
    use_llm,
)


@tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
def name_of_day(number: int) -> str:
    """The name of a day of the week, from 1 for Monday."""
    return ["Mon", "Tues", "Wednes", "Thurs", "Fri", "Satur", "Sun"][number - 1] + "day"


FUNCTIONS = [add, name_of_day]

executor = create_llm_function_executor(
    llm=use_llm(
        "openai.gpt-4o-mini", transport=os.environ.get("SERVICE_TRANSPORT", "httpx"), max_attempts=1
    ),
    prompt=create_chat_prompt("You answer questions.").add_user_message("{{ question }}"),
)


async def ask(request: Request) -> Response:
    """The whole answer, and what was called for it."""
    question = (await request.json())["question"]

    async def run() -> Response:
        try:
            done = await executor.run({"question": question}, functions=FUNCTIONS, max_turns=4)
        except LlmToolsError as error:
            status = 503 if error.retryable else 500
            return JSONResponse({"error": type(error).__name__}, status_code=status)
        results = [[result.name, result.content] for result in done.results]
        return JSONResponse({"answer": done.output, "results": results})

    return await while_connected(request, run) or Response(status_code=499)


async def while_connected(
    request: Request, work: Callable[[], Awaitable[Response]]
) -> Response | None:
    """Do the work as long as the visitor waits for it; None if they have left.

    A server tells an application that its visitor has left, and leaves it to it what to do then.
    """
    response = None
    await request.body()  # kept by the request; what comes after it is that they have left

    async def watch() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch)
        response = await work()
        tasks.cancel_scope.cancel()
    return response


class Watch:
    """An application of its own, so that the run is open as long as its response."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        question = Request(scope).query_params["question"]
        run = executor.stream_run(
            {"question": question}, functions=FUNCTIONS, max_turns=4, start_early=True
        )
        async with run as events, aclosing(lines(events)) as told:
            response = StreamingResponse(told, media_type="text/event-stream")
            await response(scope, receive, send)


async def lines(events: Any) -> AsyncIterator[str]:
    """What the page is told, as server-sent events."""
    async for event in events:
        match event:
            case FunctionUseStart(name=name, function_id=function_id):
                yield line("call", name=name, id=function_id)
            case FunctionResult(name=name, function_id=function_id, content=content):
                yield line("result", name=name, id=function_id, content=content)
            case TextDelta(text=text):
                yield line("text", text=text)
    yield line("done", answer=events.result.output)


def line(kind: str, **data: Any) -> str:
    """One server-sent event."""
    return f"event: {kind}\ndata: {msgspec.json.encode(data).decode()}\n\n"


async def page(_: Request) -> Response:
    """A page that shows what happens."""
    return HTMLResponse(PAGE)


PAGE = """<!doctype html>
<title>Ask</title>
<form id="form"><input name="question" autofocus> <button>Ask</button></form>
<ul id="calls"></ul>
<p id="answer"></p>
<script>
  const form = document.getElementById("form");
  const calls = document.getElementById("calls");
  const answer = document.getElementById("answer");
  form.onsubmit = (submitted) => {
    submitted.preventDefault();
    calls.replaceChildren();
    answer.textContent = "";
    const question = new FormData(form).get("question");
    const events = new EventSource("/watch?" + new URLSearchParams({question}));
    const on = (kind, act) => events.addEventListener(kind, (event) => act(JSON.parse(event.data)));
    on("call", ({name, id}) => {
      const item = document.createElement("li");
      item.id = id;
      item.textContent = name + " …";
      calls.append(item);
    });
    on("result", ({name, id, content}) => {
      document.getElementById(id).textContent = name + ": " + JSON.stringify(content);
    });
    on("text", ({text}) => answer.append(text));
    on("done", () => events.close());
    events.onerror = () => events.close();
  };
</script>
"""

app = Starlette(
    routes=[Route("/", page), Route("/ask", ask, methods=["POST"]), Route("/watch", Watch())]
)
