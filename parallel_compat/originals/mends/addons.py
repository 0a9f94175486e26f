"""TensorFlow Addons: the Python sources of 0.10 are fetched; its compiled kernels do not load in today's TensorFlow."""

from __future__ import annotations

import importlib.abc
import os
import sys
from importlib.machinery import ModuleSpec
from typing import Any

from parallel_compat.originals import fetching
from parallel_compat.originals.catalogue import ADDONS
from parallel_compat.originals.sources import OriginalFinder


class AddonsFinder(importlib.abc.MetaPathFinder):
    """Comes after all finders: fetches TensorFlow Addons when it is first imported and is not installed."""

    def __init__(self, finder: OriginalFinder) -> None:
        self.finder = finder

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the spec of `tensorflow_addons`, and None for all else."""
        if fullname != "tensorflow_addons":
            return None
        try:
            sources = fetching.fetch(ADDONS) / "sources"
        except fetching.FetchError as error:
            raise ModuleNotFoundError(f"No module named {fullname!r}: {error}", name=fullname) from error
        sys.meta_path.remove(self)
        os.environ.setdefault("TF_ADDONS_PY_OPS", "1")  # its own switch: compute in Python, without a page of warnings
        self.finder.paths.update({name: sources / name for name in (fullname, "typeguard")})
        mends = self.finder.mends
        with mends.cause("addons"):
            mends.after(
                "tensorflow_addons.utils.resource_loader",
                lambda module: mends.replace(module.LazySO, "ops", lambda _: property(lambda library: _Kernels())),
            )
        return self.finder.find_spec(fullname)


class _Kernels:
    """What a library of kernels has: TensorFlow's own one, else the error after which Addons computes in Python."""

    def __getattr__(self, name: str) -> Any:
        if name == "addons_image_projective_transform_v2":
            return _transformed
        import tensorflow

        raise tensorflow.errors.NotFoundError(
            None,
            None,
            f"Expected a kernel that today's TensorFlow has. Received: {name}, which TensorFlow Addons compiled for "
            "TensorFlow 2.2. Compute this without TensorFlow Addons.",
        )


def _transformed(images: Any, transforms: Any, output_shape: Any, interpolation: str) -> Any:
    """Transform images, with zeros outside: `rotate`, `translate` and `transform` ask for it."""
    import tensorflow

    return tensorflow.raw_ops.ImageProjectiveTransformV3(
        images=images,
        transforms=transforms,
        output_shape=output_shape,
        fill_value=0.0,
        interpolation=interpolation.upper(),
        fill_mode="CONSTANT",
    )
