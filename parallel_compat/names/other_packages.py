"""What `run` does not answer of other packages: names with a way out, and under which name a package is installed.

What it answers is in `old_packages.tsv`.
"""

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
    "bool8": "numpy.bool_",
    "object0": "numpy.object_",
    "int0": "numpy.intp",
    "uint0": "numpy.uintp",
    "cfloat": "numpy.complex128",
    "singlecomplex": "numpy.complex64",
    "longfloat": "numpy.longdouble",
}

# Packages that are installed under another name than they are imported by, or that Keras 2 brought along.
PACKAGES: dict[str, str] = {
    "keras_applications": "it comes with old Keras: parallel-compat run --era keras-2.2.4 SCRIPT",
    "keras_preprocessing": "it comes with old Keras: parallel-compat run --era keras-2.2.4 SCRIPT",
    "keras_contrib": "it was installed from its repository, keras-team/keras-contrib: copy its folder into the project",
    "keras_tqdm": "pip install keras-tqdm",
    "keras_radam": "pip install keras-rectified-adam",
    "keras_bert": "pip install keras-bert",
    "classification_models": "pip install image-classifiers",
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
    "dicom": "pip install pydicom, and write `import pydicom`",
    "bs4": "pip install beautifulsoup4",
    "skvideo": "pip install scikit-video",
    "pywt": "pip install PyWavelets",
    "dateutil": "pip install python-dateutil",
    "pydot": "pip install pydot, and install Graphviz",
    "pydot_ng": "pip install pydot, and install Graphviz",
    "SimpleITK": "pip install SimpleITK",
    "pycocotools": "pip install pycocotools",
    "Levenshtein": "pip install Levenshtein",
    "editdistance": "pip install editdistance",
    "tensorflow_addons": "it ended with TensorFlow 2.14 and does not install beside today's: `gelu` is `tf.nn.gelu`; "
    "layers such as InstanceNormalization are a file each of tensorflow/addons: copy them into the project",
    "imgaug": "pip install imgaug, which needs numpy 1",
    "pandas.io.data": "pip install pandas-datareader",
    "matplotlib.mlab": "use numpy for what it did",
}

# (module, attribute) -> what to do; "*" is any attribute.
ATTRIBUTES: dict[tuple[str, str], str] = {
    ("string", "maketrans"): "only Python 2 has it: `str.maketrans`",
    ("numpy", "asscalar"): "numpy 1.23 dropped it: `array.item()`",
    ("numpy", "msort"): "numpy dropped it: `np.sort(array, axis=0)`",
    ("numpy", "rank"): "numpy dropped it: `np.ndim(array)`",
    ("numpy", "loads"): "numpy dropped it: `pickle.loads`, for data that you trust",
    ("cv2", "CascadeClassifier"): "OpenCV 5 dropped it: pip install 'opencv-python-headless<5'",
    ("librosa.output", "write_wav"): "it is `soundfile.write` today (pip install soundfile)",
    ("librosa", "output"): "`librosa.output.write_wav` is `soundfile.write` today (pip install soundfile)",
}
