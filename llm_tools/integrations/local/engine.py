"""llama.cpp's own server, as PyPI's `xllamacpp` ships it, in this process.

Its HTTP port is kept for ourselves (a key of its own): closing the socket is the one way to stop
a generation at any moment. Its tool calling is not used, see `protocol`.
"""

from __future__ import annotations

import secrets
from typing import Any
from urllib.parse import urlsplit

from .loopback import Address

_PREFIX_CACHE_MIB = 32
"""Room for the worked examples of all steps, so that they are evaluated once in a process."""


def start_engine(weights: str, *, threads: int, context: int, slots: int) -> tuple[Address, Any]:
    """Load the weights and listen; `context` tokens are shared evenly by `slots` requests.

    Returns:
        Where it listens, and the server itself, to be kept alive.
    """
    import xllamacpp

    key = secrets.token_urlsafe(24)
    options = xllamacpp.CommonParams()
    options.model.path = weights
    options.hostnames = ["127.0.0.1"]
    options.port = 0
    options.api_keys = [key]
    options.n_ctx = context
    options.n_parallel = slots
    options.n_batch = options.n_ubatch = 128
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = threads
    options.n_gpu_layers = 0
    options.cache_ram_mib = _PREFIX_CACHE_MIB
    options.use_jinja = True
    options.offline = True
    options.ui = False
    options.endpoint_slots = False
    options.fit_params = False
    options.cors_origins = ""
    options.verbosity = 0
    options.sampling.temp = 0.0
    options.sampling.seed = 1
    server = xllamacpp.Server(options)
    where = urlsplit(server.listening_address)
    if where.hostname is None or where.port is None:
        raise RuntimeError(f"the engine listens nowhere: {server.listening_address}")
    return Address(where.hostname, where.port, key), server
