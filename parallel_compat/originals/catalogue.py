"""The originals: which wheels each is made of, and what of them is kept.

The sha256 is that of the file which the project released. A wheel for an old Python can be fetched on any: its Python
sources are all that is used of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from parallel_compat.names.eras import Era


@dataclass(frozen=True)
class Wheel:
    """A released file, and what is kept of it.

    Attributes:
        requirement: its project and version, as pip reads it.
        file: its name.
        sha256: its digest, in hexadecimal digits.
        size: its bytes.
        python: the Python it was built for; None for any.
        abi: likewise the ABI.
        platform: likewise the platform.
        keep: what the names of kept members begin with; only Python sources are kept.
        top: how a member's name begins, and what it begins with instead when it is kept; None for no change.
    """

    requirement: str
    file: str
    sha256: str
    size: int
    python: str | None = None
    abi: str | None = None
    platform: str | None = None
    keep: tuple[str, ...] = ("",)
    top: tuple[str, str] | None = None


@dataclass(frozen=True)
class Original:
    """An old Keras.

    Attributes:
        name: the value of its era.
        title: what messages call it.
        wheels: the files it is made of.
        needs: the names of other originals that it imports.
    """

    name: str
    title: str
    wheels: tuple[Wheel, ...]
    needs: tuple[str, ...] = ()


# Keras and `tf.keras` import them, and so do other old packages.
_COMPANIONS = (
    Wheel(
        "Keras_Applications==1.0.8",
        "Keras_Applications-1.0.8-py3-none-any.whl",
        "df4323692b8c1174af821bf906f1e442e63fa7589bf0f1230a0b6bdc5a810c95",
        50_704,
        keep=("keras_applications/",),
    ),
    Wheel(
        "Keras_Preprocessing==1.1.2",
        "Keras_Preprocessing-1.1.2-py2.py3-none-any.whl",
        "7b82029b130ff61cc99b55f3bd27427df4838576838c5b2f65940e4fcec99a7b",
        42_581,
        keep=("keras_preprocessing/",),
    ),
)

ADDONS = "addons-0.10"  # for scripts of tf.keras 2.2 that import it
ORIGINALS: dict[str, Original] = {
    original.name: original
    for original in (
        Original(
            Era.KERAS_2_2_4.value,
            "Keras 2.2.4",
            (
                Wheel(
                    "keras==2.2.4",
                    "Keras-2.2.4-py2.py3-none-any.whl",
                    "794d0c92c6c4122f1f0fcf3a7bc2f49054c6a54ddbef8d8ffafca62795d760b6",
                    312_537,
                    keep=("keras/",),
                ),
                *_COMPANIONS,
            ),
        ),
        Original(
            Era.KERAS_2_3.value,
            "Keras 2.3.1",
            (
                Wheel(
                    "keras==2.3.1",
                    "Keras-2.3.1-py2.py3-none-any.whl",
                    "d08a57bd63546175f8f19232ba05906514d419da3e0af8ef7437fa1c11442e20",
                    377_825,
                    keep=("keras/",),
                ),
                *_COMPANIONS,
            ),
            needs=(Era.TF_KERAS_1_15.value,),
        ),
        Original(
            Era.TF_KERAS_1_15.value,
            "tf.keras 1.15.5",
            (
                Wheel(
                    "tensorflow==1.15.5",
                    "tensorflow-1.15.5-cp37-cp37m-manylinux2010_x86_64.whl",
                    "29831dda98d668067de75403b2fca0d06a2f026ef6f217fa2ca873c20b4ee4d3",
                    110_499_974,
                    python="3.7",
                    abi="cp37m",
                    platform="manylinux2010_x86_64",
                    # Its own `tensorflow/` is one file that forwards to `tensorflow_core/`.
                    keep=("tensorflow_core/",),
                    top=("tensorflow_core/", "tensorflow/"),
                ),
                *_COMPANIONS,
            ),
        ),
        Original(
            Era.TF_KERAS_2_2.value,
            "tf.keras 2.2.3",
            (
                Wheel(
                    "tensorflow-cpu==2.2.3",
                    "tensorflow_cpu-2.2.3-cp38-cp38-manylinux2010_x86_64.whl",
                    "250745464f3b226f35dd499f78453c569977458cb8a960e2e4d651a701b5444a",
                    144_689_897,
                    python="3.8",
                    abi="cp38",
                    platform="manylinux2010_x86_64",
                    keep=("tensorflow/",),
                ),
                # From 2.4 on, `import keras` was `tf.keras` under another name.
                Wheel(
                    "keras==2.4.3",
                    "Keras-2.4.3-py2.py3-none-any.whl",
                    "05e2faf6885f7899482a7d18fc00ba9655fe2c9296a35ad96949a07a9c27d1bb",
                    36_259,
                    keep=("keras/",),
                ),
                *_COMPANIONS,
            ),
        ),
        Original(
            ADDONS,
            "TensorFlow Addons 0.10",
            (
                Wheel(
                    "tensorflow-addons==0.10.0",
                    "tensorflow_addons-0.10.0-cp38-cp38-manylinux2010_x86_64.whl",
                    "08034ad2c177038990afc6aef9e7a90546f2872f3a39c4f966d2561346a749ab",
                    1_045_363,
                    python="3.8",
                    abi="cp38",
                    platform="manylinux2010_x86_64",
                    keep=("tensorflow_addons/",),
                ),
                Wheel(
                    "typeguard==2.13.3",
                    "typeguard-2.13.3-py3-none-any.whl",
                    "5e3e3be01e887e7eafae5af63d1f36c849aaa94e3a0112097312aabfa16284f1",
                    17_605,
                    keep=("typeguard/",),
                ),
            ),
        ),
    )
}
