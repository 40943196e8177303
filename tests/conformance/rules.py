"""What servers refuse although their vendors' types allow it: one small function per rule.

Each takes a body that fits the types, and tells what is wrong with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

Body = dict[str, Any]

# ---------------------------------------------------------------- schemas

_MAPS = ("properties", "$defs", "definitions", "patternProperties")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_ONES = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")


def subschemas(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema and all schemas in it; the names of properties are no keywords."""
    if not isinstance(schema, dict):
        return
    yield schema
    for key in _MAPS:
        for inner in schema.get(key, {}).values():
            yield from subschemas(inner)
    for key in _LISTS:
        for inner in schema.get(key, []):
            yield from subschemas(inner)
    for key in _ONES:
        yield from subschemas(schema.get(key))


def _types(schema: dict[str, Any]) -> set[str]:
    kind = schema.get("type", [])
    return {kind} if isinstance(kind, str) else set(kind)


_NOT_AT_OPENAI = {
    "allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas",
    "patternProperties", "propertyNames", "minProperties", "maxProperties", "contains",
    "minContains", "maxContains", "uniqueItems", "unevaluatedItems", "unevaluatedProperties",
    "default", "minLength", "maxLength",
}  # fmt: skip
_NOT_AT_ANTHROPIC = {
    "oneOf", "not", "if", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
    "multipleOf", "minLength", "maxLength", "maxItems", "uniqueItems", "patternProperties",
}  # fmt: skip


def not_strict_for_openai(schema: dict[str, Any], owner: str) -> Iterator[str]:
    """Every object closed, every property required, nothing of what is unsupported."""
    if _types(schema) != {"object"} or "anyOf" in schema:
        yield f"{owner}: the root is no plain object"
    for inner in subschemas(schema):
        if bad := sorted(_NOT_AT_OPENAI & inner.keys()):
            yield f"{owner}: {bad} in a strict schema"
        if "object" in _types(inner):
            if inner.get("additionalProperties") is not False:
                yield f"{owner}: an object is open"
            if set(inner.get("required", [])) != set(inner.get("properties", {})):
                yield f"{owner}: not every property is required"
        if "array" in _types(inner) and not inner.get("items"):
            yield f"{owner}: an array without items"
        if "$ref" in inner and len(inner) > 1:
            yield f"{owner}: keywords beside $ref"


def not_strict_for_anthropic(schema: dict[str, Any], owner: str) -> Iterator[str]:
    """Every object closed, nothing of what is unsupported; properties may be optional."""
    for inner in subschemas(schema):
        if bad := sorted(_NOT_AT_ANTHROPIC & inner.keys()):
            yield f"{owner}: {bad} in a strict schema"
        if "object" in _types(inner) and inner.get("additionalProperties") is not False:
            yield f"{owner}: an object is open"
        if inner.get("minItems", 0) > 1:
            yield f"{owner}: minItems above 1"


def _illegal(names: Iterable[Any], pattern: str) -> Iterator[str]:
    listed = list(names)
    for name in listed:
        if not re.fullmatch(pattern, str(name)):
            yield f"name {name!r} does not match {pattern}"
    if len(set(listed)) < len(listed):
        yield f"names are not unique: {listed}"


def _unpaired(turns: Iterable[tuple[list[Any], list[Any]]]) -> Iterator[str]:
    """Each turn as (results in it, calls in it): all results of a turn are in the next one."""
    calls: list[Any] = []
    for results, made in [*turns, ([], [])]:
        if sorted(map(str, results)) != sorted(map(str, calls)):
            yield f"calls {calls} are followed by results {results}"
        calls = made


# ---------------------------------------------------------------- Chat Completions


def _functions(body: Body) -> list[Body]:
    return [tool["function"] for tool in body.get("tools") or []]


def chat_names(body: Body) -> Iterator[str]:
    """Names of 64 letters, digits, `_` and `-`."""
    yield from _illegal([item["name"] for item in _functions(body)], r"[a-zA-Z0-9_-]{1,64}")


def chat_choice(body: Body) -> Iterator[str]:
    """A choice, and the parallel switch, need functions; a name must be one of theirs."""
    names = {item["name"] for item in _functions(body)}
    choice = body.get("tool_choice")
    if not names:
        for key in ("tool_choice", "parallel_tool_calls"):
            if key in body:
                yield f"{key} without tools"
    if isinstance(choice, dict):
        listed = [choice] if choice["type"] == "function" else choice["allowed_tools"]["tools"]
        for item in listed:
            if item["function"]["name"] not in names:
                yield f"tool_choice names {item['function']['name']!r}"


