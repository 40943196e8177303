"""The fakes behave as what they stand for."""

from __future__ import annotations

from typing import Any

import anyio
import httpx
import pytest
from anyio.lowlevel import checkpoint
from testing.answers import completion

import llm_tools.testing
from llm_tools import (
    ConfigurationError,
    Finished,
    FunctionUseDone,
    FunctionUseStart,
    OutputResult,
    OutputResultFunctionUse,
    OutputResultReasoning,
    OutputResultRefusal,
    OutputResultText,
    ParserError,
    RateLimitError,
    ScriptedLlm,
    ScriptedTransport,
    ServerError,
    StreamError,
    TextDelta,
    TransportError,
    UnmetFunctionCallError,
    dispatch,
    use_llm,
)
from llm_tools.testing.scripted_transport import ScriptedResponse

pytestmark = pytest.mark.anyio

FUNCTION = {"name": "f", "description": "A function."}
CALL = {"type": "function_use", "name": "f", "input": {"n": 1}, "functionId": "c1"}


class TestScriptedLlm:
    """A model that answers from a script."""

    async def test_a_fence_around_the_json_is_taken_off(self) -> None:
        """Text in a schema's shape is read as a provider's would be."""
        fenced, schema = '```json\n{"n": 1}\n```', {"type": "object", "required": ["n"]}
        wire = ScriptedTransport([completion(fenced)])
        real = use_llm("openai.gpt-4o-mini", api_key="k", transport=wire)
        expected = await real.call("x", json_schema=schema)
        result = await ScriptedLlm([fenced]).call("x", json_schema=schema)
        assert result.text == expected.text == '{"n": 1}'
        assert [warning.code for warning in result.warnings] == ["output_unfenced"]
        assert (await ScriptedLlm([fenced]).call("x")).text == fenced

    @pytest.mark.parametrize("choice", ["none", {"names": ["g"], "mode": "auto"}])
    async def test_a_call_that_was_ruled_out_is_marked(self, choice: Any) -> None:
        """It is in the result with a warning, and never run."""
        ran: list[str] = []

        def f() -> None:
            ran.append("f")

        def g() -> None:
            ran.append("g")

        script = ScriptedLlm([{"type": "function_use", "name": "f"}, CALL])
        result = await script.call("x", functions=[f, g], function_call=choice)
        assert [warning.code for warning in result.warnings] == ["forbidden_call"]
        (done,) = await dispatch(result, [f, g])
        assert (done.is_error, ran) == (True, [])
        allowed = await script.call("x", functions=[FUNCTION])
        assert allowed.content == (
            OutputResultFunctionUse(name="f", input={"n": 1}, function_id="c1"),
        )
        assert allowed.warnings == ()

    async def test_answers_in_every_form(self) -> None:
        """Text, parts, lists of them, results, functions; ids are given where there are none."""

        async def later(_: Any) -> Any:
            await checkpoint()
            return OutputResultText(text="later")

        whole = OutputResult(
            id="r", name="m", created=0, usage=None, stop_reason="stop",
            content=(OutputResultText(text="whole"),),
        )  # fmt: skip
        llm = ScriptedLlm(
            ["text", {"type": "text", "text": "part"}, whole, lambda seen: seen.messages[0].content,
             later, [CALL, {"type": "function_use", "name": "f"}]]
        )  # fmt: skip
        texts = [(await llm.call("question")).text for _ in range(5)]
        assert texts == ["text", "part", "whole", "question", "later"]
        calls = (await llm.call("x")).function_calls
        assert calls[0] == OutputResultFunctionUse(name="f", input={"n": 1}, function_id="c1")
        assert calls[1].input == {}
        assert calls[1].function_id not in ("", "c1")

    async def test_it_keeps_what_it_was_asked(self) -> None:
        """Mended messages, names, and options."""
        llm = ScriptedLlm(lambda seen: "ok")
        orphan = {"role": "function", "name": "f", "functionId": "c0", "content": "lost"}
        await llm.with_options(temperature=0.5).call(
            [{"role": "user", "content": "hi"}, orphan],
            functions=[FUNCTION],
            function_call="auto",
            function_call_strict_input=True,
        )
        (seen,) = llm.calls
        assert [message.role for message in seen.messages] == ["user"]
        assert (seen.functions, seen.function_call) == (("f",), "auto")
        assert (seen.function_call_strict_input, seen.options) == (True, {"temperature": 0.5})

    async def test_it_is_as_strict_as_a_real_model(self) -> None:
        """A forced call and a schema are checked; wrong options are refused."""
        llm = ScriptedLlm(["text", "no json", "never"])
        with pytest.raises(UnmetFunctionCallError):
            await llm.call("x", functions=[FUNCTION], function_call="any")
        with pytest.raises(ParserError):
            await llm.call("x", json_schema={"type": "object"})
        with pytest.raises(ConfigurationError, match="which no function has"):
            await llm.call("x", functions=[FUNCTION], function_call="g")
        assert (await llm.call("x")).text == "never"
        with pytest.raises(ConfigurationError, match="has ended"):
            await llm.call("x")

    async def test_exceptions_are_raised(self) -> None:
        """By call, and on entering a stream."""
        llm = ScriptedLlm([RateLimitError("slow down"), RateLimitError("slow down")])
        with pytest.raises(RateLimitError):
            await llm.call("x")
        with pytest.raises(RateLimitError):
            async with llm.stream("x"):
                pass

    async def test_a_stream_tells_every_part(self) -> None:
        """And its result when it has ended."""
        parts = [
            OutputResultReasoning(text="hm"),
            OutputResultText(text="hi"),
            CALL,
            OutputResultRefusal(text="No."),
        ]
        async with ScriptedLlm([parts]).stream("x", functions=[FUNCTION]) as events:
            with pytest.raises(StreamError):
                _ = events.result
            seen = [event async for event in events]
        assert [type(event).__name__ for event in seen] == [
            "ReasoningDelta", "TextDelta", "FunctionUseStart", "FunctionInputDelta",
            "FunctionUseDone", "RefusalDelta", "Finished",
        ]  # fmt: skip
        assert seen[-1] == Finished(result=events.result)

    async def test_a_stream_cut_off_by_the_limit_ends_no_last_call(self) -> None:
        """As on a real wire."""
        cut = OutputResult(
            id="r", name="m", created=0, usage=None, stop_reason="length",
            content=tuple(
                OutputResultFunctionUse(name="f", input={}, function_id=f"c{n}") for n in range(2)
            ),
        )  # fmt: skip
        async with ScriptedLlm([cut]).stream("x", functions=[FUNCTION]) as events:
            seen = [event async for event in events]
        done = [event.index for event in seen if isinstance(event, FunctionUseDone)]
        assert done == [0]

    async def test_an_answer_may_break_off(self) -> None:
        """The parts come, then the error with what had come; a plain call raises it at once."""
        script = [[{"type": "text", "text": "hm"}, CALL, StreamError("broken")] for _ in range(2)]
        llm = ScriptedLlm(script)
        seen = []
        with pytest.raises(StreamError, match="broken") as caught:
            async with llm.stream("x", functions=[FUNCTION]) as events:
                async for event in events:
                    seen.append(event)
        assert [type(event) for event in seen[:2]] == [TextDelta, FunctionUseStart]
        assert not any(isinstance(event, FunctionUseDone | Finished) for event in seen)
        assert caught.value.result.text == "hm"
        with pytest.raises(StreamError, match="broken"):
            await llm.call("x", functions=[FUNCTION])


