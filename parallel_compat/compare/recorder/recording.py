"""What is written, and what a replay reads."""

from __future__ import print_function

import json
import os
import sys

import numpy as np

VERSION = 1


class Recording(object):
    """What was seen, in memory until the script ends: arrays of at most so many bytes."""

    def __init__(self, path, most):
        self.path = path
        self.left = most
        self.sections = []
        self.facts = {"version": VERSION, "python": sys.version.split()[0], "models": [], "notes": []}

    def put(self, section, arrays):
        """Keep a list of arrays under a name."""
        kept = [self._plain(array) for array in arrays]
        if any(array is None for array in kept):
            self.note("%s: not written, it contains more than plain numbers" % section)
            return False
        size = sum(array.nbytes for array in kept)
        if size > self.left:
            self.note("%s: not written, %d bytes are more than --max-mb still allows" % (section, size))
            return False
        self.left -= size
        self.sections.append((section, kept))
        return True

    def note(self, text):
        """Say once what could not be written down."""
        if text not in self.facts["notes"]:
            self.facts["notes"].append(text)

    def write(self):
        """Write the file: whole, or not at all."""
        import h5py

        temporary = "%s.%d.tmp" % (self.path, os.getpid())
        try:
            with h5py.File(temporary, "w") as file:
                flat = {}  # HDF5 needs 500 bytes for an array of one number: all of one type are one array
                self.facts["sections"] = []
                for name, arrays in self.sections:
                    rows = [[array.dtype.name, list(array.shape)] for array in arrays]
                    self.facts["sections"].append([name, rows])
                    for array in arrays:
                        flat.setdefault(array.dtype.name, []).append(array.ravel())
                file.attrs["layer_names"] = np.array([b"arrays"], dtype="S")
                file.attrs["backend"] = b"parallel-compat recording"
                file.attrs["keras_version"] = str(self.facts.get("keras", "?")).encode("utf-8")
                found = {name: np.concatenate(flat[name]) for name in flat}
                found["json"] = np.frombuffer(json.dumps(self.facts, sort_keys=True).encode("utf-8"), dtype="uint8")
                group = file.create_group("arrays")
                group.attrs["weight_names"] = np.array([name.encode("utf-8") for name in sorted(found)], dtype="S")
                for name in sorted(found):
                    group.create_dataset(name, data=found[name], compression="gzip", shuffle=True)
            if os.name == "nt" and os.path.exists(self.path):
                os.remove(self.path)
            os.rename(temporary, self.path)
        finally:
            if os.path.exists(temporary):
                os.remove(temporary)

    @staticmethod
    def _plain(array):
        array = np.array(array)
        array = array.astype("uint8") if array.dtype.kind == "b" else array
        return array if array.dtype.kind in "fiu" and array.dtype.itemsize <= 8 else None


class Replay(object):
    """A recording whose weights and batches are put in here, for `parallel-compat compare`."""

    def __init__(self, path):
        import h5py

        self.arrays = {}
        with h5py.File(path, "r") as file:
            flat = {name: np.array(file["arrays"][name]) for name in file["arrays"]}
        self.facts = json.loads(flat["json"].tobytes().decode("utf-8"))
        for name, rows in self.facts["sections"]:
            self.arrays[name] = []
            for kind, shape in rows:
                size = int(np.prod(shape, dtype="int64"))
                self.arrays[name].append(flat[kind][:size].reshape(shape))
                flat[kind] = flat[kind][size:]
