"""What each provider refuses, written from its documentation and apart from the code under test."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_NAMED = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_ONE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_MANY = ("anyOf", "oneOf", "allOf", "prefixItems")

_STRICT_REFUSED = {
    "allOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "oneOf",
    "default", "patternProperties", "unevaluatedProperties", "propertyNames", "minProperties",
    "maxProperties", "unevaluatedItems", "contains", "minContains", "maxContains", "uniqueItems",
    "minLength", "maxLength", "definitions", "prefixItems",
}  # fmt: skip
_GRAMMAR_REFUSED = _STRICT_REFUSED | {
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "maxItems",
}  # fmt: skip


def walk(schema: Any, path: str = "#") -> Iterator[tuple[str, Any]]:
    """Every schema in a schema, by position."""
    yield path, schema
    if not isinstance(schema, dict):
        return
    for key in _NAMED:
        for name, inner in schema.get(key, {}).items():
            yield from walk(inner, f"{path}/{key}/{name}")
    for key in _ONE:
        if isinstance(schema.get(key), dict | bool):
            yield from walk(schema[key], f"{path}/{key}")
    for key in _MANY:
        for index, inner in enumerate(schema.get(key, [])):
            yield from walk(inner, f"{path}/{key}/{index}")


def types(schema: Any) -> list[str]:
    """The types a schema names."""
    named = schema.get("type", [])
    return [named] if isinstance(named, str) else named


def dangling(schema: Any) -> list[str]:
    """References that lead nowhere."""
    out = []
    for path, node in walk(schema):
        if isinstance(node, dict) and "$ref" in node:
            target: Any = schema
            for step in node["$ref"].removeprefix("#").removeprefix("/").split("/"):
                if step:
                    target = target.get(step.replace("~1", "/").replace("~0", "~"))
                    if target is None:
                        out.append(path)
                        break
    return out


def every(schema: Any) -> list[str]:
    """What holds for all wires: an object at the root, items, references that resolve."""
    out = dangling(schema)
    if schema.get("type") != "object" or "properties" not in schema:
        out.append("root")
    for path, node in walk(schema):
        if isinstance(node, dict) and "array" in types(node) and "items" not in node:
            out.append(f"{path}: items")
    return out


def closed(schema: Any, refused: set[str], *, all_required: bool) -> list[str]:
    """What holds for strict modes."""
    out = every(schema)
    for path, node in walk(schema):
        if path.endswith("/additionalProperties") and node is False:
            continue
        if not isinstance(node, dict):
            out.append(f"{path}: {node}")
            continue
        if bad := refused & node.keys():
            out.append(f"{path}: {bad}")
        if not node.keys() & {"type", "$ref", "anyOf", "enum", "const"}:
            out.append(f"{path}: untyped")
        if "object" in types(node):
            if node.get("additionalProperties") is not False:
                out.append(f"{path}: open")
            names, required = list(node["properties"]), node.get("required", [])
            if set(required) - set(names) or (all_required and set(names) != set(required)):
                out.append(f"{path}: required")
    return out


def openai_strict(schema: Any) -> list[str]:
    """https://platform.openai.com/docs/guides/structured-outputs"""
    out = closed(schema, _STRICT_REFUSED, all_required=True)
    for path, node in walk(schema):
        if isinstance(node, dict) and "$ref" in node and len(node) > 1:
            out.append(f"{path}: beside $ref")
        if isinstance(node, dict) and "(?=" in node.get("pattern", ""):
            out.append(f"{path}: pattern")
        if isinstance(node, dict) and node.get("format", "date") not in ("date", "email"):
            out.append(f"{path}: format")
    return out + (["root anyOf"] if "anyOf" in schema else [])


def anthropic_strict(schema: Any) -> list[str]:
    """https://platform.claude.com/docs/en/build-with-claude/structured-outputs"""
    out = closed(schema, _GRAMMAR_REFUSED | {"pattern"}, all_required=False)
    for path, node in walk(schema):
        if isinstance(node, dict) and node.get("minItems", 0) > 1:
            out.append(f"{path}: minItems")
    return out


def bedrock_strict(schema: Any) -> list[str]:
    """https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html"""
    return closed(schema, _GRAMMAR_REFUSED, all_required=False)


def deepseek_strict(schema: Any) -> list[str]:
    """https://api-docs.deepseek.com/guides/tool_calls"""
    out = closed(schema, _STRICT_REFUSED | {"$ref", "$defs", "minItems"}, all_required=True)
    for path, node in walk(schema):
        if (
            isinstance(node, dict)
            and {"array", "object"} & set(types(node))
            and len(types(node)) > 1
        ):
            out.append(f"{path}: types")
        if isinstance(node, dict) and path != "#" and node.get("properties") == {}:
            out.append(f"{path}: no properties")
    return out


def mistral_strict(schema: Any) -> list[str]:
    """Closed, and nothing else."""
    return [
        f"{path}: open"
        for path, node in walk(schema)
        if isinstance(node, dict) and "object" in types(node)
        if node.get("additionalProperties") is not False
    ] + every(schema)


def gemini_json_schema(schema: Any) -> list[str]:
    """https://ai.google.dev/gemini-api/docs/structured-output"""
    out = [] if schema is None else every(schema)
    for path, node in walk(schema or {}):
        if not isinstance(node, dict):
            continue
        if bad := {"$schema", "const", "exclusiveMaximum", "title", "examples"} & node.keys():
            out.append(f"{path}: {bad}")
        if "$ref" in node and len(node) > 1:
            out.append(f"{path}: beside $ref")
        if "" in node.get("enum", ()):
            out.append(f"{path}: empty text")
        if node.get("additionalProperties") is not False:
            missing = set(node.get("required", ())) - node.get("properties", {}).keys()
            out += [f"{path}: {missing} required and not described"] if missing else []
    return out


_OPENAPI = {
    "type", "format", "title", "description", "nullable", "default", "items", "minItems",
    "maxItems", "enum", "properties", "propertyOrdering", "required", "minProperties",
    "maxProperties", "minLength", "maxLength", "pattern", "minimum", "maximum", "anyOf",
}  # fmt: skip


def gemini_openapi(schema: Any) -> list[str]:
    """https://ai.google.dev/api/caching#Schema"""
    out: list[str] = []
    for path, node in walk(schema or {"type": "OBJECT"}):
        if not isinstance(node, dict):
            out.append(f"{path}: {node}")
            continue
        out += [f"{path}: {key}" for key in node.keys() - _OPENAPI]
        if "anyOf" in node:
            out += [f"{path}: beside anyOf"] if node.keys() - {"anyOf", "nullable"} else []
        elif node.get("type") not in ("STRING", "INTEGER", "NUMBER", "BOOLEAN", "ARRAY", "OBJECT"):
            out.append(f"{path}: type")
        if (node.get("type") == "ARRAY") != ("items" in node):
            out.append(f"{path}: items")
        if not all(isinstance(value, str) for value in node.get("enum", ())):
            out.append(f"{path}: enum")
        if set(node.get("required", ())) - set(node.get("properties", ())):
            out.append(f"{path}: required")
        for name in node.get("properties", ()):
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", name):
                out.append(f"{path}: {name}")
    return out


def ollama(schema: Any) -> list[str]:
    """https://github.com/ollama/ollama/blob/main/api/types.go"""
    known = {"anyOf", "type", "items", "description", "enum", "properties", "required"}
    out = every(schema)
    for path, node in walk(schema):
        out += [f"{path}: {key}" for key in node.keys() - known] if isinstance(node, dict) else []
        if isinstance(node, bool) and "/items" not in path:
            out.append(f"{path}: {node}")
    return out