class TestScriptedTransport:
    """A wire that answers from a script."""

    @staticmethod
    def llm(*replies: Any) -> tuple[Any, ScriptedTransport]:
        wire = ScriptedTransport(replies)
        return use_llm("openai.gpt-4o-mini", api_key="k", max_attempts=1, transport=wire), wire

    async def test_replies_in_every_form(self) -> None:
        """JSON, bytes, text, a function of the request, sync or async."""

        async def later(request: Any) -> Any:
            await checkpoint()
            return completion(request.body["messages"][0]["content"])

        raw = httpx.Response(200, json=completion("bytes")).content
        llm, wire = self.llm(
            completion("json"), raw, raw.decode(), lambda request: completion(request.method), later
        )
        texts = [(await llm.call("question")).text for _ in range(5)]
        assert texts == ["json", "bytes", "bytes", "POST", "question"]
        first = wire.requests[0]
        assert first.url == "https://api.openai.com/v1/chat/completions"
        assert first.headers["authorization"] == "Bearer k"
        assert first.body["messages"] == [{"role": "user", "content": "question"}]

    async def test_one_function_for_all_requests(self) -> None:
        """Its script has no end."""
        wire = ScriptedTransport(lambda request: completion("again"))
        llm = use_llm("openai.gpt-4o-mini", api_key="k", transport=wire)
        assert [(await llm.call("x")).text for _ in range(3)] == ["again"] * 3

    async def test_statuses_and_failures(self) -> None:
        """A response with a status, and a connection that breaks."""
        failed = ScriptedResponse(status=500, headers={"x-request-id": "r-1"}, body={"error": {}})
        llm, _ = self.llm(failed, httpx.ConnectError("refused"))
        with pytest.raises(ServerError) as caught:
            await llm.call("x")
        assert (caught.value.status, caught.value.request_id) == (500, "r-1")
        with pytest.raises(TransportError):
            await llm.call("x")

    async def test_the_script_may_end(self) -> None:
        """Then it says so."""
        llm, _ = self.llm()
        with pytest.raises(ConfigurationError, match="has ended"):
            await llm.call("x")

    @pytest.mark.parametrize("later", [False, True])
    async def test_chunks(self, later: bool) -> None:
        """One after the other; an exception among them breaks the stream; left early is fine."""
        chunk = {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "gpt-4o-mini",
            "choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": None}],
        }
        line = b"data: " + httpx.Response(200, json=chunk).content + b"\n\n"
        closed = []

        async def in_time() -> Any:
            try:
                for each in chunks:
                    await checkpoint()
                    yield each
            finally:
                closed.append(1)

        chunks: list[Any] = [line, line, httpx.ReadError("reset")]
        headers = {"content-type": "text/event-stream"}
        llm, _ = self.llm(
            *[
                ScriptedResponse(headers=headers, chunks=in_time() if later else chunks)
                for _ in range(2)
            ]
        )
        texts = []
        with pytest.raises(StreamError):
            async with llm.stream("x") as events:
                async for event in events:
                    texts.append(event.text)
        assert texts == ["hi", "hi"]
        async with llm.stream("x") as events:
            async for event in events:
                assert event == TextDelta(text="hi")
                break
        assert len(closed) == (2 if later else 0)


def test_names_are_where_they_are_said_to_be() -> None:
    """The fake wire, which needs httpx, comes when it is asked for."""
    assert llm_tools.testing.ScriptedTransport is ScriptedTransport
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = llm_tools.testing.Nothing


def test_a_scripted_model_serves_several_loops() -> None:
    """It belongs to none."""
    llm = ScriptedLlm(["a", "b"])

    async def once() -> str:
        return (await llm.call("x")).text

    assert [anyio.run(once), anyio.run(once, backend="trio")] == ["a", "b"]
