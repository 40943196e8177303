"""A language model of one megabyte, written by hand: the real engine loads it in a moment.

Each token decides the next by a table, there is no attention. It says "Hi!" to everything; held to
a grammar it takes the shortest way out of it: `{"a": 1}`, `[]`, `""`, the first word of an enum.
"""

from __future__ import annotations

import struct
from array import array
from pathlib import Path

_CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
_END = 2
_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_UINT32, _FLOAT32, _BOOL, _STRING, _ARRAY, _INT32 = 4, 6, 7, 8, 9, 5
_ALIGNMENT = 32


def _letters() -> list[str]:
    """The printable letter that stands for each byte in a byte-level vocabulary."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters, spare = [], 0
    for byte in range(256):
        if byte in printable:
            letters.append(chr(byte))
        else:
            letters.append(chr(256 + spare))
            spare += 1
    return letters


def _vocabulary() -> list[str]:
    tokens = [*_CONTROL, *_letters(), "Hi"]
    while len(tokens) % 32:
        tokens.append(f"<|unused{len(tokens)}|>")
    return tokens


def _scores(tokens: list[str]) -> list[array[float]]:
    """For each next token, how likely it is after each token."""
    letters = _letters()
    size = len(tokens)
    rows = [array("f", [0.0]) * size for _ in tokens]
    liked = {'"': 9, "}": 8.5, "]": 8, "1": 6, "t": 5, "{": 4, "[": 3, ",": 2, ":": 2}
    for text, score in liked.items():
        rows[tokens.index(text)] = array("f", [score]) * size
    for byte in b"\n\t ":
        rows[tokens.index(letters[byte])] = array("f", [-5.0]) * size
    rows[_END] = array("f", [20.0]) * size
    for position, token in enumerate(tokens):
        if token.startswith("<|") and position != _END:
            rows[position] = array("f", [-50.0]) * size
    line_end, hi, mark = tokens.index(letters[10]), tokens.index("Hi"), tokens.index("!")
    rows[hi][line_end] += 40
    rows[mark][hi] += 40
    for digit in b"0123456789":
        rows[tokens.index("}")][tokens.index(letters[digit])] += 14
        rows[tokens.index(",")][tokens.index(letters[digit])] += 12
    return rows


def _text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def _field(name: str, kind: int, value: bytes) -> bytes:
    return _text(name) + struct.pack("<I", kind) + value


def _list(name: str, kind: int, values: list[bytes]) -> bytes:
    return _field(name, _ARRAY, struct.pack("<IQ", kind, len(values)) + b"".join(values))


def _metadata(tokens: list[str]) -> list[bytes]:
    size = len(tokens)
    number = struct.Struct("<I").pack
    kinds = [3 if token.startswith("<|") else 1 for token in tokens]
    return [
        _field("general.architecture", _STRING, _text("llama")),
        _field("general.name", _STRING, _text("tiny")),
        _field("llama.context_length", _UINT32, number(8192)),
        _field("llama.embedding_length", _UINT32, number(size)),
        _field("llama.block_count", _UINT32, number(1)),
        _field("llama.feed_forward_length", _UINT32, number(32)),
        _field("llama.attention.head_count", _UINT32, number(size // 32)),
        _field("llama.attention.head_count_kv", _UINT32, number(1)),
        _field("llama.attention.layer_norm_rms_epsilon", _FLOAT32, struct.pack("<f", 1e-6)),
        _field("llama.rope.dimension_count", _UINT32, number(32)),
        _field("llama.vocab_size", _UINT32, number(size)),
        _field("tokenizer.ggml.model", _STRING, _text("gpt2")),
        _field("tokenizer.ggml.pre", _STRING, _text("smollm")),
        _list("tokenizer.ggml.tokens", _STRING, [_text(token) for token in tokens]),
        _list("tokenizer.ggml.token_type", _INT32, [struct.pack("<i", kind) for kind in kinds]),
        _list("tokenizer.ggml.merges", _STRING, [_text("H i")]),
        _field("tokenizer.ggml.bos_token_id", _UINT32, number(1)),
        _field("tokenizer.ggml.eos_token_id", _UINT32, number(_END)),
        _field("tokenizer.ggml.padding_token_id", _UINT32, number(0)),
        _field("tokenizer.ggml.add_bos_token", _BOOL, b"\0"),
        _field("tokenizer.chat_template", _STRING, _text(_TEMPLATE)),
    ]


def _tensors(tokens: list[str]) -> list[tuple[str, tuple[int, ...], bytes]]:
    """Name, shape (columns first) and 32-bit floats of each tensor."""
    size = len(tokens)
    scale = size**0.5  # the norm before the output stretches a unit vector by this
    one_hot = array("f", [0.0]) * (size * size)
    for position in range(size):
        one_hot[position * size + position] = 1.0
    table = array("f", [score / scale for row in _scores(tokens) for score in row])
    ones = (array("f", [1.0]) * size).tobytes()
    zeros = {
        "attn_q": (size, size), "attn_k": (size, 32), "attn_v": (size, 32),
        "attn_output": (size, size), "ffn_gate": (size, 32), "ffn_up": (size, 32),
        "ffn_down": (32, size),
    }  # fmt: skip
    return [
        ("token_embd.weight", (size, size), one_hot.tobytes()),
        ("output.weight", (size, size), table.tobytes()),
        ("output_norm.weight", (size,), ones),
        ("blk.0.attn_norm.weight", (size,), ones),
        ("blk.0.ffn_norm.weight", (size,), ones),
        *[
            (f"blk.0.{name}.weight", shape, bytes(4 * shape[0] * shape[1]))
            for name, shape in zeros.items()
        ],
    ]


def _padding(length: int) -> bytes:
    return bytes(-length % _ALIGNMENT)


def write_tiny_model(path: Path) -> None:
    """Write the GGUF file."""
    tokens = _vocabulary()
    fields = _metadata(tokens)
    tensors = _tensors(tokens)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(fields)) + b"".join(fields)
    data = b""
    for name, shape, floats in tensors:
        sizes = struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
        head += _text(name) + sizes + struct.pack("<IQ", 0, len(data))
        data += floats + _padding(len(floats))
    path.write_bytes(head + _padding(len(head)) + data)
