"""Whether a proxy of the environment stands before a host."""

from __future__ import annotations

import os
import sys


def is_proxied(scheme: str, host: str) -> bool:
    """Whether requests to this host go through a proxy, by the rules httpx and urllib share."""
    if sys.platform not in ("darwin", "win32") and not _any_variable():
        return False
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    return bool(proxies.get(scheme) or proxies.get("all")) and not proxy_bypass(host)


def _any_variable() -> bool:
    """A look at the environment is enough on most systems, and spares an import."""
    return any(
        os.environ.get(name) or os.environ.get(name.upper())
        for name in ("http_proxy", "https_proxy", "all_proxy")
    )