def chat_turns(body: Body) -> Iterator[str]:
    """Each call has its result right after its turn; a list of calls is never empty."""
    calls: list[str] = []
    for turn in body["messages"]:
        if turn["role"] == "tool":
            if turn["tool_call_id"] not in calls:
                yield f"a result for {turn['tool_call_id']!r}, which is no open call"
            else:
                calls.remove(turn["tool_call_id"])
            continue
        if calls:
            yield f"calls {calls} have no result"
        if turn.get("tool_calls") == []:
            yield "an empty list of tool_calls"
        calls = [call["id"] for call in turn.get("tool_calls") or []]
    if calls:
        yield f"calls {calls} have no result"


def chat_arguments(body: Body) -> Iterator[str]:
    """Arguments are a string that holds a JSON object."""
    for turn in body["messages"]:
        for call in turn.get("tool_calls") or []:
            if not isinstance(json.loads(call["function"]["arguments"]), dict):
                yield f"arguments {call['function']['arguments']!r}"


def chat_parameters(body: Body) -> Iterator[str]:
    """Parameters, where given, are the schema of an object whose arrays have items."""
    for item in _functions(body):
        if "parameters" in item and item["parameters"].get("type") != "object":
            yield f"{item['name']}: parameters are no object"


CHAT = (chat_names, chat_choice, chat_turns, chat_arguments, chat_parameters)


def strict_as_openai(body: Body) -> Iterator[str]:
    """Strict functions and answers keep to OpenAI's subset."""
    for item in _functions(body):
        if item.get("strict"):
            yield from not_strict_for_openai(item["parameters"], item["name"])
    form = body.get("response_format", {}).get("json_schema", {})
    if form.get("strict"):
        yield from not_strict_for_openai(form["schema"], "response_format")


def openai_models(body: Body) -> Iterator[str]:
    """https://github.com/openai/openai-openapi/issues/541"""
    model, effort = body["model"], body.get("reasoning_effort")
    if body.get("tools") and (
        (re.match(r"gpt-5\.[5-9]|gpt-[6-9]", model) and effort != "none")
        or (model.startswith("gpt-5.4") and effort not in (None, "none"))
    ):
        yield f"{model} takes no functions beside effort {effort!r}"


def choice_is_a_word(body: Body) -> Iterator[str]:
    """Hosts that take no object there."""
    if not isinstance(body.get("tool_choice", "auto"), str):
        yield "tool_choice is an object"


def choice_is_auto(body: Body) -> Iterator[str]:
    """Hosts that know nothing else."""
    if body.get("tool_choice", "auto") != "auto":
        yield f"tool_choice is {body['tool_choice']!r}"


def deepseek(body: Body) -> Iterator[str]:
    """https://api-docs.deepseek.com/guides/thinking_mode"""
    if body.get("thinking", {}).get("type") != "disabled":
        if body.get("tool_choice", "auto") not in ("auto", "none"):
            yield "a forced call while thinking"
        for turn in body["messages"]:
            if turn.get("tool_calls") and not turn.get("reasoning_content"):
                yield "a turn with calls lacks its reasoning_content"
    if body.get("response_format", {}).get("type") == "json_schema":
        yield "response_format json_schema is unavailable"
    held = {bool(item.get("strict")) for item in _functions(body)}
    if len(held) > 1:
        yield "all functions are strict or none"


def groq(body: Body) -> Iterator[str]:
    """https://console.groq.com/docs/structured-outputs"""
    if body.get("tools") and body.get("response_format", {}).get("type") == "json_schema":
        yield "response_format beside tools"


def mistral(body: Body) -> Iterator[str]:
    """github.com/mistralai/mistral-common, validator; its types leave the choice open."""
    choice = body.get("tool_choice")
    if isinstance(choice, str) and choice not in ("auto", "none", "any", "required"):
        yield f"tool_choice is the word {choice!r}"
    for turn in body["messages"]:
        ids = [call["id"] for call in turn.get("tool_calls") or []]
        ids += [turn["tool_call_id"]] if turn["role"] == "tool" else []
        yield from (f"id {x!r}" for x in ids if not re.fullmatch(r"[a-zA-Z0-9]{9}", x))


# ---------------------------------------------------------------- Responses


def responses_names(body: Body) -> Iterator[str]:
    """As on Chat: what is legal there is legal here."""
    yield from _illegal([tool["name"] for tool in body.get("tools", [])], r"[a-zA-Z0-9_-]{1,64}")


