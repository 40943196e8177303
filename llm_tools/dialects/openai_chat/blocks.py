"""Blocks that come in pieces and must be whole again for replay: reasoning and content chunks."""

from __future__ import annotations

from typing import Any

_TEXTS = ("text", "summary")


def add_detail(details: list[Any], piece: Any) -> None:
    """Take in a piece of `reasoning_details`: one entry's pieces share type and index.

    Texts stay lists of fragments until `finished_detail`.
    """
    if not isinstance(piece, dict):
        details.append(piece)
        return
    if not _goes_on(details[-1] if details else None, piece):
        details.append({})
    entry = details[-1]
    for key, item in piece.items():
        if _is_text(key, item) and isinstance(entry.setdefault(key, []), list):
            entry[key].append(item)
        elif item is not None or key not in entry:
            entry[key] = item


def finished_detail(detail: Any) -> Any:
    """The entry with its texts joined."""
    if not isinstance(detail, dict):
        return detail
    return {
        key: "".join(item) if key in _TEXTS and isinstance(item, list) else item
        for key, item in detail.items()
    }


def add_chunk(chunks: list[Any], piece: Any) -> None:
    """Take in a piece of Mistral's content list; a thinking chunk goes on until it is closed."""
    last = chunks[-1] if chunks else None
    if not (isinstance(piece, dict) and piece.get("type") == "thinking"):
        chunks.append(piece)
    elif not (isinstance(last, dict) and last.get("type") == "thinking") or last.get("closed"):
        chunks.append({**piece, "thinking": _entries(piece)})
    else:
        last["thinking"] += _entries(piece)
        others = {key: item for key, item in piece.items() if key != "thinking"}
        last.update({key: item for key, item in others.items() if item is not None})


def finished_chunk(chunk: Any) -> Any:
    """The chunk, a thinking one with its neighbouring texts joined."""
    if not (isinstance(chunk, dict) and chunk.get("type") == "thinking"):
        return chunk
    entries: list[Any] = []
    run: list[str] = []
    for entry in chunk["thinking"]:
        if isinstance(entry, dict) and isinstance(entry.get("text"), str):
            run.append(entry["text"])
        else:
            entries += [*_joined(run), entry]
            run = []
    return {**chunk, "thinking": [*entries, *_joined(run)]}


def thinking_text(chunk: dict[str, Any]) -> str:
    """The text of a thinking chunk."""
    texts = [entry.get("text") for entry in _entries(chunk) if isinstance(entry, dict)]
    return "".join([text for text in texts if isinstance(text, str)])


def _is_text(key: str, item: Any) -> bool:
    return key in _TEXTS and isinstance(item, str)


def _goes_on(last: Any, piece: dict[str, Any]) -> bool:
    kind = piece.get("type")
    return (
        isinstance(last, dict)
        and kind in ("reasoning.text", "reasoning.summary")
        and last.get("type") == kind
        and last.get("index") == piece.get("index")
        and piece.get("id") in (None, last.get("id"))
    )


def _entries(chunk: dict[str, Any]) -> list[Any]:
    inner = chunk.get("thinking")
    if isinstance(inner, str):
        return [{"type": "text", "text": inner}]
    return list(inner) if isinstance(inner, list) else []


def _joined(run: list[str]) -> list[Any]:
    return [{"type": "text", "text": "".join(run)}] if run else []
