"""How much of a file is believed: every bound that reading keeps, in one place.

A file is a claim by a stranger. Each number is far above what Keras ever wrote (the largest application model,
NASNetLarge, has 1,500 weights and a 1.5 MB config) and far below what hurts.
"""

from __future__ import annotations

import contextlib
import os

MIB = 1 << 20

# What one file may make of itself: its datasets' bytes, unpacked, in all. Keras writes plain, uncompressed
# arrays (ratio 1); 8 leaves room for files that were packed with gzip afterwards.
BYTES_OVER_FILE_SIZE = 8
BYTES_AT_LEAST = 32 * MIB

ATTRIBUTE_BYTES = 16 * MIB  # one attribute: a model's config, a list of names
ARCHIVE_MEMBERS = 5_000  # of a `.keras` file: four, and the vocabularies of layers
NAMES = 50_000  # layers, and weights, in one file
NAME_LENGTH = 1_024
NAME_DEPTH = 32  # parts of one weight's name, between slashes
RANK = 16  # axes of one array
DTYPES = frozenset(
    ("float16", "float32", "float64", "bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))
)

JSON_DEPTH = 400  # nested models cost five levels each
JSON_VALUES = 600_000
MODEL_DEPTH = 40  # models inside models
GRAPH_LAYERS = 5_000  # in all models together; ResNet-1001 has 3,500, and Keras takes a millisecond for each

START_SECONDS = 60.0  # a reading process that imports h5py from a cold disk; the file is not yet open
STRUCTURE_SECONDS = 3.5  # everything but the arrays; also the longest silence between two parts of an array
SLOWEST_BYTES_PER_SECOND = 16 * MIB  # of processor time; gunzip does ten times that
MEMORY_BYTES = 192 * MIB  # of the reading process over its start, on top of the largest chunk
OPEN_FILES = 32
BLOCK_BYTES = 4 * MIB  # arrays travel in pieces of at most this


def byte_budget(file_size: int, max_bytes: int | None) -> int:
    """Return how many bytes of arrays a file of `file_size` bytes may hold."""
    return max_bytes if max_bytes is not None else max(BYTES_AT_LEAST, BYTES_OVER_FILE_SIZE * file_size)


def memory_of_machine() -> int:
    """Return how many bytes of memory this machine has, or a terabyte where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 1 << 40


def limit_this_process(memory: int) -> None:
    """Take from this process what reading a file does not need; each limit where the system has it."""
    try:
        import resource
    except ImportError:  # Windows
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
    limit_memory(memory)


def limit_memory(more: int) -> None:
    """Let this process grow by `more` bytes from here on, and no further (Linux)."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        with open("/proc/self/statm", encoding="ascii") as statm:
            used = int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        wanted = used + more
        resource.setrlimit(resource.RLIMIT_AS, (wanted if hard < 0 else min(wanted, hard), hard))


def limit_seconds(more: float) -> None:
    """Let this process use `more` seconds of processor time from here on; then the system ends it."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        spent = resource.getrusage(resource.RUSAGE_SELF)
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        wanted = int(spent.ru_utime + spent.ru_stime + more) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (wanted if hard < 0 else min(wanted, hard), hard))
