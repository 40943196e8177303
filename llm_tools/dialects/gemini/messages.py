"""Messages as `contents` and system parts."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ...content import JSON, Message, OutputResultImage, OutputResultText, ResultWarning
from ...errors import ConfigurationError
from ...functions.preparing import PreparedFunctions
from ...rendering import parts_of
from ...spec import Target
from .parts import image_part, model_parts
from .quirks import GeminiQuirks
from .results import render_results


class Rendered(Struct, frozen=True):
    """The conversation on the wire."""

    contents: list[JSON]
    system: list[JSON]
    warnings: list[ResultWarning]


def render_messages(
    target: Target[GeminiQuirks], messages: tuple[Message, ...], functions: PreparedFunctions
) -> Rendered:
    """Turns of `user` and `model` in alternation; all results of a turn in one content.

    Expects mended messages. System messages, wherever they stand, go to the instruction.

    Raises:
        ConfigurationError: there is nothing to send.
    """
    rendered = Rendered([], [], [])
    for group in _groups(messages):
        first = group[0]
        match first.role:
            case "system":
                _add_system(rendered, first)
            case "user":
                _add(rendered.contents, "user", _user_parts(first))
            case "assistant":
                _add(rendered.contents, "model", model_parts(target, first, functions))
                parts, warnings = render_results(target, first, group[1:], functions)
                _add(rendered.contents, "user", parts)
                rendered.warnings.extend(warnings)
            case "function":  # nothing called it: only messages that were never mended hold one
                pass
    _begin_with_user(rendered)
    return rendered


def _groups(messages: tuple[Message, ...]) -> Iterator[tuple[Message, ...]]:
    """Each message, an assistant's together with the results that follow it."""
    group: tuple[Message, ...] = ()
    for message in messages:
        if message.role == "function" and group and group[0].role == "assistant":
            group = (*group, message)
            continue
        if group:
            yield group
        group = (message,)
    if group:
        yield group


def _add(contents: list[JSON], role: str, parts: list[JSON]) -> None:
    """One more turn, or more parts of the last one where the roles are the same."""
    if not parts:
        return
    if contents and contents[-1]["role"] == role:
        contents[-1]["parts"].extend(parts)
    else:
        contents.append({"role": role, "parts": parts})


def _add_system(rendered: Rendered, message: Message) -> None:
    parts = [
        {"text": part.text} for part in parts_of(message) if isinstance(part, OutputResultText)
    ]
    if parts and rendered.contents:
        detail = "Gemini has no system message inside a conversation; it went to the instruction."
        rendered.warnings.append(ResultWarning(code="system_moved", detail=detail))
    rendered.system.extend(parts)


def _user_parts(message: Message) -> list[JSON]:
    parts: list[JSON] = []
    for part in parts_of(message):
        if isinstance(part, OutputResultImage):
            parts.append(image_part(part))
        elif isinstance(part, OutputResultText) and part.text:
            parts.append({"text": part.text})
    return parts


def _begin_with_user(rendered: Rendered) -> None:
    """See to it that there is a user turn, and that no call comes before one."""
    contents, system = rendered.contents, rendered.system
    has_user = any(content["role"] == "user" for content in contents)
    if has_user and not _begins_with_call(contents):
        return
    if not has_user and system:
        code, detail = "system_as_user", "There was no user turn; the last system message is one."
        opening = system.pop()
    elif contents:
        code, detail = "user_turn_added", "Gemini wants a user turn first; a short one was added."
        opening = {"text": "Begin."}
    else:
        raise ConfigurationError("There is nothing to send: every message is empty.")
    contents.insert(0, {"role": "user", "parts": [opening]})
    rendered.warnings.append(ResultWarning(code=code, detail=detail))


def _begins_with_call(contents: list[JSON]) -> bool:
    first = contents[0]
    return first["role"] == "model" and any("functionCall" in part for part in first["parts"])
