"""What a script draws: the states of random numbers, the order of samples, the masks of Dropout."""

from __future__ import print_function

import random
import zlib

import numpy as np

from parallel_compat.compare.recorder.models import DROPOUTS

STATES = 300  # calls before which the states of Python's and numpy's random numbers are kept


class Random(object):
    """The states of Python's and numpy's random numbers, which a replay takes over at the same calls.

    A model that is built draws from numpy in Keras 2, and not in Keras 3: what a script draws then follows.
    """

    def __init__(self, recording, replay):
        self._recording = recording
        self._replay = replay
        self._calls = {}
        self._states = 0
        self._last = None

    def at(self, place):
        """Write the states down at a place, or put the recorded ones in."""
        number = self._calls[place] = self._calls.get(place, -1) + 1
        if self._replay is None:
            self._write(place, number)
            return
        recorded = self._replay.facts.get("random", {}).get(place, ())
        if number < len(recorded):
            keys, places, cached, python = self._replay.arrays["random%d" % recorded[number]]
            np.random.set_state(("MT19937", keys, int(places[0]), int(places[1]), float(cached[0])))
            random.setstate((3, tuple(int(each) for each in python), None))

    def _write(self, place, number):
        _, keys, place_in_keys, gauss, cached = np.random.get_state()
        python = np.array(random.getstate()[1], dtype="uint32")
        state = [np.array(keys), np.array([place_in_keys, gauss]), np.array([cached]), python]
        rows = self._recording.facts.setdefault("random", {}).setdefault(place, [])
        if self._last is None or any(not np.array_equal(a, b) for a, b in zip(state, self._last)):
            if self._states >= STATES or not self._recording.put("random%d" % self._states, state):
                return
            self._last, self._states = state, self._states + 1
        if number == len(rows) < STATES:
            rows.append(self._states - 1)


class Numpy(object):
    """numpy for a module that shuffles samples."""

    def __init__(self, recorder, module=np):
        self._recorder = recorder
        self._module = module

    def __getattr__(self, name):
        if name == "random" and self._module is np:
            return Numpy(self._recorder, np.random)
        return self._shuffle if name == "shuffle" else getattr(self._module, name)

    def _shuffle(self, array):
        np.random.shuffle(array)
        array[...] = self._recorder.ordered(array)


def shuffled(recorder, module, name, original, given, keywords):
    """Shuffle samples in TensorFlow, as tf.keras 2 and Keras 3 do."""
    result, model = original(*given, **keywords), recorder.fitted
    if model is None or result.dtype.name not in ("int32", "int64") or result.shape.ndims != 1:
        return result
    import tensorflow as tf

    found = tf.numpy_function(lambda order: recorder.ordered(order, model), [result], result.dtype)
    found.set_shape(result.shape)
    return found


def mask_of(layer, shape, seed):
    """Return what a layer draws: what its inputs are multiplied by, or, of noise, what is added to them."""
    rng = np.random.RandomState(zlib.crc32(seed.encode("ascii")) & 0xFFFFFFFF)
    names = [kind.__name__ for kind in type(layer).__mro__]
    rate = getattr(layer, "rate", getattr(layer, "p", 0.0))
    if "GaussianNoise" in names:
        return (rng.normal(size=shape) * getattr(layer, "stddev", getattr(layer, "sigma", 0.0))).astype("float32")
    if "GaussianDropout" in names:
        return rng.normal(1.0, np.sqrt(rate / (1.0 - rate)), size=shape).astype("float32")
    size = [int(each) for each in shape]
    if any(name.startswith("SpatialDropout") for name in names):
        first = getattr(layer, "data_format", None) in ("channels_first", "th")
        size[(2 if first else 1) : (None if first else -1)] = [1] * (len(size) - 2)
    given = getattr(layer, "noise_shape", None)
    if given is not None:
        size = [own if each is None else int(each) for own, each in zip(size, given)]
    return ((rng.uniform(size=size) >= rate) / (1.0 - rate)).astype("float32")


def masked_call(recorder, module, name, original, given, keywords):
    """Call a layer that draws from numpy, in training."""
    return _masked(recorder, module, *given, **keywords)


def _masked(recorder, module, layer, inputs, training=None):
    backend = getattr(module, "K", None)

    def noisy():
        import tensorflow as tf

        draw = next(getattr(tf, each) for each in ("numpy_function", "py_func") if hasattr(tf, each))
        mask = draw(lambda shape: recorder.mask(layer, shape), [tf.shape(inputs)], tf.float32)
        mask = tf.cast(mask, inputs.dtype)
        found = inputs + mask if hasattr(layer, "stddev") or hasattr(layer, "sigma") else inputs * mask
        found.set_shape(inputs.shape)
        return found

    if backend is not None and hasattr(backend, "in_train_phase"):
        return backend.in_train_phase(noisy, inputs, training=training)
    return noisy() if training else inputs


def silent_call(recorder, module, name, original, given, keywords):
    """Call a random layer that returns its input."""
    return given[1] if len(given) > 1 else keywords["inputs"]


def without_dropout(recorder, module, name, original, given, keywords):
    """Make a recurrent layer without its dropout."""
    return original(*given, **{key: value for key, value in keywords.items() if key not in DROPOUTS})
