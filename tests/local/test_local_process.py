"""The child process: started once, shared, replaced, and never left behind. On a tiny model."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import anyio
import httpx
import msgspec
import pytest

from llm_tools import ConfigurationError, use_llm
from llm_tools.integrations.local import launching

linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks into /proc")
both_loops = pytest.mark.anyio


@pytest.fixture(autouse=True)
def fresh_process() -> Iterator[None]:
    """Each test here begins and ends without a child."""
    launching.stop()
    yield
    launching.stop()


def child() -> subprocess.Popen[bytes]:
    return next(iter(launching._children.values())).process


@both_loops
async def test_many_tasks_share_one_child(tiny_model: Path) -> None:
    """However many ask at once, one process is started, and it answers with the key alone."""
    found: set[tuple[str, str]] = set()

    async def one() -> None:
        found.add(await launching.launch())

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(one)
    [(base_url, key)] = found
    async with httpx.AsyncClient(base_url=base_url, trust_env=False) as client:
        assert (await client.get("/models")).status_code == 401
        models = await client.get("/models", headers={"authorization": f"Bearer {key}"})
    assert [model["id"] for model in models.json()["data"]] == ["smollm2", "tiny"]


def test_loops_and_threads_share_one_child(tiny_model: Path) -> None:
    """Loop after loop, and loops in several threads at once, meet the same process."""
    found = [anyio.run(launching.launch, backend=name) for name in ("asyncio", "trio", "asyncio")]

    def in_thread(backend: str) -> None:
        found.append(anyio.run(launching.launch, backend=backend))

    threads = [threading.Thread(target=in_thread, args=(name,)) for name in ("asyncio", "trio")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 5
    assert len(set(found)) == 1


@both_loops
async def test_a_dead_child_is_replaced(tiny_model: Path) -> None:
    """When the child has died the next call starts another."""
    llm = use_llm("local.smollm2")
    assert (await llm.call("Hello")).text == "Hi!"
    first = child()
    first.kill()
    await anyio.to_thread.run_sync(first.wait)
    assert (await llm.call("Hello")).text == "Hi!"
    assert child().pid != first.pid
    assert first.stdin is not None
    assert first.stdin.closed


def test_stop_ends_it_and_may_be_repeated(tiny_model: Path) -> None:
    """`stop` leaves no process, and the next call starts another."""
    anyio.run(launching.launch)
    process = child()
    launching.stop()
    launching.stop()
    assert process.returncode == 0
    anyio.run(launching.launch)
    assert child().pid != process.pid


@linux
def test_the_key_is_in_no_environment_and_no_command_line(tiny_model: Path) -> None:
    """Other users of the machine can read neither."""
    _, key = anyio.run(launching.launch)
    for name in ("environ", "cmdline"):
        assert key.encode() not in Path(f"/proc/{child().pid}/{name}").read_bytes()


def test_another_model_is_another_child(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable that names the model is read at each call; both models then run."""
    first = anyio.run(launching.launch)
    other = tmp_path / "other.gguf"
    other.write_bytes(tiny_model.read_bytes())
    monkeypatch.setenv("LLM_TOOLS_LOCAL_MODEL", str(other))
    assert anyio.run(launching.launch) != first
    monkeypatch.setenv("LLM_TOOLS_LOCAL_MODEL", str(tiny_model))
    assert anyio.run(launching.launch) == first


