"""Draws `docs/terminal.svg`, the picture of the README, from a real run of the commands below.

python docs/terminal_svg.py           writes it
python docs/terminal_svg.py --check   ends with 1 if the commands print something else now; versions may differ
"""

from __future__ import annotations

import html
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.syntax import Syntax
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "terminal.svg"
WIDTH = 112
COMMANDS = ("cat train.py", "parallel-compat run --replicas 2 train.py")


def main() -> int:
    """Write or check the picture."""
    with tempfile.TemporaryDirectory() as folder:
        project = shutil.copytree(ROOT / "examples" / "old_script", Path(folder) / "project")
        picture = drawn([(command, printed(command, project)) for command in COMMANDS])
    if "--check" in sys.argv[1:]:
        return 0 if text_of(PICTURE.read_text("utf-8")) == text_of(picture) else 1
    PICTURE.write_text(picture, "utf-8")
    return 0


def printed(command: str, folder: Path) -> str:
    """Run a command on a terminal of its own, and return what it wrote there, colours and all."""
    program, *words = command.split()
    start = [sys.executable, "-m", "parallel_compat"] if program == "parallel-compat" else [program]
    ours, theirs = pty.openpty()
    own = ("NO_COLOR", "TF_CPP_MIN_LOG_LEVEL")  # of who draws it
    environment = {name: value for name, value in os.environ.items() if name not in own} | {
        "COLUMNS": str(WIDTH), "TERM": "xterm-256color", "COLORTERM": "", "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    process = subprocess.Popen(
        [*start, *words], cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
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
            if command.startswith("cat "):
                console.print(Syntax(output, "python", theme="ansi_dark", background_color="default"))
            else:
                console.print(Text.from_ansi(output))
        picture = console.export_svg(title="parallel-compat", theme=MONOKAI, unique_id="terminal")
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)


def text_of(picture: str) -> str:
    """Return the words of a picture, without the versions of the libraries."""
    words = html.unescape(" ".join(re.findall(r"<text[^>]*>([^<]*)</text>", picture))).replace("\xa0", " ")
    words = re.sub(r"\d+ fixes", "COUNT fixes", words.replace("Keras 2.2.4", "Keras 2-2-4"))
    return re.sub(r"\b\d+\.\d+\.\w+(\.\w+)*", "VERSION", words)


if __name__ == "__main__":
    raise SystemExit(main())
