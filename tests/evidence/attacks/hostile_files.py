"""One generator for each hostile kind of file: each takes a path and writes a file that means harm there.

Most begin from a real file, so that only the one thing is wrong.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(__file__).parents[2] / "data"
REAL = DATA / "oracle" / "h5" / "sgd_even.parallel.h5"
TEMPLATE = DATA / "oracle" / "h5" / "sgd_even.template.h5"
KERNEL = "model_weights/mlp/hidden/kernel:0"

HOSTILE: dict[str, Callable[[Path], None]] = {}


def hostile(function: Callable[[Path], None]) -> Callable[[Path], None]:
    HOSTILE[function.__name__] = function
    return function


def changed(path: Path, source: Path = REAL) -> h5py.File:
    shutil.copyfile(source, path)
    path.chmod(0o644)
    return h5py.File(path, "r+")


def weights_file(path: Path) -> h5py.File:
    """A file of weights with one layer "a" that lists one weight "k:0", which the caller makes."""
    file = h5py.File(path, "w")
    file.attrs["layer_names"] = [b"a"]
    file.attrs["keras_version"] = b"2.2.4"
    file.attrs["backend"] = b"tensorflow"
    file.create_group("a").attrs["weight_names"] = [b"k:0"]
    return file


def with_config(path: Path, change: Callable[[dict[str, Any]], object], source: Path = REAL) -> None:
    with changed(path, source) as file:
        config = json.loads(file.attrs["model_config"])
        change(config)
        file.attrs["model_config"] = json.dumps(config).encode()


def template_of(config: dict[str, Any]) -> dict[str, Any]:
    return next(layer for layer in config["config"]["layers"] if layer["name"] == "mlp")


def layer_of(config: dict[str, Any], name: str) -> dict[str, Any]:
    inner = template_of(config)
    return next(layer for layer in inner["config"]["layers"] if layer["name"] == name)


# --- more than it is
# ----------------------------------------------------------------------------------------------


@hostile
def fill_value_bomb(path: Path) -> None:
    with weights_file(path) as file:
        file["a"].create_dataset("k:0", (1 << 20, 1 << 20), "f4", chunks=(1024, 1024), fillvalue=1.0)


@hostile
def small_fill_value_bomb(path: Path) -> None:
    """Within the budget, and yet nothing was ever written."""
    with weights_file(path) as file:
        file["a"].create_dataset("k:0", (1024, 1024), "f4", chunks=(1024, 1024), fillvalue=1.0)


@hostile
def contiguous_never_written(path: Path) -> None:
    with weights_file(path) as file:
        file["a"].create_dataset("k:0", (1 << 18, 1 << 18), "f4")


@hostile
def thousand_hard_links_to_one_dataset(path: Path) -> None:
    with weights_file(path) as file:
        group = file["a"]
        group.create_dataset("w0", data=np.zeros((512, 512), "f4"))
        for number in range(1, 1000):
            group[f"w{number}"] = group["w0"]
        group.attrs["weight_names"] = [f"w{number}".encode() for number in range(1000)]


@hostile
def gzip_bomb(path: Path) -> None:
    with weights_file(path) as file:
        file["a"].create_dataset(
            "k:0",
            data=np.zeros((300 << 20) // 4, "f4"),
            compression="gzip",
            compression_opts=9,
            chunks=(1 << 20,),
        )


@hostile
def chunk_larger_than_its_dataset(path: Path) -> None:
    with weights_file(path) as file:
        data = file["a"].create_dataset("k:0", (4,), "f4", chunks=(1 << 28,), maxshape=(None,), compression="gzip")
        del data


@hostile
def more_arrays_than_the_file_is_long(path: Path) -> None:
    """Each small enough, all of the same compressed zeros; together beyond the budget."""
    with weights_file(path) as file:
        names = [f"k{number}:0" for number in range(100)]
        file["a"].attrs["weight_names"] = [name.encode() for name in names]
        for name in names:
            file["a"].create_dataset(name, data=np.zeros(1 << 18, "f4"), compression="gzip", chunks=(1 << 18,))


@hostile
def attribute_of_300_mb(path: Path) -> None:
    with changed(path) as file:
        del file.attrs["model_config"]
        file.attrs["model_config"] = b"[" * (300 << 20)


@hostile
def name_list_of_300_mb(path: Path) -> None:
    with h5py.File(path, "w", libver="latest") as file:
        file.attrs["keras_version"] = b"2.2.4"
        file.attrs.create("layer_names", np.asarray([b"a" * (6 << 20)] * 50))


@hostile
def json_200_000_deep(path: Path) -> None:
    with changed(path) as file:
        file.attrs["model_config"] = b'{"config":' + b"[" * 200_000 + b"]" * 200_000 + b"}"


@hostile
def json_training_config_deep(path: Path) -> None:
    with changed(path) as file:
        file.attrs["training_config"] = b"[" * 200_000 + b"]" * 200_000


@hostile
def json_of_ten_million_lists(path: Path) -> None:
    with changed(path) as file:
        file.attrs["model_config"] = b"[" + b"[]," * 5_000_000 + b"[]]"


@hostile
def json_of_ten_million_digits(path: Path) -> None:
    with changed(path) as file:
        file.attrs["model_config"] = b'{"class_name": "Model", "config": {"units": ' + b"9" * 10_000_000 + b"}}"


@hostile
def hundred_models_inside_models(path: Path) -> None:
    def change(config: dict[str, Any]) -> None:
        inner = config["config"]
        for number in range(45):
            inner = {"name": f"m{number}", "layers": [{"class_name": "Sequential", "config": inner}]}
        config.clear()
        config |= {"class_name": "Sequential", "config": inner}

    with_config(path, change)


@hostile
def hundred_thousand_layers(path: Path) -> None:
    with weights_file(path) as file:
        names = np.asarray([f"l{number}".encode() for number in range(100_000)])
        del file.attrs["layer_names"]
        for number, piece in enumerate(np.array_split(names, 20)):
            file.attrs[f"layer_names{number}"] = piece


@hostile
def layer_as_wide_as_memory(path: Path) -> None:
    with_config(path, lambda config: layer_of(config, "hidden")["config"].update(units=10**12))


@hostile
def input_as_wide_as_memory(path: Path) -> None:
    """The config alone would have Keras make a kernel of 64 GB; the file's has eight rows."""

    def change(config: dict[str, Any]) -> None:
        for layers in (config["config"]["layers"], template_of(config)["config"]["layers"]):
            next(one for one in layers if one["name"] == "x")["config"]["batch_input_shape"] = [None, 10**9]

    with_config(path, change)


