"""Where Gemini, Vertex AI and Ollama live, and what their records say."""

from __future__ import annotations

import pytest

from llm_tools.endpoints import google, ollama, vertex
from llm_tools.endpoints.ollama import read_host
from llm_tools.registry import make_target
from llm_tools.spec import GoogleAuth, KeyAuth, Place


@pytest.mark.parametrize(
    ("values", "base_url"),
    [
        (
            {"location": "us-central1"},
            "https://us-central1-aiplatform.googleapis.com/v1beta1/projects/p/locations/us-central1",
        ),
        (
            {"location": "global"},
            "https://aiplatform.googleapis.com/v1beta1/projects/p/locations/global",
        ),
        (
            {"location": "us"},
            "https://aiplatform.us.rep.googleapis.com/v1beta1/projects/p/locations/us",
        ),
        (
            {"location": "eu", "api_version": "v1"},
            "https://aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu",
        ),
        (
            {"location": "global", "base_url": "https://gateway.example.org/google/"},
            "https://gateway.example.org/google/projects/p/locations/global",
        ),
    ],
)
def test_vertex_hosts(values: dict[str, str], base_url: str) -> None:
    """Regions have a host each, the world and the multi-regions their own."""
    [endpoint] = vertex.ENDPOINTS
    assert endpoint.place is not None
    found = endpoint.place({"project": "p", "api_version": "v1beta1", **values}, "any")
    assert found == Place(f"{base_url}/publishers/google")


def test_vertex_settings() -> None:
    """The project must be known; the location is the whole world unless one is given."""
    [endpoint] = vertex.ENDPOINTS
    assert {s.name: (s.env, s.default, s.required) for s in endpoint.settings} == {
        "project": (("GOOGLE_CLOUD_PROJECT",), None, True),
        "location": (("GOOGLE_CLOUD_LOCATION",), "global", False),
        "api_version": ((), "v1beta1", False),
    }
    assert endpoint.auth == GoogleAuth()


def test_the_gemini_api_takes_its_key_in_a_header() -> None:
    """The key never stands in a URL."""
    [endpoint] = google.ENDPOINTS
    assert isinstance(endpoint.auth, KeyAuth)
    assert (endpoint.auth.header, endpoint.auth.prefix) == ("x-goog-api-key", "")
    assert endpoint.api_key_env == ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    assert endpoint.base_url == "https://generativelanguage.googleapis.com/v1beta"


def test_the_two_do_not_share_signatures() -> None:
    """Each finds only what it left itself."""
    keys = [make_target(x.ENDPOINTS[0], "gemini-3-flash", {}).replay_key for x in (google, vertex)]
    assert keys == ["google", "vertex"]


@pytest.mark.parametrize(
    ("module", "model", "expected"),
    [
        (google, "models/gemini-2.0-flash", "gemini-2.0-flash"),
        (google, "gemini-3-flash", "gemini-3-flash"),
        (vertex, "publishers/google/models/gemini-3-flash", "gemini-3-flash"),
        (vertex, "google/gemini-3-flash", "gemini-3-flash"),
    ],
)
def test_full_model_names(module: object, model: str, expected: str) -> None:
    """A model's full name is as good as its short one."""
    target = make_target(module.ENDPOINTS[0], model, {})  # type: ignore[attr-defined]
    assert target.model == expected


@pytest.mark.parametrize(
    ("host", "base_url"),
    [
        ("http://localhost:11434", "http://localhost:11434"),
        ("localhost", "http://localhost:11434"),
        ("10.0.0.5", "http://10.0.0.5:11434"),
        ("10.0.0.5:8080", "http://10.0.0.5:8080"),
        (":56789", "http://127.0.0.1:56789"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:11434", "http://127.0.0.1:11434"),
        ("http://0.0.0.0:80", "http://127.0.0.1:80"),
        ("https://ollama.com", "https://ollama.com"),
        ("https://ollama.com/", "https://ollama.com"),
        ("http://box", "http://box"),
        ("box/ollama/", "http://box:11434/ollama"),
        ("https://box:8443/ollama", "https://box:8443/ollama"),
        ("[::1]:1234", "http://[::1]:1234"),
        ("[::1]", "http://[::1]:11434"),
        ("::1", "http://[::1]:11434"),
        ("[::]:11434", "http://127.0.0.1:11434"),
        (" box \n", "http://box:11434"),
    ],
)
def test_ollama_host(host: str, base_url: str) -> None:
    """Scheme, port and host may each be missing."""
    assert read_host(host) == base_url


@pytest.mark.parametrize(
    ("values", "base_url"),
    [({}, "http://localhost:11434"), ({"base_url": "box:1"}, "http://box:1")],
)
def test_ollama_is_here_unless_told(values: dict[str, str], base_url: str) -> None:
    """Without a host it is this machine's."""
    [endpoint] = ollama.ENDPOINTS
    assert endpoint.place is not None
    assert endpoint.place(values, "qwen3") == Place(base_url)
    assert endpoint.base_url_env == ("OLLAMA_HOST",)
    assert endpoint.auth == KeyAuth(optional=True)
