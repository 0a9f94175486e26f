"""What a file is that should be HDF5 and is not, or is cut: one sentence, and what to do."""

from __future__ import annotations

import os
import re

AGAIN = "Copy or download it again"
_CUT = re.compile(r"truncated file: eof = (\d+), sblock->base_addr = (\d+), stored_eof = (\d+)")


def not_hdf5(head: bytes, size: int) -> str:
    """Say what a file is that does not begin as HDF5 does.

    Args:
        head: its first eight bytes.
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


def of_tensorflow(path: str) -> str | None:
    """Say what TensorFlow wrote under a path instead of an HDF5 file, and what reads it; None for anything else."""
    if os.path.exists(os.path.join(path, "saved_model.pb")):
        return (
            "expected an .h5 file. Received: a SavedModel folder. `parallel_compat.legacy.models.load_model` reads "
            "those of tf.keras."
        )
    prefix = re.sub(r"\.(index|meta|data-\d+-of-\d+)$", "", path)
    if not os.path.exists(f"{prefix}.index"):
        return None
    if os.path.exists(f"{prefix}.meta"):
        return (
            "expected an .h5 file. Received: a checkpoint of a TensorFlow 1 session. Load it in the code that wrote "
            "it, under `parallel-compat run`, and save an .h5 file there."
        )
    return (
        "expected an .h5 file. Received: a TensorFlow checkpoint. Build the model in your code, and call "
        f"`parallel_compat.legacy.models.load_weights(model, {prefix!r})`."
    )


def cut(error: str) -> str | None:
    """Say how much is missing of a file that is cut; None for another error."""
    match = _CUT.search(error)
    if match is None:
        return None
    found, start, whole = map(int, match.groups())
    return f"the file is truncated: it holds {found:,} of {start + whole:,} bytes. {AGAIN}."