# --- somewhere else
# ---------------------------------------------------------------------------------------------


@hostile
def hard_link_cycle(path: Path) -> None:
    with weights_file(path) as file:
        group = file["a"]
        group["a"] = group
        group.create_dataset("k:0", data=np.zeros(3, "f4"))
        group.attrs["weight_names"] = [("a/" * 10_000 + "k:0").encode()]


@hostile
def hard_link_cycle_short(path: Path) -> None:
    with weights_file(path) as file:
        group = file["a"]
        group["a"] = group
        group.create_dataset("k:0", data=np.zeros(3, "f4"))
        group.attrs["weight_names"] = [("a/" * depth + "k:0").encode() for depth in range(20)]


@hostile
def five_thousand_nested_groups(path: Path) -> None:
    with weights_file(path) as file:
        group = file["a"]
        for _ in range(5_000):
            group = group.create_group("g")
        group.create_dataset("k:0", data=np.zeros(3, "f4"))
        file["a"].attrs["weight_names"] = [b"g/" * 5_000 + b"k:0"]


@hostile
def keras3_file_of_nested_groups(path: Path) -> None:
    with h5py.File(path, "w") as file:
        group = file.create_group("layers")
        for _ in range(5_000):
            group = group.create_group("g")


@hostile
def keras3_file_with_cycle(path: Path) -> None:
    with h5py.File(path, "w") as file:
        group = file.create_group("layers")
        group["layers"] = group


