"""Random schemas a caller could write, and values that fit a schema."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

NAMES = ("a", "b", "title", "properties", "type", "required", "items", "x y", "日期", "$ref")
DEFINITIONS = ("Node", "Leaf")

_TEXT = st.text("abc1 é", max_size=4)
_SCALARS: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(["string", "integer", "number", "boolean", "null"]).map(lambda t: {"type": t}),
    st.fixed_dictionaries(
        {"type": st.just("string")},
        optional={
            "minLength": st.integers(0, 2),
            "maxLength": st.integers(3, 6),
            "pattern": st.sampled_from(["^a", "b$", "(?=a)a"]),
            "format": st.sampled_from(["date", "email", "uri", "phone"]),
            "description": _TEXT,
            "default": _TEXT,
        },
    ),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["integer", "number"])},
        optional={
            "minimum": st.integers(-5, 0),
            "exclusiveMaximum": st.integers(5, 9),
            "multipleOf": st.integers(1, 2),
            "default": st.integers(0, 3),
        },
    ),
    st.lists(
        st.sampled_from(["string", "integer", "boolean", "null"]),
        min_size=1,
        max_size=3,
        unique=True,
    ).map(lambda types: {"type": types}),
    st.lists(
        st.one_of(_TEXT, st.integers(0, 3), st.booleans(), st.none()), min_size=1, max_size=3
    ).map(lambda values: {"enum": values}),
    st.lists(st.integers(0, 5), min_size=1, max_size=3, unique=True).map(
        lambda values: {"type": "integer", "enum": values}
    ),
    st.one_of(_TEXT, st.integers(0, 3), st.booleans()).map(lambda value: {"const": value}),
    st.sampled_from(DEFINITIONS).map(lambda name: {"$ref": f"#/$defs/{name}"}),
    st.just({}),
)


def _object(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    @st.composite
    def build(draw: st.DrawFn) -> dict[str, Any]:
        properties = draw(st.dictionaries(st.sampled_from(NAMES), inner, max_size=3))
        required = draw(st.lists(st.sampled_from(sorted(properties) or ["a"]), unique=True))
        schema: dict[str, Any] = {"type": "object"}
        if properties or draw(st.booleans()):
            schema["properties"] = properties
        if properties and (required or draw(st.booleans())):
            schema["required"] = required
        others = draw(st.sampled_from([None, None, None, False, True, {"type": "string"}]))
        if others is not None:
            schema["additionalProperties"] = others
        return schema

    return build()


def _compound(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        _object(inner),
        st.fixed_dictionaries({"type": st.just("array")}, optional={"items": inner}),
        st.fixed_dictionaries(
            {"type": st.just("array"), "items": inner},
            optional={"minItems": st.integers(0, 2), "uniqueItems": st.booleans()},
        ),
        st.fixed_dictionaries(
            {"anyOf": st.lists(inner, min_size=1, max_size=3)}, optional={"description": _TEXT}
        ),
        st.fixed_dictionaries({"oneOf": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=2)}),
        st.lists(inner, min_size=1, max_size=2).map(
            lambda places: {"type": "array", "prefixItems": places}
        ),
    )


ANY_SCHEMA = st.recursive(_SCALARS, _compound, max_leaves=6)


@st.composite
def parameters(draw: st.DrawFn) -> dict[str, Any]:
    """The parameters of a function, with two definitions that may be recursive."""
    root = dict(draw(_object(ANY_SCHEMA)))
    root["$defs"] = {name: draw(ANY_SCHEMA) for name in DEFINITIONS}
    return root


class Misfit(Exception):
    """No value was found."""


@st.composite
def values(draw: st.DrawFn, schema: Any, root: Any, depth: int = 0) -> Any:
    """A value that a model held to the schema could give, if it gives what is described alone."""
    if depth > 6:
        raise Misfit
    if schema is True or schema == {}:
        return draw(st.sampled_from([None, 1, "x", []]))
    if schema is False:
        raise Misfit
    if "$ref" in schema:
        target = root if schema["$ref"] == "#" else root["$defs"][schema["$ref"][8:]]
        return draw(values(target, root, depth + 1))
    if "anyOf" in schema:
        branches = draw(st.permutations(schema["anyOf"]))
        for branch in branches:
            try:
                return draw(values(branch, root, depth + 1))
            except Misfit:
                continue
        raise Misfit
    if "enum" in schema:
        return draw(st.sampled_from(schema["enum"]))
    if "const" in schema:
        return schema["const"]
    named = schema.get("type", "string")
    kind = draw(st.sampled_from(named)) if isinstance(named, list) else named
    return draw(_of_type(kind.lower(), schema, root, depth))


@st.composite
def _of_type(draw: st.DrawFn, kind: str, schema: Any, root: Any, depth: int) -> Any:
    if kind == "object":
        required = schema.get("required", ())
        out = {}
        for name, inner in schema.get("properties", {}).items():
            if name in required or (depth < 3 and draw(st.booleans())):
                out[name] = draw(values(inner, root, depth + 1))
        return out
    if kind == "array":
        places, rest = schema.get("prefixItems", []), schema.get("items", {})
        least = schema.get("minItems", 0)
        most = len(places) if places and "items" not in schema else 2
        size = draw(st.integers(least, max(least, 0 if depth > 3 else most)))
        described = [*places[:size], *[rest] * (size - len(places))]
        return [draw(values(item, root, depth + 1)) for item in described]
    simple: dict[str, st.SearchStrategy[Any]] = {
        "string": _TEXT,
        "integer": st.integers(-3, 8),
        "number": st.integers(-3, 8) | st.floats(0, 4, allow_nan=False),
        "boolean": st.booleans(),
        "null": st.none(),
    }
    return draw(simple[kind])