def responses_strict(body: Body) -> Iterator[str]:
    """Strict functions and answers keep to OpenAI's subset; strictness is always said."""
    for tool in body.get("tools", []):
        if tool["strict"]:
            yield from not_strict_for_openai(tool["parameters"], tool["name"])
        elif tool["strict"] is None:
            yield f"{tool['name']}: the server would try strict by itself"
    form = body.get("text", {}).get("format", {})
    if form.get("strict"):
        yield from not_strict_for_openai(form["schema"], "text.format")


def responses_calls(body: Body) -> Iterator[str]:
    """Each call has one output, by `call_id`; the item's own id is none of these."""
    items = body["input"] if isinstance(body["input"], list) else []
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    outputs = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    if sorted(calls) != sorted(outputs):
        yield f"calls {calls}, outputs {outputs}"
    for item in items:
        if item.get("type") == "function_call" and item.get("id", "fc_")[:3] != "fc_":
            yield f"item id {item['id']!r}"


def responses_choice(body: Body) -> Iterator[str]:
    """A choice needs functions; a name must be one of theirs."""
    names = {tool["name"] for tool in body.get("tools", [])}
    choice = body.get("tool_choice")
    if choice is not None and not names:
        yield "tool_choice without tools"
    if isinstance(choice, dict):
        for item in choice.get("tools", [choice]):
            if item["name"] not in names:
                yield f"tool_choice names {item['name']!r}"


def least_output_tokens(body: Body) -> Iterator[str]:
    """16, at OpenAI."""
    if body.get("max_output_tokens", 16) < 16:
        yield "max_output_tokens below 16"


RESPONSES = (responses_names, responses_strict, responses_calls, responses_choice)

# ---------------------------------------------------------------- Anthropic

_UNFORCED = r"(?:.*anthropic\.)?claude-(?:opus-5-5|sonnet-5-5|fable-5-[12]|mythos-5-[12])"


def claude_tools(body: Body) -> Iterator[str]:
    """Names, schemas of objects, the strict subset and its limits."""
    tools = body.get("tools", [])
    yield from _illegal([tool["name"] for tool in tools], r"[a-zA-Z0-9_-]{1,128}")
    for tool in tools:
        if tool["input_schema"].get("type") != "object":
            yield f"{tool['name']}: input_schema is no object"
        if tool.get("strict"):
            yield from not_strict_for_anthropic(tool["input_schema"], tool["name"])
    if sum(bool(tool.get("strict")) for tool in tools) > 20:
        yield "more than 20 strict tools"
    form = body.get("output_config", {}).get("format")
    if form:
        yield from not_strict_for_anthropic(form["schema"], "output_config")


def claude_choice(body: Body) -> Iterator[str]:
    """A choice needs tools; forced ones are refused beside thinking, and by some models."""
    choice = body.get("tool_choice", {})
    names = {tool["name"] for tool in body.get("tools", [])}
    if choice and not names:
        yield "tool_choice without tools"
    if choice.get("type") == "tool" and choice["name"] not in names:
        yield f"tool_choice names {choice['name']!r}"
    if choice.get("type") in ("any", "tool"):
        if body.get("thinking", {}).get("type") == "enabled":
            yield "a forced call while thinking"
        if re.match(_UNFORCED, body.get("model", "")):
            yield f"a forced call of {body['model']}"


