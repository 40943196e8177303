"""What every benchmark sends and gets: functions, a history, and answers.

The shapes are those of an everyday agent: ten functions with schemas of a few properties, twelve
messages with calls and results among them, an answer that is one call. Everything is in OpenAI's
chat format, the one that floor and `llm_tools` speak here.
"""

from __future__ import annotations

from typing import Any

import msgspec

MODEL = "gpt-4o-mini"
KEY = "sk-benchmark-0000000000000000000000"
END_MARK = "the-loop-ends-here"

_SENTENCE = (
    "The ferry leaves at nine and the storehouse on the island has to be restocked before the "
    "weekend, so please look at the weather first — and then at what is “almost out”. "
)
_KINDS: tuple[tuple[str, str, dict[str, Any], list[str]], ...] = (
    (
        "read_forecast",
        "Reads the forecast of a place for the next days. Use it before anything is planned.",
        {
            "place": {"type": "string", "description": "A town, an island or a harbour."},
            "days": {"type": "integer", "minimum": 1, "maximum": 10},
            "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
        },
        ["place"],
    ),
    (
        "find_articles",
        "Finds articles of the storehouse by words, shelf and stock, the scarcest first.",
        {
            "words": {"type": "string", "description": "What it is called, in any order."},
            "shelf": {"type": "object", "properties": {"row": {"type": "integer"}, "level": {"type": "string"}}},
            "below": {"type": "number", "description": "Only what is below this stock."},
            "labels": {"type": "array", "items": {"type": "string"}},
        },
        ["words"],
    ),
    (
        "order_articles",
        "Orders articles for a day. The order can be changed until the evening before.",
        {
            "day": {"type": "string", "format": "date"},
            "lines": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {"article": {"type": "string"}, "amount": {"type": "integer", "minimum": 1}},
                    "required": ["article", "amount"],
                },
            },
            "note": {"type": "string", "maxLength": 400},
        },
        ["day", "lines"],
    ),
    (
        "book_passage",
        "Books a passage for people and goods on one ferry, or says which ferry has room.",
        {
            "ferry": {"type": "string"},
            "people": {"type": "array", "items": {"type": "string"}},
            "weight": {"type": "number", "description": "Kilograms of goods."},
            "return": {"type": "boolean"},
        },
        ["ferry", "people"],
    ),
    (
        "tell_people",
        "Sends a message to people by the way they like best.",
        {
            "to": {"type": "array", "minItems": 1, "items": {"type": "string"}},
            "words": {"type": "string", "description": "Plain text, a few sentences."},
            "urgency": {"type": "string", "enum": ["whenever", "today", "now"]},
        },
        ["to", "words"],
    ),
)  # fmt: skip


def make_tools(count: int = 10) -> list[dict[str, Any]]:
    """Tools in OpenAI's form; no two have the same name."""
    return [_tool(number) for number in range(count)]


def _tool(number: int) -> dict[str, Any]:
    name, description, properties, required = _KINDS[number % len(_KINDS)]
    schema = {
        "type": "object",
        "properties": msgspec.json.decode(msgspec.json.encode(properties)),
        "required": list(required),
        "additionalProperties": False,
    }
    function = {"name": f"{name}_{number}", "description": description, "parameters": schema}
    return {"type": "function", "function": function}


def make_messages(count: int = 12, topic: str = "the week") -> list[dict[str, Any]]:
    """A system message, the user's, then whole rounds: calls, their results, an answer, a question.

    Args:
        count: how many messages.
        topic: what makes it a conversation of its own.

    Raises:
        ValueError: rounds of four and five messages make no such count.
    """
    pairs = next((n for n in range(4) if count - 2 >= 5 * n and (count - 2 - 5 * n) % 4 == 0), None)
    if pairs is None:
        raise ValueError(f"no history has {count} messages")
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": f"You look after an island's storehouse. {_SENTENCE}"},
        {"role": "user", "content": f"About {topic}: {_SENTENCE}"},
    ]
    calls = [2] * pairs + [1] * ((count - 2 - 5 * pairs) // 4)
    for number, some in enumerate(calls):
        messages += _round(number, some)
    return messages


def _round(number: int, count: int) -> list[dict[str, Any]]:
    arguments = '{"place":"Hallig Hooge","days":3,"unit":"celsius"}'
    report = '{"days":[{"wind":"NW 6","rain":4.5},{"wind":"W 4","rain":0.2}],"source":"harbour"}'
    calls = [
        {
            "id": f"call_{number:06d}abcdefghijkl{place}",
            "type": "function",
            "function": {"name": "read_forecast_0", "arguments": arguments},
        }
        for place in range(count)
    ]
    return [
        {"role": "assistant", "content": None, "tool_calls": calls},
        *[{"role": "tool", "tool_call_id": call["id"], "content": report} for call in calls],
        {"role": "assistant", "content": f"Reply {number}: {_SENTENCE * 2}"},
        {"role": "user", "content": f"Question {number}: {_SENTENCE}"},
    ]


INPUT = {"place": "Pellworm", "days": 2, "unit": "celsius"}
CALL = ("function_use", "read_forecast_0", INPUT, "call_Zx81QpLmNrTs42")
TEXT = "All is ordered; the ferry takes it on Friday."
STREAMED = {
    "to": ["Ocke", "Silja"],
    "words": " ".join(f"word{number:03d}" for number in range(190)),
}
STREAMED_CALL = ("function_use", "tell_people_4", STREAMED, "call_St9876543210")
DELTAS = 200


def local_tool(name: str, given: dict[str, Any]) -> str:
    """What every function does in the loop of two requests."""
    return f'{{"ok":true,"mark":"{END_MARK}"}}'