@hostile
def external_link(path: Path) -> None:
    other = path.with_name("other.h5")
    with h5py.File(other, "w") as file:
        file["secret"] = np.zeros((8, 16), "f4")
    with changed(path) as file:
        del file[KERNEL]
        file[KERNEL] = h5py.ExternalLink(str(other), "/secret")


@hostile
def external_link_as_group(path: Path) -> None:
    with changed(path) as file:
        del file["model_weights"]
        file["model_weights"] = h5py.ExternalLink(str(REAL), "/model_weights")


@hostile
def soft_link(path: Path) -> None:
    with changed(path) as file:
        del file[KERNEL]
        file[KERNEL] = h5py.SoftLink("/optimizer_weights/training/SGD/Variable:0")


@hostile
def soft_link_to_itself(path: Path) -> None:
    with changed(path) as file:
        del file[KERNEL]
        file[KERNEL] = h5py.SoftLink("/" + KERNEL)


@hostile
def external_storage(path: Path) -> None:
    secret = path.with_name("secret.bin")
    secret.write_bytes(b"\0" * 512)
    with changed(path) as file:
        del file[KERNEL]
        file.create_dataset(KERNEL, (8, 16), "f4", external=[(str(secret), 0, 512)])


@hostile
def virtual_dataset(path: Path) -> None:
    other = path.with_name("other.h5")
    with h5py.File(other, "w") as file:
        file["secret"] = np.zeros((8, 16), "f4")
    layout = h5py.VirtualLayout((8, 16), "f4")
    layout[:] = h5py.VirtualSource(str(other), "secret", (8, 16))
    with changed(path) as file:
        del file[KERNEL]
        file.create_virtual_dataset(KERNEL, layout)


