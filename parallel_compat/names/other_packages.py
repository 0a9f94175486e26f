"""Names of other packages that old code uses: what became of them, and under which name a package is installed."""

from __future__ import annotations

# numpy's names until 1.23 (aliases of Python's types), 1.24 (`math`) and 1.26, and what they were.
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
    "math": "math",
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
    ("skimage.data", "imread"): "it is `skimage.io.imread` today",
    ("skimage.filters", "gaussian_filter"): "it is `skimage.filters.gaussian` today",
    ("librosa.output", "write_wav"): "it is `soundfile.write` today (pip install soundfile)",
    ("librosa", "output"): "`librosa.output.write_wav` is `soundfile.write` today (pip install soundfile)",
}

# Modules that no package has any more, whatever is installed.
GONE_MODULES = frozenset(
    (
        "cPickle",
        "Queue",
        "ConfigParser",
        "urllib2",
        "StringIO",
        "scipy.misc",
        "scipy.sparse.linalg.eigen",
        "sklearn.cross_validation",
        "sklearn.grid_search",
        "sklearn.externals",
    )
)
