"""Which proxy of the environment stands before a host."""

from __future__ import annotations

import os
import sys


def is_proxied(scheme: str, host: str) -> bool:
    """Whether requests to this host go through a proxy, by the rules httpx and urllib share."""
    return bool(_proxy(scheme, host))


def find_proxy(scheme: str, host: str) -> str:
    """The host of the proxy that requests to this host go through; empty where there is none."""
    proxy = _proxy(scheme, host)
    if not proxy:
        return ""
    from urllib.parse import urlsplit

    return urlsplit(proxy if "//" in proxy else f"//{proxy}").hostname or ""


def _proxy(scheme: str, host: str) -> str:
    if sys.platform not in ("darwin", "win32") and not _any_variable():
        return ""
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    proxy = proxies.get(scheme) or proxies.get("all") or ""
    return "" if not proxy or proxy_bypass(host) else proxy


def _any_variable() -> bool:
    """A look at the environment is enough on most systems, and spares an import."""
    return any(
        os.environ.get(name) or os.environ.get(name.upper())
        for name in ("http_proxy", "https_proxy", "all_proxy")
    )