def _weight_name(name: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with changed(path) as file:
            names = list(file["model_weights/mlp"].attrs["weight_names"])
            file["model_weights/mlp"].attrs["weight_names"] = [name, *names[1:]]

    return write


HOSTILE["absolute_name"] = _weight_name(b"/optimizer_weights/training/SGD/Variable:0")
HOSTILE["name_with_dots"] = _weight_name(b"../../optimizer_weights/training/SGD/Variable:0")
HOSTILE["name_with_one_dot"] = _weight_name(b"./hidden/kernel:0")
HOSTILE["empty_name"] = _weight_name(b"")
HOSTILE["name_with_an_empty_part"] = _weight_name(b"hidden//kernel:0")
HOSTILE["name_with_control_characters"] = _weight_name(b"hidden/\x1b[2Jkernel:0")
HOSTILE["name_that_is_not_there"] = _weight_name(b"hidden/kernel:1")
HOSTILE["name_of_a_group"] = _weight_name(b"hidden")


@hostile
def absolute_layer_name(path: Path) -> None:
    with changed(path) as file:
        file["model_weights"].attrs["layer_names"] = [b"/optimizer_weights"]


# --- something else
# ---------------------------------------------------------------------------------------------


def _dataset(**arguments: Any) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with changed(path) as file:
            del file[KERNEL]
            file.create_dataset(KERNEL, **arguments)

    return write


HOSTILE["variable_length_strings"] = _dataset(shape=(8, 16), dtype=h5py.string_dtype())
HOSTILE["variable_length_numbers"] = _dataset(shape=(8, 16), dtype=h5py.vlen_dtype(np.float32))
HOSTILE["object_references"] = _dataset(shape=(8, 16), dtype=h5py.ref_dtype)
HOSTILE["region_references"] = _dataset(shape=(8, 16), dtype=h5py.regionref_dtype)
HOSTILE["compound_type"] = _dataset(shape=(8, 16), dtype=np.dtype([("a", "f4"), ("b", "f4")]))
HOSTILE["opaque_type"] = _dataset(data=np.zeros((8, 16), "V4"))
HOSTILE["complex_type"] = _dataset(data=np.zeros((8, 16), "c8"))
HOSTILE["array_type"] = _dataset(shape=(8,), dtype=np.dtype(("f4", (16,))))
HOSTILE["fixed_strings"] = _dataset(data=np.zeros((8, 16), "S4"))
HOSTILE["empty_dataspace"] = _dataset(data=h5py.Empty("f4"))
HOSTILE["filter_lzf"] = _dataset(data=np.zeros((8, 16), "f4"), compression="lzf")
HOSTILE["filter_scale_offset"] = _dataset(data=np.zeros((8, 16), "i4"), scaleoffset=4)


@hostile
def filter_from_a_plugin(path: Path) -> None:
    with changed(path) as file:
        del file[KERNEL]
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk((8, 16))
        plist.set_filter(32013, h5py.h5z.FLAG_OPTIONAL, (1, 2, 3))
        space = h5py.h5s.create_simple((8, 16))
        h5py.h5d.create(file["model_weights/mlp/hidden"].id, b"kernel:0", h5py.h5t.IEEE_F32LE, space, plist)


@hostile
def filter_many_times(path: Path) -> None:
    with changed(path) as file:
        del file[KERNEL]
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk((8, 16))
        for _ in range(20):
            plist.set_deflate(9)
        space = h5py.h5s.create_simple((8, 16))
        data = h5py.h5d.create(file["model_weights/mlp/hidden"].id, b"kernel:0", h5py.h5t.IEEE_F32LE, space, plist)
        data.write(h5py.h5s.ALL, h5py.h5s.ALL, np.zeros((8, 16), "f4"))


@hostile
def config_that_is_a_number(path: Path) -> None:
    with changed(path) as file:
        file.attrs["model_config"] = 7


@hostile
def config_that_is_a_reference(path: Path) -> None:
    with changed(path) as file:
        file.attrs["model_config"] = file["model_weights"].ref


@hostile
def config_that_is_not_text(path: Path) -> None:
    with changed(path) as file:
        file.attrs["model_config"] = np.bytes_(b"\xff\xfe{")


@hostile
def names_in_two_dimensions(path: Path) -> None:
    with changed(path) as file:
        file["model_weights"].attrs["layer_names"] = np.asarray([[b"x"], [b"mlp"]])


def _shape_lie(shape: tuple[int, ...], name: str = KERNEL) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with changed(path) as file:
            del file[name]
            file.create_dataset(name, data=np.zeros(shape, "f4"))

    return write


HOSTILE["shape_lie_turned"] = _shape_lie((16, 8))
HOSTILE["shape_lie_rank"] = _shape_lie((128,))
HOSTILE["shape_lie_more_units"] = _shape_lie((8, 17))
HOSTILE["shape_lie_more_inputs"] = _shape_lie((9, 16))
HOSTILE["shape_lie_empty"] = _shape_lie((0, 16))
HOSTILE["shape_lie_bias"] = _shape_lie((17,), "model_weights/mlp/hidden/bias:0")
HOSTILE["shape_lie_between_layers"] = _shape_lie((15, 3), "model_weights/mlp/probs/kernel:0")


# --- code
# -----------------------------------------------------------------------------------------------------


def _lambda_that_writes(path: Path) -> dict[str, Any]:
    import base64
    import marshal

    code = compile(f"lambda t: open({str(path.with_name('pwned'))!r}, 'w')", "x", "eval").co_consts[0]
    function = [base64.b64encode(marshal.dumps(code)).decode(), None, None]
    return {
        "name": "double",
        "function": function,
        "function_type": "lambda",
        "arguments": {},
        "trainable": True,
    }


@hostile
def lambda_inside_the_template(path: Path) -> None:
    def change(config: dict[str, Any]) -> None:
        inner = template_of(config)["config"]
        inner["layers"].append(
            {
                "class_name": "Lambda",
                "name": "double",
                "config": _lambda_that_writes(path),
                "inbound_nodes": [[["probs", 0, 0, {}]]],
            }
        )
        inner["output_layers"] = [["double", 0, 0]]

    with_config(path, change)


@hostile
def lambda_that_looks_like_a_slice(path: Path) -> None:
    """The right arguments, in a place where a slice has nothing to do."""

    def change(config: dict[str, Any]) -> None:
        inner = template_of(config)["config"]
        evil = _lambda_that_writes(path) | {"arguments": {"i": 0, "parts": 2}}
        inner["layers"].append(
            {
                "class_name": "Lambda",
                "name": "double",
                "config": evil,
                "inbound_nodes": [[["probs", 0, 0, {}]]],
            }
        )
        inner["output_layers"] = [["double", 0, 0]]

    with_config(path, change)


@hostile
def layer_that_loads_a_saved_model(path: Path) -> None:
    with_config(
        path,
        lambda config: layer_of(config, "hidden").update(
            class_name="TFSMLayer", config={"name": "hidden", "filepath": "/tmp/x"}
        ),
    )


@hostile
def layer_of_torch(path: Path) -> None:
    with_config(
        path,
        lambda config: layer_of(config, "hidden").update(
            class_name="TorchModuleWrapper", config={"name": "hidden", "module": "x"}
        ),
    )


@hostile
def initializer_from_a_module(path: Path) -> None:
    evil = {
        "module": "os",
        "class_name": "system",
        "config": {"command": "touch pwned"},
        "registered_name": None,
    }
    with_config(path, lambda config: layer_of(config, "hidden")["config"].update(kernel_regularizer=evil))


@hostile
def activation_that_is_a_lambda(path: Path) -> None:
    evil = {"class_name": "__lambda__", "config": {"value": _lambda_that_writes(path)["function"]}}
    with_config(path, lambda config: layer_of(config, "hidden")["config"].update(activation=evil))


@hostile
def units_that_are_a_function(path: Path) -> None:
    evil = {"class_name": "function", "config": "system", "module": "os", "registered_name": "system"}
    with_config(path, lambda config: layer_of(config, "hidden")["config"].update(units=evil))


@hostile
def argument_with_a_class_inside(path: Path) -> None:
    """A value where Keras 3 would deserialize whatever it says."""
    evil = {"module": "builtins", "class_name": "eval", "config": {"source": "1"}, "registered_name": None}
    with_config(path, lambda config: layer_of(config, "hidden")["config"].update(use_bias=evil))


# --- configs that contradict themselves
# ------------------------------------------------------------------------


@hostile
def graph_that_is_a_circle(path: Path) -> None:
    with_config(path, lambda config: layer_of(config, "hidden").update(inbound_nodes=[[["probs", 0, 0, {}]]]))


@hostile
def graph_with_a_missing_layer(path: Path) -> None:
    with_config(path, lambda config: layer_of(config, "hidden").update(inbound_nodes=[[["nowhere", 0, 0, {}]]]))


@hostile
def two_layers_of_one_name(path: Path) -> None:
    with_config(path, lambda config: layer_of(config, "hidden").update(name="probs"))


@hostile
def model_without_layers(path: Path) -> None:
    with_config(path, lambda config: config.update(config={"name": "m"}))


@hostile
def config_without_its_layer(path: Path) -> None:
    with_config(path, lambda config: template_of(config)["config"]["layers"].pop(1))


@hostile
def activation_by_a_strange_name(path: Path) -> None:
    with_config(path, lambda config: layer_of(config, "hidden")["config"].update(kernel_size=[1], units="many"))


# --- no file of Keras
# ------------------------------------------------------------------------------------------


@hostile
def foreign_hdf5(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["temperature"] = np.zeros(10)


@hostile
def empty_file(path: Path) -> None:
    path.write_bytes(b"")


@hostile
def text_file(path: Path) -> None:
    path.write_text("model weights are in the other folder\n" * 100)


@hostile
def pickle_file(path: Path) -> None:
    import pickle

    path.write_bytes(pickle.dumps({"weights": [1, 2, 3]}))


@hostile
def zip_file(path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", "{}")


@hostile
def only_the_signature(path: Path) -> None:
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + b"\0" * 4096)