def test_progress_is_told_on_request(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line on stderr while it starts, where someone wants it; silence otherwise."""
    anyio.run(launching.launch)
    assert capsys.readouterr().err == ""
    launching.stop()
    monkeypatch.setenv("LLM_TOOLS_PROGRESS", "1")
    anyio.run(launching.launch)
    anyio.run(launching.launch)
    told = capsys.readouterr().err
    assert told.startswith("llm-tools: starting the local model (tiny) … ready in ")
    assert told.count("\n") == 1


@both_loops
async def test_a_missing_engine_names_the_command(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the extra, the error says what to install."""
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'llm-tools\[local\]'"):
        await use_llm("local.smollm2").call("Hello")


@both_loops
async def test_missing_weights_name_the_command(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the weights, the error says how to get them."""
    monkeypatch.delenv("LLM_TOOLS_LOCAL_MODEL")
    monkeypatch.setenv("LLM_TOOLS_CACHE", str(tmp_path))
    with pytest.raises(ConfigurationError, match="llm-tools local fetch"):
        await use_llm("local.smollm2").call("Hello")


@both_loops
async def test_weights_that_do_not_load(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is no model is an error that names it, and leaves no process."""
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"no model")
    monkeypatch.setenv("LLM_TOOLS_LOCAL_MODEL", str(broken))
    with pytest.raises(ConfigurationError, match=r"did not start .*broken\.gguf"):
        await use_llm("local.smollm2").call("Hello")
    assert launching._children == {}


@both_loops
async def test_a_cancelled_start_is_found_by_the_next(tiny_model: Path) -> None:
    """Giving up while it starts neither blocks nor starts a second one."""
    with anyio.move_on_after(0) as scope:
        await launching.launch()
    assert scope.cancelled_caught
    first = await launching.launch()
    assert await launching.launch() == first


PARENT = """
import os, subprocess, sys
import anyio
from llm_tools.integrations.local import launching

anyio.run(launching.launch)
process = next(iter(launching._children.values())).process
how = sys.argv[1]
sibling = 0
if how == "fork":
    sibling = os.fork()
    if not sibling:
        sys.stdin.read()
        os._exit(0)
if how == "copy":  # a copy that the interpreter knows nothing of keeps the pipe open
    sibling = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], pass_fds=[process.stdin.fileno()]
    ).pid
print(process.pid, sibling, flush=True)
if how == "exit":
    sys.exit()
sys.stdin.read()
"""


@linux
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("how", ["alone", "fork", "copy", "exit"])
def test_no_child_outlives_its_parent(tiny_model: Path, how: str) -> None:
    """Killed without warning, also while a copy of it lives, or ended: the child is gone."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert parent.stdin is not None
    assert parent.stdout is not None
    with parent.stdin, parent.stdout:
        pid, sibling = map(int, parent.stdout.readline().split())
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            assert how == "exit"
            handle = None
        if how != "exit":
            parent.kill()
        parent.wait()
        if handle is not None:
            gone, _, _ = select.select([handle], [], [], 20)
            os.close(handle)
            assert gone, "the child is still there"
        if sibling:
            assert Path(f"/proc/{sibling}").exists()


FORKING = """
import os, sys
import anyio
import msgspec
from llm_tools.integrations.local import launching

async def launch():
    return await launching.launch(), next(iter(launching._children.values())).process.pid

before = anyio.run(launch)
read, write = os.pipe()
pid = os.fork()
if not pid:
    os.write(write, msgspec.json.encode(anyio.run(launch)))
    launching.stop()
    os._exit(0)
os.close(write)
with open(read, "rb") as pipe:
    inside = msgspec.json.decode(pipe.read())
os.waitpid(pid, 0)
after = anyio.run(launch)
sys.stdout.buffer.write(msgspec.json.encode([before, inside, after]))
"""


@linux
def test_a_forked_process_has_a_child_of_its_own(tiny_model: Path) -> None:
    """After a fork nothing is shared, and the copy's end leaves the original's child alone."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning", "-c", FORKING],
        stdout=subprocess.PIPE,
        check=True,
    )
    before, inside, after = msgspec.json.decode(done.stdout)
    assert before == after
    assert inside[0] != before[0]
    assert inside[1] != before[1]


def serve(line: bytes, parent: int) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "llm_tools.integrations.local.serving", "--model", "none"]
    return subprocess.run(
        [*command, "--parent", str(parent)], input=line, capture_output=True, check=False
    )


def test_the_child_leaves_without_a_key() -> None:
    """A pipe that closes before the key came means that nobody is there."""
    done = serve(b"", os.getpid())
    assert (done.returncode, done.stdout) == (0, b"")
