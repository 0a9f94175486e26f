"""Small originals, their wheels, and what a cache may hold; used by processes of their own, too.

`python made_up_originals.py NAME FOLDER` fetches an original as a script would: it prints a line before it begins.
Without FOLDER, by pip.
"""

from __future__ import annotations

import base64
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from parallel_compat.originals import cache, catalogue, fetching
from parallel_compat.originals.catalogue import Original, Wheel

PROJECT = Path(__file__).parents[2]
MODULES = 200  # of the large original: fetching it takes long enough to be killed in the middle


def wheel(folder: Path, name: str, members: dict[str, str], tag: str = "py3-none-any", **about: object) -> Wheel:
    """Write a wheel of version 1.0 and return its row in a catalogue."""
    path = folder / f"{name}-1.0-{tag}.whl"
    information = f"{name}-1.0.dist-info"
    members = {
        **members,
        f"{information}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{information}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    record = "".join(f"{member},sha256={_digest(text)},{len(text)}\n" for member, text in members.items())
    members[f"{information}/RECORD"] = f"{record}{information}/RECORD,,\n"
    with zipfile.ZipFile(path, "w") as archive:
        for member, text in members.items():
            archive.writestr(zipfile.ZipInfo(member), text)
    content = path.read_bytes()
    return Wheel(f"{name}==1.0", path.name, hashlib.sha256(content).hexdigest(), len(content), **about)


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def write(folder: Path) -> None:
    """Put the made-up originals into the catalogue, instead of the real ones, and their wheels into a folder."""
    small = wheel(
        folder,
        "made_up_keras",
        {"made_up_keras/__init__.py": "one = 1\n", "made_up_keras/data.json": "{}", "docs/build.py": "two = 2\n"},
        keep=("made_up_keras/",),
    )
    companion = wheel(folder, "made_up_companion", {"made_up_companion/__init__.py": ""}, keep=("made_up_companion/",))
    modules = {f"core/part_{number}/module.py": f"number = {number}\n" * 500 for number in range(MODULES)}
    large = wheel(
        folder,
        "made_up_tensorflow",
        {"core/__init__.py": "", "core/library.so": "x" * 1000, "top/__init__.py": "forwards", **modules},
        "cp38-cp38-manylinux2010_x86_64",
        python="3.8",
        abi="cp38",
        platform="manylinux2010_x86_64",
        keep=("core/",),
        top=("core/", "top/"),
    )
    catalogue.ORIGINALS.clear()
    for original in (
        Original("small", "Small Keras", (small, companion)),
        Original("large", "Large Keras", (large, companion)),
        Original("needing", "Needing Keras", (small,), needs=("large",)),
    ):
        catalogue.ORIGINALS[original.name] = original


def started(name: str, *wheels_from: Path) -> subprocess.Popen[str]:
    """Start a process that fetches."""
    command = [sys.executable, __file__, name, *map(str, wheels_from)]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def left_over() -> list[str]:
    """Say what is in the cache beside the lock and the originals of the catalogue."""
    ours = {".lock", *(cache.folder(name).name for name in catalogue.ORIGINALS)}
    return sorted(set(os.listdir(cache.root())) - ours) if cache.root().is_dir() else []


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores interrupts
    with tempfile.TemporaryDirectory() as temporary:  # the same wheels: their bytes are the same each time
        write(Path(temporary))
    print("begins", flush=True)
    fetching.fetch(sys.argv[1], wheels_from=Path(sys.argv[2]) if len(sys.argv) > 2 else None)
