"""Draws `docs/terminal.svg`, the picture of the README, from a real run of the commands below.

python docs/terminal_svg.py           writes it
python docs/terminal_svg.py --check   ends with 1 if it is not what the commands print now
"""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "terminal.svg"
WIDTH = 96
COMMANDS = (
    "parallel-compat names keras.utils.multi_gpu_model np_utils",
    "parallel-compat migrate old_project/predict.py",
    "parallel-compat inspect sgd_even.parallel.h5",
    "parallel-compat recover sgd_even.parallel.h5 -o single.h5",
)


def main() -> int:
    """Write or check the picture."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples" / "old_project", Path(folder) / "old_project")
        shutil.copy(ROOT / "tests" / "data" / "oracle" / "h5" / "sgd_even.parallel.h5", folder)
        picture = drawn([(command, printed(command, folder)) for command in COMMANDS])
    if "--check" in sys.argv[1:]:
        return 0 if PICTURE.read_text("utf-8") == picture else 1
    PICTURE.write_text(picture, "utf-8")
    return 0


def printed(command: str, folder: str) -> str:
    """Run a command on a terminal of its own, and return what it wrote there, colours and all."""
    words = [sys.executable, "-m", "parallel_compat", *command.split()[1:]]
    ours, theirs = pty.openpty()
    own = ("NO_COLOR", "TF_CPP_MIN_LOG_LEVEL")  # of who draws it
    environment = {name: value for name, value in os.environ.items() if name not in own} | {
        "COLUMNS": str(WIDTH), "TERM": "xterm-256color", "COLORTERM": "", "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    process = subprocess.Popen(words, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    parts = []
    try:
        while part := os.read(ours, 65536):
            parts.append(part)
    except OSError:  # Linux's way to say that the other side is closed
        pass
    os.close(ours)
    if process.wait() != 0:
        raise SystemExit(f"$ {command}\n{b''.join(parts).decode()}")
    return b"".join(parts).decode().replace("\r\n", "\n").rstrip("\n")


def drawn(shown: list[tuple[str, str]]) -> str:
    """Draw commands and what they printed; the picture loads nothing from a network."""
    with open(os.devnull, "w") as nowhere:
        console = Console(record=True, width=WIDTH, file=nowhere, force_terminal=True, color_system="standard")
        for command, output in shown:
            console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
            console.print(Text.from_ansi(output))
        picture = console.export_svg(title="parallel-compat", theme=MONOKAI, unique_id="terminal")
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)


if __name__ == "__main__":
    raise SystemExit(main())
