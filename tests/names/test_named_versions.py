"""Versions that the files of a project name, in each of the ways that there are."""

from __future__ import annotations

import pytest

from parallel_compat.names.named_versions import HIGHEST, in_prose, in_requirements

# A line of a file of requirements; the package, the lowest version and the first one above, or None.
REQUIREMENTS = {
    # pip
    "tensorflow-gpu==1.14.0": ("tensorflow", (1, 14, 0), (1, 14, 1)),
    "Keras == 2.2.4 ; python_version < '3'": ("keras", (2, 2, 4), (2, 2, 5)),
    "tensorflow>=1.4.0,!=1.7.*,!=1.8.*": ("tensorflow", (1, 4, 0), HIGHEST),
    "keras>=2.2,<2.3": ("keras", (2, 2, 0), (2, 3, 0)),
    "tensorflow<=2.0": ("tensorflow", (0, 0, 0), (2, 1, 0)),
    "tensorflow~=1.14.0": ("tensorflow", (1, 14, 0), (1, 15, 0)),
    "tensorflow[and-cuda]==2.14": ("tensorflow", (2, 14, 0), (2, 15, 0)),
    "tensorflow==2.0.0a0": ("tensorflow", (2, 0, 0), (2, 0, 1)),
    "tf-nightly-2.0-preview": ("tensorflow", (2, 0, 0), HIGHEST),
    "tensorflow_addons==0.11": ("tensorflow", (2, 0, 0), HIGHEST),
    "https://storage.googleapis.com/tensorflow/linux/gpu/tensorflow_gpu-1.12.0-cp36-cp36m-linux_x86_64.whl": (
        "tensorflow", (1, 12, 0), (1, 12, 1),
    ),
    "git+https://github.com/keras-team/keras.git@2.2.4": ("keras", (2, 2, 4), (2, 2, 5)),
    # conda
    "  - tensorflow=1.14": ("tensorflow", (1, 14, 0), (1, 15, 0)),
    "- tensorflow-gpu=1.13.1=h0d30ee6_0": ("tensorflow", (1, 13, 1), (1, 13, 2)),
    "- conda-forge::keras 2.2.*": ("keras", (2, 2, 0), (2, 3, 0)),
    "- python=3.8": ("python", (3, 8, 0), (3, 9, 0)),
    # TOML, setuptools
    'tensorflow = {version = "^1.14", extras = []}': ("tensorflow", (1, 14, 0), (2, 0, 0)),
    'name = "tensorflow"\nversion = "1.14.0"': ("tensorflow", (1, 14, 0), (1, 14, 1)),
    '"keras (==2.2.4)",': ("keras", (2, 2, 4), (2, 2, 5)),
    'python_requires=">=3.8"': ("python", (3, 8, 0), HIGHEST),
    # Docker and services
    "FROM nvcr.io/nvidia/tensorflow:20.03-tf1-py3": ("tensorflow", (1, 0, 0), (2, 0, 0)),
    "FROM nvcr.io/nvidia/tensorflow:20.03-tf2-py3": ("tensorflow", (2, 0, 0), (3, 0, 0)),
    "docker run tensorflow/tensorflow:1.12.0 python": ("tensorflow", (1, 12, 0), (1, 12, 1)),
    "env: TF_VERSION=1.15.0": ("tensorflow", (1, 15, 0), (1, 15, 1)),
    # what says nothing
    "tensorflow": None,
    "# tensorflow==1.14": None,
    'tensorflow = "*"': None,
    "keras-bert>=0.50.0": None,
    "tensorflow-datasets==4.0": None,
    "keras2onnx==1.5": None,
    "Keras-Applications==1.0.8": None,
    "python-dateutil==2.6.0": None,
    "pip install tensorflow==${{ matrix.tf-version }}": None,
}  # fmt: skip

# A line of a README; the versions that it names.
PROSE = {
    "Please use Keras==2.0.7 with TensorFlow==1.2 backend": ["Keras==2.0.7", "TensorFlow==1.2"],
    "- [Keras 2.2.4](https://keras.io/)": ["Keras 2.2.4"],
    "- [TensorFlow](https://www.tensorflow.org/) 1.12": ["TensorFlow 1.12"],
    "Keras 2.2.4 or higher": ["Keras 2.2.4 or higher"],
    "* TensorFlow 1.x": ["TensorFlow 1.x"],
    "- TensorFlow: 1.15.0 (Tested)": ["TensorFlow: 1.15.0"],
    "| tensorflow | 1.12.0 |": ["tensorflow | 1.12.0"],
    "Requires `tensorflow` version `1.14`": ["tensorflow version 1.14"],
    "Requires TensorFlow 1.14, 1.15 or 2.0": ["TensorFlow 1.14", "TensorFlow 1.15", "TensorFlow 2.0"],
    "tensorflow 2.0.0/tensorflow 1.15.0": ["tensorflow 2.0.0", "tensorflow 1.15.0"],
    "tensorflow                1.10.0          mkl_py35heddcb22_0": ["tensorflow 1.10.0"],
    "![](https://img.shields.io/badge/TensorFlow-2.1-orange)": ["TensorFlow 2.1"],
    "[Keras](https://keras.io) tested on version 2.0.5": ["Keras tested on version 2.0.5"],
    "TensorFlow (tested with 1.4.0)": ["TensorFlow (tested with 1.4.0)"],
    "Keras tested on Ubuntu 16.04": [],
    "* Keras ~~1.2.2~~ 2.0.5": ["Keras 2.0.5"],
    "<del>TensorFlow 1.14</del> TensorFlow 2.1": ["TensorFlow 2.1"],
    "for TF2": ["TF2"],
    "Tensorflow 2 implementation": ["Tensorflow 2"],
    "实验环境是Python 2.7、Tesorflow 1.14+以及Keras 2.3.1": ["Tesorflow 1.14+", "Keras 2.3.1"],
    "tf.keras 2.2.4-tf": [],
    "Keras 2.2.4-tf": [],
    "Keras 2": [],
    "Keras 2.0": [],
    "keras-rl 0.4.2": [],
    "It was not updated to work with `Tensorflow 2.0`": [],
    "(only valid for TF 1.x)": [],
    "with **Tensorflow>=2.0**, checkout the branch": [],
    "https://example.org/tensorflow/1.14": [],
}


@pytest.mark.parametrize("line", REQUIREMENTS)
def test_of_requirements(line):
    expected = REQUIREMENTS[line]
    assert [named[:3] for named in in_requirements(line)] == ([expected] if expected else [])


@pytest.mark.parametrize("line", PROSE)
def test_of_prose(line):
    assert [named.text for named in in_prose(line)] == PROSE[line]


def test_a_lower_bound_in_prose_has_no_end():
    assert [named[1:3] for named in in_prose("Keras 2.2.4 or higher")] == [((2, 2, 4), HIGHEST)]
    assert [named[1:3] for named in in_prose("TensorFlow 1.15 or lower")] == [((0, 0, 0), (1, 16, 0))]
