"""The names of ResNet50's layers in Keras-Applications up to 1.0.6 (2018), and those since 1.0.7 (2019).

Read in Keras-Applications 1.0.6 and 1.0.8. Activations, sums and the pooling had names that Keras counted:
`activation_49` is the last of the first network of a process.
"""

from __future__ import annotations

from collections.abc import Iterable

_BLOCKS = {2: 3, 3: 4, 4: 6, 5: 3}  # of each stage


def names_since() -> dict[str, str]:
    """Return the name until 1.0.6 -> the name since, of each layer whose name changed.

    >>> names_since()["activation_49"], names_since()["res5c_branch2c"]
    ('conv5_block3_out', 'conv5_block3_3_conv')
    """
    names = {"conv1": "conv1_conv", "bn_conv1": "conv1_bn", "max_pooling2d_1": "pool1_pool", "fc1000": "probs"}
    activations, sums = ["conv1_relu"], []
    for stage, blocks in _BLOCKS.items():
        for number in range(blocks):
            then, since = f"{stage}{chr(ord('a') + number)}_branch", f"conv{stage}_block{number + 1}_"
            parts = {"1": "0"} if number == 0 else {}
            for branch, part in (parts | {"2a": "1", "2b": "2", "2c": "3"}).items():
                names[f"res{then}{branch}"] = f"{since}{part}_conv"
                names[f"bn{then}{branch}"] = f"{since}{part}_bn"
            activations += [f"{since}1_relu", f"{since}2_relu", f"{since}out"]
            sums.append(f"{since}add")
    names |= {f"activation_{number}": name for number, name in enumerate(activations, 1)}
    return names | {f"add_{number}": name for number, name in enumerate(sums, 1)}


def given_names() -> dict[str, str]:
    """Return those of `names_since` that Keras-Applications gave: of all layers with weights, and no counted name.

    >>> given_names()["bn_conv1"], "activation_1" in given_names()
    ('conv1_bn', False)
    """
    return {name: since for name, since in names_since().items() if not name.startswith(("activation", "add", "max"))}


def is_resnet50(names: Iterable[str]) -> bool:
    """Return whether a model with layers of these names has those of today's ResNet50."""
    has, deeper = {"conv1_bn", "conv2_block1_0_bn", "conv5_block3_3_bn"}, {"conv4_block7_3_bn", "conv3_block5_3_bn"}
    return has <= set(names) and deeper.isdisjoint(names)


def names_in_file(model: Iterable[str], file: Iterable[str]) -> dict[str, str]:
    """Return name in a model of today -> name in a file, of the layers of a ResNet50 that was saved in 2018.

    Returns:
        Nothing where the model has no ResNet50, or the file is not of 2018.
    """
    of_model, of_file = set(model), set(file)
    if not (is_resnet50(of_model) and {"res2a_branch1", "bn2a_branch1", "res5c_branch2c"} <= of_file):
        return {}
    names = {since: name for name, since in given_names().items()}
    if "fc1000" in of_file and "predictions" not in of_file:  # as tf.keras 2.2 calls it
        names["predictions"] = "fc1000"
    return {since: name for since, name in names.items() if since in of_model}
