"""What a file is that should be HDF5 and is not, or is cut: one sentence, and what to do."""

from __future__ import annotations

import re

AGAIN = "Copy or download it again"
_CUT = re.compile(r"truncated file: eof = (\d+), sblock->base_addr = (\d+), stored_eof = (\d+)")


def not_hdf5(head: bytes, size: int) -> str:
    """Say what a file is that does not begin as HDF5 does.

    Args:
        head: its first eight bytes.
        size: its size in bytes.
    """
    if not size:
        return f"an empty file: writing or copying it was interrupted. {AGAIN}."
    if head.startswith(b"version "):
        return "a pointer of Git LFS, not the file itself. Fetch the file: git lfs pull."
    if head.lstrip().lower().startswith((b"<!doc", b"<html", b"<?xml")):
        return f"a web page, not an HDF5 file: what was downloaded is an error message or a login. {AGAIN}."
    if head.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ")):
        return "a compressed file. Unpack it first: gunzip, bunzip2, unxz or tar -xf."
    if head[:2] in (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"):
        return (
            "a pickle, not an HDF5 file. Reading a pickle executes its code, so it is not read. Load it in the old "
            "environment, and save the model as .h5 there."
        )
    return f"not an HDF5 file (it holds {size:,} bytes and begins with {head!r})."


def cut(error: str) -> str | None:
    """Say how much is missing of a file that is cut; None for another error.

    Args:
        error: what HDF5 says.
    """
    match = _CUT.search(error)
    if match is None:
        return None
    found, start, whole = map(int, match.groups())
    return f"the file is cut: it holds {found:,} of {start + whole:,} bytes. {AGAIN}."
