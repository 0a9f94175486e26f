"""How weights come to the replicas' devices in a step, and their gradients back, without one device sending all.

The variables are where they were made, and the only ones: no copy outlives a step, so none can be out of date. From
there each weight goes to one or more devices, which send it on, and so forth; the gradients come back the same way,
added up at each device. Every device sends about 2 W (n-1)/n bytes in a step, as in a ring that adds up gradients (W
bytes of weights, n devices), where sending all from one device takes (n-1) W out of it and as much back.

Large variables are cut into pieces, each with a tree of devices of its own, so that no device carries much more than
others. Two things are balanced: the bytes that a device sends in a step, gradients too, and the time until all have the
weights, which is that of the device that sends most of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import keras
import tensorflow as tf

WEIGHTS = ("auto", "one device", "mirrored")

# Variables of fewer bytes are sent directly: what they cost is the time of a message, not its bytes.
SMALL = 16 * 1024
# How many times the bytes of a ring a device may send in a step.
BYTES_OF_RING = 1.05
# A piece is at most this share of all weights, divided by the number of devices.
SHARE = 1 / 4

# The device from which each other device gets a piece, in the order in which it gets there; -1 is a home apart.
Tree = dict[int, int]


class Route(NamedTuple):
    """How one variable travels."""

    shape: tuple[int, ...]  # of the variable
    home: str  # its device, full name
    root: int  # its number among the replicas' devices, -1 if it is none of them
    sizes: list[int]  # the elements of its pieces; empty for one that is sent directly
    trees: list[Tree]  # the tree of each piece


def check_weights(weights: str, strategy: tf.distribute.Strategy) -> str:
    """Return "one device" or "mirrored" for the argument `weights` of `parallelize`."""
    if weights not in WEIGHTS:
        raise ValueError(f"Expected `weights` to be one of {', '.join(map(repr, WEIGHTS))}. Received: {weights!r}.")
    devices = strategy.extended.worker_devices
    several_workers = len(devices) < strategy.num_replicas_in_sync
    if several_workers and weights == "mirrored":
        raise ValueError(
            "Expected `weights` to be 'auto' or 'one device' on several workers, of which each has the weights. "
            "Received: 'mirrored'."
        )
    if weights != "auto":
        return weights
    # Parts of one GPU, or of the CPU, send each other nothing over a wire.
    whole_gpus = len(tf.config.list_logical_devices("GPU")) == len(tf.config.list_physical_devices("GPU"))
    on_gpus = all(tf.DeviceSpec.from_string(device).device_type == "GPU" for device in devices)
    return "mirrored" if on_gpus and whole_gpus and len(devices) > 2 and not several_workers else "one device"


class WeightExchange:
    """Sends weights to the replicas' devices along trees of devices, and adds up gradients on the way back."""

    def __init__(self, devices: Sequence[str]) -> None:
        self._devices = list(devices)

    def routes(self, variables: Sequence[keras.Variable], back: bool = True) -> dict[int, Route]:
        """Plan how variables travel."""
        sizes = {id(v): math.prod(v.shape) * tf.as_dtype(v.dtype).size for v in variables}
        limit = max(SMALL, int(sum(sizes.values()) * SHARE / len(self._devices)), 1)
        routes: dict[int, Route] = {}
        pieces = []
        load = dict.fromkeys(range(-1, len(self._devices)), 0.0)
        gradients = self._weight_of_gradients() if back else 0.0
        for variable in variables:
            home = variable.value.device
            root = self._devices.index(home) if home in self._devices else -1
            size, elements = sizes[id(variable)], math.prod(variable.shape)
            count = min(-(-size // limit), elements) if size >= SMALL else 0
            cuts = [elements * i // count for i in range(count + 1)] if count else []
            counts = [b - a for a, b in itertools.pairwise(cuts)]
            route = Route(tuple(variable.shape), home, root, counts, [{} for _ in counts])
            routes[id(variable)] = route
            pieces += [(size // count, tree, root) for tree in route.trees]
            if not count:
                load[root] += size * (len(self._devices) - (root >= 0))
        for size, tree, root in sorted(pieces, key=lambda piece: -piece[0]):
            self._grow(tree, root, size, load, gradients)
        return routes

    def _weight_of_gradients(self) -> float:
        """How much a byte of gradients counts against one of weights.

        Of equal loads of weights each device sends W (n-1)/n, and all but the first their gradients on top. For these
        to stay within `BYTES_OF_RING`, the first one sends more: just so much more, because the others wait for it.
        """
        others = len(self._devices) - 1
        first = others * (2 - BYTES_OF_RING * 2 * others / (others + 1))
        return max(0.0, first - (others - first) / others)

    def _grow(self, tree: Tree, root: int, size: int, load: dict[int, float], gradients: float) -> None:
        """Choose from which device each other one gets a piece: the one that has carried least so far."""
        there = [root]
        for device in sorted((d for d in range(len(self._devices)) if d != root), key=load.__getitem__):
            sender = min(there, key=load.__getitem__)
            tree[device] = sender
            load[sender] += size
            load[device] += size * gradients
            there.append(device)

    def send(self, variables: Sequence[keras.Variable], back: bool = True) -> list[dict[int, Any]]:
        """Return the values of variables on each replica's device.

        Args:
            back: whether gradients will come back.

        Returns:
            For each replica, values by the variables' ids, of those that do not go there directly.
        """
        routes = self.routes(variables, back)
        arrived: list[dict[int, Any]] = [{} for _ in self._devices]
        for variable in variables:
            route = routes[id(variable)]
            if not route.trees:
                continue
            with tf.device(route.home):
                value = tf.convert_to_tensor(variable.value)
                pieces = [value] if len(route.trees) == 1 else tf.split(tf.reshape(value, [-1]), route.sizes)
            if route.root >= 0:
                arrived[route.root][id(variable)] = value
            held = [{route.root: piece} for piece in pieces]
            for pieces_held, tree in zip(held, route.trees, strict=True):
                for device, sender in tree.items():
                    with tf.device(self._devices[device]):
                        pieces_held[device] = tf.identity(pieces_held[sender])
            for device in range(len(self._devices)):
                if device != route.root:
                    with tf.device(self._devices[device]):
                        arrived[device][id(variable)] = _joined([each[device] for each in held], route.shape)
        return arrived

    def sum(self, parts: Sequence[Any], route: Route) -> Any:
        """Add up the gradients of a variable where it is."""
        held = []
        for device, part in enumerate(parts):
            with tf.device(self._devices[device]):
                flat = [part] if len(route.trees) == 1 else tf.split(tf.reshape(part, [-1]), route.sizes)
            held.append(flat)
        sums = []
        for number, tree in enumerate(route.trees):
            terms: dict[int, list[Any]] = {device: [pieces[number]] for device, pieces in enumerate(held)}
            terms.setdefault(route.root, [])
            for device, sender in reversed(tree.items()):
                with tf.device(self._devices[device]):
                    terms[sender].append(tf.add_n(terms[device]))
            with tf.device(route.home):
                sums.append(tf.add_n(terms[route.root]))
        with tf.device(route.home):
            return _joined(sums, route.shape)


def is_dense_gradient(parts: Sequence[Any], route: Route) -> bool:
    """Whether gradients take the way of their variable: sparse ones go directly, they are few rows."""
    return bool(route.trees) and all(isinstance(part, tf.Tensor) for part in parts)


def _joined(pieces: Sequence[Any], shape: tuple[int, ...]) -> Any:
    return pieces[0] if len(pieces) == 1 else tf.reshape(tf.concat(pieces, 0), shape)