def claude_turns(body: Body) -> Iterator[str]:
    """All results of a turn open the next one; no text is blank; the user speaks last."""
    turns = []
    for turn in body["messages"]:
        content = turn["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        kinds = [block["type"] for block in blocks]
        if "tool_result" in kinds[kinds.count("tool_result") :]:
            yield "a tool_result after something else"
        if any(block["type"] == "text" and not block["text"].strip() for block in blocks):
            yield "a blank text"
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        turns.append((results, [block["id"] for block in blocks if block["type"] == "tool_use"]))
    yield from _unpaired(turns)
    roles = [turn["role"] for turn in body["messages"]]
    if roles[0] != "user" or roles[-1] != "user":
        yield f"turns of {roles}"


def invoke(body: Body) -> Iterator[str]:
    """InvokeModel fetches no images, and streams by another address."""
    if "stream" in body:
        yield "stream in the body"
    if '"type": "url"' in json.dumps(body["messages"]):
        yield "an image URL"


CLAUDE = (claude_tools, claude_choice, claude_turns)

# ---------------------------------------------------------------- Converse


def converse_turns(body: Body) -> Iterator[str]:
    """As at Anthropic; and tool blocks need definitions beside them."""
    turns, used = [], False
    for turn in body["messages"]:
        content = turn["content"]
        if any("text" in block and not block["text"].strip() for block in content):
            yield "a blank text"
        results = [b["toolResult"]["toolUseId"] for b in content if "toolResult" in b]
        calls = [b["toolUse"]["toolUseId"] for b in content if "toolUse" in b]
        used = used or bool(results or calls)
        turns.append((results, calls))
    yield from _unpaired(turns)
    if used and "toolConfig" not in body:
        yield "tool blocks without toolConfig"


def converse_tools(body: Body) -> Iterator[str]:
    """Schemas of objects, unique names, one choice; the output's schema is JSON text."""
    config = body.get("toolConfig", {})
    tools = [tool["toolSpec"] for tool in config.get("tools", [])]
    yield from _illegal([tool["name"] for tool in tools], r"[a-zA-Z0-9_-]{1,64}")
    for tool in tools:
        schema = tool["inputSchema"]["json"]
        if schema.get("type") != "object":
            yield f"{tool['name']}: the input is no object"
        if tool.get("strict"):
            yield from not_strict_for_anthropic(schema, tool["name"])
    if "toolChoice" in config and "tool_choice" in body.get("additionalModelRequestFields", {}):
        yield "two choices"
    form = body.get("outputConfig", {}).get("textFormat")
    if form:
        schema = json.loads(form["structure"]["jsonSchema"]["schema"])
        yield from not_strict_for_anthropic(schema, "outputConfig")


CONVERSE = (converse_turns, converse_tools)

# ---------------------------------------------------------------- Gemini


def gemini_contents(body: Body) -> Iterator[str]:
    """Roles, no empty turn, one response for each call in the next turn."""
    turns = []
    if not body.get("contents"):
        yield "no contents"
    for turn in body.get("contents", []):
        if turn.get("role") not in ("user", "model"):
            yield f"role {turn.get('role')!r}"
        if not turn.get("parts"):
            yield "a turn without parts"
        results = [p["functionResponse"]["name"] for p in turn["parts"] if "functionResponse" in p]
        calls = [p["functionCall"]["name"] for p in turn["parts"] if "functionCall" in p]
        turns.append((results, calls))
        yield from (
            f"response {part['functionResponse']} is no object"
            for part in turn["parts"]
            if "functionResponse" in part and "response" not in part["functionResponse"]
        )
    yield from _unpaired(turns)


def gemini_tools(body: Body) -> Iterator[str]:
    """Names, one kind of parameters, no empty object, names allowed only where they count."""
    tools = [x for tool in body.get("tools", []) for x in tool.get("functionDeclarations", [])]
    names = [tool["name"] for tool in tools]
    yield from _illegal(names, r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
    for tool in tools:
        if "parameters" in tool and "parametersJsonSchema" in tool:
            yield f"{tool['name']}: two kinds of parameters"
        if tool.get("parametersJsonSchema", {"properties": 1}).get("properties") == {}:
            yield f"{tool['name']}: an object without properties"
    config = body.get("toolConfig", {}).get("functionCallingConfig", {})
    allowed = config.get("allowedFunctionNames", [])
    if allowed and config.get("mode") not in ("ANY", "VALIDATED"):
        yield f"allowedFunctionNames in mode {config.get('mode')}"
    yield from (f"{name!r} is not declared" for name in allowed if name not in names)


def gemini_generation(body: Body) -> Iterator[str]:
    """A schema needs its media type and is of one kind; a budget excludes a level."""
    config = body.get("generationConfig", {})
    kinds = config.keys() & {"responseSchema", "responseJsonSchema"}
    if kinds and config.get("responseMimeType") != "application/json":
        yield "a schema without its media type"
    if len(kinds) > 1:
        yield "two schemas"
    if {"thinkingBudget", "thinkingLevel"} <= config.get("thinkingConfig", {}).keys():
        yield "a budget and a level"


GEMINI = (gemini_contents, gemini_tools, gemini_generation)

# ---------------------------------------------------------------- Ollama


def ollama_stream(body: Body) -> Iterator[str]:
    """It streams unless it is told not to."""
    if "stream" not in body:
        yield "stream is not said"


def ollama_turns(body: Body) -> Iterator[str]:
    """A result names its function; there are messages at all."""
    if not body["messages"]:
        yield "no messages"
    for turn in body["messages"]:
        if turn["role"] == "tool" and not turn.get("tool_name"):
            yield "a result without tool_name"


def ollama_think(body: Body) -> Iterator[str]:
    """https://docs.ollama.com/api/chat"""
    if body.get("think", True) not in (True, False, "low", "medium", "high", "max"):
        yield f"think {body['think']!r}"


OLLAMA = (ollama_stream, ollama_turns, ollama_think)
