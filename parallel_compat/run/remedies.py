"""What stands in an old script's way that is not Keras: gone names of other packages, and packages under other names.

`numpy`'s removed aliases are answered for the user's code. For the rest a script stops with the error of that package,
and one line says what to do.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from parallel_compat.names import old_sources
from parallel_compat.run import callers, usage

if TYPE_CHECKING:
    from types import TracebackType

    from parallel_compat.backend.patches import Patches

# numpy's names until 1.23 (aliases of Python's types) and 1.26, and what they were.
NUMPY: dict[str, str] = {
    **{name: name for name in ("float", "int", "bool", "object", "str", "complex")},
    "long": "int",
    "unicode": "str",
    **dict.fromkeys(("Inf", "Infinity", "PINF", "infty"), "numpy.inf"),
    "NINF": "-numpy.inf",
    "NaN": "numpy.nan",
    "NAN": "numpy.nan",
    "PZERO": "0.0",
    "NZERO": "-0.0",
    "float_": "numpy.float64",
    "complex_": "numpy.complex128",
    "string_": "numpy.bytes_",
    "unicode_": "numpy.str_",
    "product": "numpy.prod",
    "cumproduct": "numpy.cumprod",
    "sometrue": "numpy.any",
    "alltrue": "numpy.all",
    "row_stack": "numpy.vstack",
    "trapz": "numpy.trapezoid",
    "in1d": "numpy.isin",
    "round_": "numpy.round",
    "mat": "numpy.asmatrix",
}

# Packages that are installed under another name than they are imported by, or that Keras 2 brought along.
PACKAGES: dict[str, str] = {
    "keras_applications": "pip install Keras-Applications, or import from `keras.applications`",
    "keras_preprocessing": "pip install Keras-Preprocessing, or import from `tensorflow.keras.preprocessing`",
    "keras_contrib": "it was installed from its repository, keras-team/keras-contrib; then add `--also keras_contrib`",
    "keras_tqdm": "pip install keras-tqdm, and add `--also keras_tqdm`",
    "keras_radam": "pip install keras-rectified-adam, and add `--also keras_radam`",
    "keras_bert": "pip install keras-bert, and add `--also keras_bert`",
    "scikeras": "pip install scikeras",
    "tensorboard": "pip install tensorboard",
    "tensorflow_hub": "pip install tensorflow-hub",
    "tensorflow_datasets": "pip install tensorflow-datasets",
    "tensorflow_probability": "pip install tensorflow-probability",
    "cv2": "pip install opencv-python-headless",
    "PIL": "pip install pillow",
    "Image": "pip install pillow, and write `from PIL import Image`",
    "skimage": "pip install scikit-image",
    "sklearn": "pip install scikit-learn",
    "yaml": "pip install pyyaml",
    "pydot": "pip install pydot, and install Graphviz",
    "pydot_ng": "pip install pydot, and install Graphviz",
    "SimpleITK": "pip install SimpleITK",
    "pycocotools": "pip install pycocotools",
    "Levenshtein": "pip install Levenshtein",
    "editdistance": "pip install editdistance",
    "imp": "Python dropped it in 3.12: use `importlib`",
    "cPickle": "it is of Python 2: `import pickle`",
    "Queue": "it is of Python 2: `import queue`",
    "ConfigParser": "it is of Python 2: `import configparser`",
    "urllib2": "it is of Python 2: `import urllib.request`",
    "StringIO": "it is of Python 2: `from io import StringIO`",
    "distutils": "Python dropped it in 3.12: pip install setuptools",
    "scipy.misc": "SciPy dropped it: `imread` and `imsave` are in imageio, `imresize` is "
    "`np.array(PIL.Image.fromarray(x).resize((width, height)))`",
    "scipy.sparse.linalg.eigen": "its functions (`eigsh`, `ArpackNoConvergence`) are in `scipy.sparse.linalg` today",
    "tensorflow_addons": "it ended with TensorFlow 2.14; Keras 3 has much of it (`keras.layers.GroupNormalization`, "
    "`keras.optimizers.AdamW`, `keras.metrics.F1Score`), the rest is a layer of your own",
    "imgaug": "pip install imgaug, which needs numpy 1",
    "sklearn.cross_validation": "it is `sklearn.model_selection` today",
    "sklearn.grid_search": "it is `sklearn.model_selection` today",
    "sklearn.externals": "pip install joblib, and write `import joblib`",
    "pandas.io.data": "pip install pandas-datareader",
    "matplotlib.mlab": "use numpy for what it did",
}

_SCIPY_MISC = PACKAGES["scipy.misc"]
# (module, attribute) -> what to do; "*" is any attribute.
ATTRIBUTES: dict[tuple[str, str], str] = {
    ("scipy", "misc"): _SCIPY_MISC,
    ("scipy.misc", "*"): _SCIPY_MISC,
    ("scipy.signal", "gaussian"): "it is `scipy.signal.windows.gaussian` today",
    ("scipy", "*"): "SciPy had numpy's functions as well as its own: write `numpy` for `scipy`",
    ("cv2", "CV_AA"): "OpenCV 3 renamed it: `cv2.LINE_AA`",
    ("cv2", "cv"): "OpenCV 3 dropped it, and the prefix CV_ of its constants: `cv2.CAP_PROP_FPS`, `cv2.LINE_AA`",
    ("cv2", "SIFT"): "it is `cv2.SIFT_create()` today",
    ("PIL.Image", "ANTIALIAS"): "Pillow 10 dropped it: `Image.LANCZOS`",
    ("PIL.Image", "LINEAR"): "Pillow 10 dropped it: `Image.BILINEAR`",
    ("PIL.Image", "CUBIC"): "Pillow 10 dropped it: `Image.BICUBIC`",
    ("time", "clock"): "Python dropped it in 3.8: `time.perf_counter()`",
    ("inspect", "getargspec"): "Python dropped it in 3.11: `inspect.getfullargspec`",
    ("collections", "*"): "Python moved the abstract classes to `collections.abc`",
    ("fractions", "gcd"): "it is `math.gcd` today",
    ("string", "letters"): "it is of Python 2: `string.ascii_letters`",
    ("string", "maketrans"): "it is of Python 2: `str.maketrans`",
    ("itertools", "izip"): "it is of Python 2: `zip`",
    ("os", "getcwdu"): "it is of Python 2: `os.getcwd`",
    ("sys", "maxint"): "it is of Python 2: `sys.maxsize`",
    ("skimage.measure", "compare_ssim"): "it is `skimage.metrics.structural_similarity` today",
    ("skimage.measure", "compare_psnr"): "it is `skimage.metrics.peak_signal_noise_ratio` today",
    ("skimage.filters", "gaussian_filter"): "it is `skimage.filters.gaussian` today",
    ("librosa.output", "write_wav"): "it is `soundfile.write` today (pip install soundfile)",
    ("librosa", "output"): "`librosa.output.write_wav` is `soundfile.write` today (pip install soundfile)",
}
# What objects do not have any more: (type, attribute) -> what to do.
_MEMBERS: dict[tuple[str, str], str] = {
    ("DataFrame", "append"): "pandas 2 dropped it: `pd.concat([frame, other])`",
    ("Series", "append"): "pandas 2 dropped it: `pd.concat([series, other])`",
    ("DataFrame", "ix"): "pandas 1 dropped it: `.loc` (by label) or `.iloc` (by number)",
    ("DataFrame", "as_matrix"): "pandas 1 dropped it: `frame.to_numpy()`",
    ("Series", "as_matrix"): "pandas 1 dropped it: `series.to_numpy()`",
    ("DataFrame", "iteritems"): "pandas 2 dropped it: `frame.items()`",
    ("Series", "iteritems"): "pandas 2 dropped it: `series.items()`",
    ("Dataset", "value"): "h5py 3 dropped it: `dataset[()]`",
    ("dict", "has_key"): "it is of Python 2: `key in d`",
    ("dict", "iteritems"): "it is of Python 2: `d.items()`",
    ("dict", "itervalues"): "it is of Python 2: `d.values()`",
    ("dict", "iterkeys"): "it is of Python 2: `d.keys()`",
    ("str", "decode"): "it is text already, also out of h5py 3: leave `.decode(...)` out",
    ("ndarray", "ptp"): "numpy 2 dropped the method: `np.ptp(x)`",
    ("FreeTypeFont", "getsize"): "Pillow 10 dropped it: `font.getbbox(text)[2:]`",
    ("ImageDraw", "textsize"): "Pillow 10 dropped it: `draw.textbbox((0, 0), text)[2:]`",
}
# What other packages say, a part of it -> what was called, and what to do.
_MESSAGES: list[tuple[type[Exception], str, str, str]] = [
    (
        TypeError,
        "load() missing 1 required positional argument: 'Loader'",
        "yaml.load(file)",
        "PyYAML 6 wants a loader: `yaml.safe_load(file)`",
    ),
    (
        ValueError,
        "Object arrays cannot be loaded when allow_pickle=False",
        "numpy.load",
        "numpy 1.16.3 began to ask: `np.load(file, allow_pickle=True)`, for files that you trust",
    ),
    (
        ValueError,
        "setting an array element with a sequence. The requested array has an inhomogeneous shape",
        "numpy.array",
        "numpy 1.24 makes no array of rows of different lengths by itself: `np.array(rows, dtype=object)`",
    ),
    (
        TypeError,
        "arrays is a tuple. Only lists can be used to arrange blocks",
        "numpy.block",
        "`np.meshgrid` gives a tuple since numpy 2: `np.block(list(arrays))`",
    ),
    (
        TypeError,
        "'float' object cannot be interpreted as an integer",
        "/",
        "a size is a whole number: `//` in place of Python 2's `/`, or `int(...)`",
    ),
    (
        OSError,
        "cannot write mode F as",
        "skimage.io.imsave",
        "pictures are written as whole numbers: `(image * 255).astype('uint8')`",
    ),
    (TypeError, "got an unexpected keyword argument 'as_grey'", "as_grey", "scikit-image spells it `as_gray`"),
]
_NAMES: dict[str, str] = {
    "xrange": "it is of Python 2: `range`",
    "unicode": "it is of Python 2: `str`",
    "raw_input": "it is of Python 2: `input`",
    "basestring": "it is of Python 2: `str`",
    "reduce": "it is of Python 2: `from functools import reduce`",
    "unichr": "it is of Python 2: `chr`",
    "long": "it is of Python 2: `int`",
}


def put_on_numpy(patches: Patches) -> None:
    """Answer numpy's removed names for the user's code."""
    import numpy

    patches.wrap(numpy, "__getattr__", _getattr, why="names that numpy removed, for the user's code", read_in="numpy 2")


def _getattr(original: Any) -> Any:
    def __getattr__(name: str) -> Any:
        was = NUMPY.get(name)
        frame = callers.user_frame(sys._getframe(1)) if was is not None else None
        if was is None or frame is None:
            return original(name)
        usage.record(f"numpy.{name}", was, frame)
        import builtins

        import numpy

        if was.startswith("-numpy"):
            return -numpy.inf
        if was in ("0.0", "-0.0"):
            return float(was)
        return getattr(numpy, was[len("numpy.") :]) if was.startswith("numpy.") else getattr(builtins, was)

    return __getattr__


def remedy(error: BaseException | None) -> str | None:
    """Say in one line what to do about an error that is not Keras's, or None where nothing is known.

    >>> remedy(ModuleNotFoundError("No module named 'cv2'", name="cv2"))
    'parallel-compat: `cv2` is not Keras: pip install opencv-python-headless.'

    Args:
        error: what ended the script.
    """
    if error is None:
        return None
    if isinstance(error, SyntaxError):
        return _of_source(error)
    found = _what_is_missing(error)
    if found is None:
        return None
    what, advice = found
    where = _place(error.__traceback__)
    return f"parallel-compat: {where}`{what}` is not Keras: {advice}."


def _of_source(error: SyntaxError) -> str | None:
    where = f"{callers.short(error.filename)}: " if error.filename else ""
    if old_sources.is_of_python_2(error):
        return f"parallel-compat: {where}Python 2 source. {old_sources.CONVERT}."
    if old_sources.is_in_another_coding(error):
        return f"parallel-compat: {where}not in UTF-8. {old_sources.CODING_LINE}"
    return None


def _what_is_missing(error: BaseException) -> tuple[str, str] | None:
    text = str(error)
    if isinstance(error, ModuleNotFoundError) and error.name:
        name = error.name
        while name:
            if name in PACKAGES:
                return error.name, PACKAGES[name]
            name = name.rpartition(".")[0]
        return None
    if isinstance(error, ImportError):
        match = re.search(r"cannot import name '(\w+)' from '([\w.]+)'", text)
        return _of_attribute(match[2], match[1]) if match else None
    if isinstance(error, NameError):
        name = error.name or ""
        return (name, _NAMES[name]) if name in _NAMES else None
    if isinstance(error, AttributeError):
        match = re.search(r"[mM]odule '([\w.]+)' has no attribute '(\w+)'", text)
        if match:
            return _of_attribute(match[1], match[2])
        match = re.search(r"'(\w+)' object has no attribute '(\w+)'", text)
        advice = _MEMBERS.get((match[1], match[2])) if match else None
        return (f"{match[1]}.{match[2]}", advice) if match and advice else None
    for kind, part, what, advice in _MESSAGES:
        if isinstance(error, kind) and part in text:
            return what, advice
    return None


def _of_attribute(module: str, name: str) -> tuple[str, str] | None:
    advice = ATTRIBUTES.get((module, name)) or ATTRIBUTES.get((module, "*"))
    if module == "collections":
        import collections.abc

        advice = advice if hasattr(collections.abc, name) else None
    if module == "scipy" and (module, name) not in ATTRIBUTES:
        import numpy

        advice = advice if hasattr(numpy, name) else None
    return (f"{module}.{name}", advice) if advice else None


def _place(traceback: TracebackType | None) -> str:
    """Name the last line of the user's code in a traceback."""
    place = ""
    while traceback is not None:
        if callers.is_users(traceback.tb_frame):
            place = f"{callers.short(traceback.tb_frame.f_code.co_filename)}:{traceback.tb_lineno}: "
        traceback = traceback.tb_next
    return place


__all__ = ["ATTRIBUTES", "NUMPY", "PACKAGES", "put_on_numpy", "remedy"]
