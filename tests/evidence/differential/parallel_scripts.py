"""Random scripts of seeds above `FIRST`: all that a script does around `multi_gpu_model`.

Its arguments (`gpus` as a list, `cpu_merge`, `cpu_relocation`), losses, weights and metrics of several outputs as lists
and dictionaries, checkpoints of the template, files of both models and the training that goes on from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .random_scripts import RandomScript

FIRST = 3000

_DATA = """
import glob
import os

SAMPLES = 16
x0, x1 = draw.normal(size=(SAMPLES, 4)).astype('float32'), draw.normal(size=(SAMPLES, 5, 2)).astype('float32')
labels = draw.randint(0, 3, SAMPLES)
every = {'kind': np.eye(3)[labels].astype('float32'), 'size': draw.normal(size=(SAMPLES, 2)).astype('float32'),
         'sign': (draw.normal(size=(SAMPLES, 1)) > 0).astype('float32')}


class Keeps(callbacks.ModelCheckpoint):
    def __init__(self, single, *args, **kwargs):
        self.single = single
        super(Keeps, self).__init__(*args, **kwargs)

    def set_model(self, model):
        super(Keeps, self).set_model(self.single)


class Swaps(callbacks.Callback):
    def __init__(self, single):
        self.model_to_save = single

    def on_epoch_end(self, epoch, logs=None):
        self.model_to_save.save('epoch_%d.h5' % epoch)

"""
_LOSSES = {
    "kind": ("'categorical_crossentropy'", "'mse'", "losses.categorical_crossentropy", "'kullback_leibler_divergence'"),
    "size": ("'mse'", "'mae'", "lambda y, p: K.mean(K.square(y - p), axis=-1)", "'logcosh'"),
    "sign": ("'binary_crossentropy'", "'mse'", "losses.binary_crossentropy", "'hinge'"),
}
_METRICS = {
    "kind": ("'acc'", "'accuracy'", "'mae'", "['accuracy', 'mae']", "'categorical_accuracy'"),
    "size": ("'mae'", "'mse'", "['mae', 'mse']"),
    "sign": ("'acc'", "['acc', 'mae']", "'binary_accuracy'"),
}
_ACTIVATIONS = {"kind": "'softmax'", "size": "None", "sign": "'sigmoid'"}
_UNITS = {"kind": 3, "size": 2, "sign": 1}


def write(s: RandomScript) -> None:
    """Write the script behind its imports."""
    s.add(_DATA)
    outputs = s.random.sample(list(_UNITS), s.one(1, 2, 2, 3))
    inputs = s.one(["a"], ["b"], ["a", "b"], ["a", "b"])
    _made(s, inputs, outputs)
    x = "x" if len(inputs) > 1 else "x[0]"
    y = "y" if len(outputs) > 1 else "y[0]"
    s.add(f"x = [{', '.join({'a': 'x0', 'b': 'x1'}[each] for each in inputs)}]")
    s.add(f"y = [{', '.join(f'every[{each!r}]' for each in outputs)}]")
    if s.maybe(0.4):
        s.add("model.compile('sgd', 'mse')")
        if s.maybe(0.5):
            s.add(f"note('single', model.fit({x}, {y}, batch_size=6, shuffle=False, verbose=0).history)")
    _parallel(s, "model", "parallel")
    s.add("single = parallel.get_layer(model.name)")
    s.add("note('inner', [single is model, single.name, len(single.layers), parallel.name])")
    s.add("note('names', [parallel.output_names, parallel.input_names, [w.shape for w in parallel.get_weights()]])")
    s.add("note('shapes', [K.int_shape(each) for each in parallel.inputs + parallel.outputs])")
    _compiled(s, "parallel", outputs)
    for _ in range(s.one(1, 2)):
        s.one(_fit, _fit, _generator, _batches)(s, inputs, outputs)
    s.add(f"note('asked', [parallel.evaluate({x}, {y}, batch_size=5, verbose=0), parallel.predict({x}, batch_size=7)])")
    s.add("note('weights', single.get_weights())")
    s.one(_file, _file, _weights, _configuration, _second, _none)(s, inputs, outputs)
    s.add("note('in the end', [single.get_weights(), model.get_weights(), parallel.metrics_names])")


def _made(s: RandomScript, inputs: list[str], outputs: list[str]) -> None:
    """Write a function that makes the single model."""
    s.add("def made():")
    parts = []
    for name in inputs:
        s.add(f"{name} = L.Input({'(4,)' if name == 'a' else '(5, 2)'}, name={name!r})", 4)
        layers = s.one("L.Dense(4)", "L.Dense(3, activation='tanh', kernel_regularizer='l2')", "L.Dropout(0.)")
        if name == "b":
            layers = s.one(
                "L.LSTM(3)", "L.GRU(2)", "L.Flatten()", "L.Bidirectional(L.LSTM(2))", "L.GlobalMaxPooling1D()"
            )
        s.add(f"of_{name} = {layers}({name})", 4)
        parts.append(f"of_{name}")
    s.add(f"h = L.concatenate([{', '.join(parts)}])" if len(parts) > 1 else f"h = {parts[0]}", 4)
    if s.maybe(0.6):
        given = {"activation": s.activation()}
        if s.maybe(0.4):
            given["kernel_regularizer"] = s.regularizer()
        if s.maybe(0.2):
            given["kernel_constraint"] = s.constraint()
        s.add(f"h = {s.call('L.Dense', 5, **given)}(h)", 4)
    lasts = [f"L.Dense({_UNITS[name]}, activation={_ACTIVATIONS[name]}" + f", name={name!r})(h)" for name in outputs]
    s.add(f"return models.Model([{', '.join(inputs)}], [{', '.join(lasts)}])\n\n", 4)
    s.add("model = start(made())")


def _parallel(s: RandomScript, model: str, name: str) -> None:
    gpus = s.one("2", "3", "4", "[0, 1]", "[1, 3]", "(0, 1, 2)", "[2, 0, 1]", "gpus=2", "gpus=[0, 1, 2, 3]")
    given = {}
    if s.maybe(0.4):
        given["cpu_merge"] = s.one("False", "True")
    if s.maybe(0.25):
        given["cpu_relocation"] = "True"
    s.add(f"{name} = {s.call('utils.multi_gpu_model', model, gpus, **given)}")
    if "cpu_relocation" in given:
        s.add(f"start({name}.get_layer({model}.name), 4)")


def _compiled(s: RandomScript, model: str, outputs: list[str]) -> None:
    chosen = {name: s.one(*_LOSSES[name]) for name in outputs}
    asked = {name: s.one(*_METRICS[name]) for name in outputs}
    given: dict[str, str] = {}
    form = s.one("dict", "list", "one")
    if form == "dict":
        given["loss"] = f"{{{', '.join(f'{name!r}: {loss}' for name, loss in chosen.items())}}}"
    elif form == "list":
        given["loss"] = f"[{', '.join(chosen.values())}]"
    else:
        given["loss"] = "'mse'" if len(outputs) > 1 else next(iter(chosen.values()))
    if s.maybe(0.5):
        weights = {name: s.one(0.5, 2.0, 0.3, 1) for name in outputs}
        given["loss_weights"] = str(weights if s.maybe(0.5) else list(weights.values()))
    if s.maybe(0.7):
        if s.maybe(0.6):
            given["metrics"] = f"{{{', '.join(f'{name!r}: {each}' for name, each in asked.items())}}}"
        else:
            given["metrics"] = "['mae']" if len(outputs) > 1 else "['accuracy', 'mse']"
    rate = s.one("", "lr=0.02", "lr=0.05, decay=0.1", "lr=0.01, clipnorm=0.5", "lr=0.02, clipvalue=0.1")
    optimizer = f"optimizers.{s.one('SGD', 'RMSprop', 'Adagrad', 'Adam', 'Adamax', 'Nadam', 'Adadelta')}"
    rate = "" if "Nadam" in optimizer and "decay" in rate else rate
    s.add(f"{s.call(f'{model}.compile', f'{optimizer}({rate})', **given)}")
    if not s.tf2:
        s.add(f"note({s.name('metrics_names')!r}, {model}.metrics_names)")


def _fed(s: RandomScript, inputs: list[str], outputs: list[str], index: str = "") -> tuple[str, str]:
    """Return samples and targets, as lists or by name."""
    by_name = {"a": "x0", "b": "x1"}
    x = [f"{by_name[name]}{index}" for name in inputs]
    y = [f"every[{name!r}]{index}" for name in outputs]
    if s.maybe(0.5):
        said = [
            ", ".join(f"{name!r}: {each}" for name, each in zip(*each, strict=True))
            for each in ((inputs, x), (outputs, y))
        ]
        return f"{{{said[0]}}}", f"{{{said[1]}}}"
    return (f"[{', '.join(x)}]" if len(x) > 1 else x[0]), (f"[{', '.join(y)}]" if len(y) > 1 else y[0])


def _fit(s: RandomScript, inputs: list[str], outputs: list[str], model: str = "parallel") -> None:
    x, y = _fed(s, inputs, outputs)
    given = {"batch_size": s.one(4, 5, 6, 8), "epochs": s.one(2, 3), "shuffle": "False", "verbose": 0}
    if not s.tf2 and s.maybe(0.5):
        given["shuffle"] = "True"
    held = s.maybe(0.5)
    if held:
        given["validation_split"] = 0.25
    elif s.maybe(0.5):
        x_of, y_of = _fed(s, inputs, outputs, "[:7]")
        given["validation_data"] = f"({x_of}, {y_of})"
        held = True
    if s.maybe(0.3):
        weights = [s.one("np.linspace(0.5, 2, SAMPLES)", "np.arange(SAMPLES) % 3 * 1.") for _ in outputs]
        given["sample_weight"] = f"[{', '.join(weights)}]" if len(weights) > 1 else weights[0]
    elif len(outputs) == 1 and outputs[0] == "kind" and s.maybe(0.4):
        given["class_weight"] = "{0: 1., 1: 2.5, 2: 0.4}"
    called = []
    kept = None
    if s.maybe(0.5):
        monitor = "val_loss" if held else "loss"
        kept = s.one("weights", "whole", "swaps")
        if kept == "swaps":
            called.append("Swaps(single)")
        else:
            options = {"monitor": repr(monitor), "save_best_only": s.one("True", "False")}
            if kept == "weights":
                options["save_weights_only"] = "True"
            if s.maybe(0.3):
                options["period"] = 2
            called.append(s.call("Keeps", "single", f"'kept-{{epoch:02d}}-{{{monitor}:.2f}}.h5'", **options))
    if s.maybe(0.3):
        called.append(f"callbacks.EarlyStopping({('val_loss' if held else 'loss')!r}, patience=0)")
    if s.maybe(0.2):
        called.append("callbacks.ReduceLROnPlateau(monitor='loss', factor=0.5, patience=0, min_delta=10.)")
    if called:
        given["callbacks"] = f"[{', '.join(called)}]"
    title = s.name("history")
    s.add(f"seen = {s.call(f'{model}.fit', x, y, **given)}")
    s.add(f"note({title!r}, [seen.history, list(seen.history), seen.epoch])")
    if kept is None:
        return
    s.add(f"files = sorted(glob.glob('kept-*.h5') + glob.glob('epoch_*.h5'))\nnote('files of {title}', files)")
    s.add("if files:")
    if kept == "weights":
        s.add("again = made()\nagain.load_weights(files[-1])", 4)
    else:
        s.add("again = models.load_model(files[-1], compile=False)", 4)
    s.add(f"note('kept of {title}', [again.get_weights(), again.predict(x)])", 4)
    s.add("for file in files:\n    os.remove(file)", 4)


def _generator(s: RandomScript, inputs: list[str], outputs: list[str]) -> None:
    x, y = _fed(s, inputs, outputs, "[at:at + 4]")
    more = ""
    if s.maybe(0.3):
        weights = ["np.linspace(0.5, 2, 4)" for _ in outputs]
        more = f", [{', '.join(weights)}]" if len(weights) > 1 else f", {weights[0]}"
    s.add(
        "def batches():\n    while True:\n        for at in range(0, SAMPLES, 4):\n"
        f"            yield {x}, {y}{more}\n\n"
    )
    given = {"steps_per_epoch": s.one(3, 4), "epochs": 2, "verbose": 0}
    if s.maybe(0.5):
        x_of, y_of = _fed(s, inputs, outputs, "[:6]")
        given["validation_data"] = f"({x_of}, {y_of})"
    s.add(f"note({s.name('generator')!r}, {s.call('parallel.fit_generator', 'batches()', **given)}.history)")
    s.add("note('of generators', parallel.evaluate_generator(batches(), 3))")


def _batches(s: RandomScript, inputs: list[str], outputs: list[str]) -> None:
    x, y = _fed(s, inputs, outputs, "[at:at + 5]")
    s.add("steps = []\nfor at in (0, 5, 10, 15):")
    s.add(f"steps.append(parallel.train_on_batch({x}, {y}))", 4)
    if s.maybe(0.5):
        s.add(f"steps.append(parallel.test_on_batch({x}, {y}))", 4)
    s.add(f"note({s.name('steps')!r}, steps)")


def _file(s: RandomScript, inputs: list[str], outputs: list[str]) -> None:
    """The template to a file, and training that goes on from it on other replicas."""
    if s.maybe(0.5):
        s.add("single.compile('adam', 'mse')")
    s.add(f"single.save('model.h5'){s.one('', '; K.clear_session()') if s.tf2 else ''}")
    s.add("loaded = models.load_model('model.h5')\nnote('loaded', [loaded.get_weights(), loaded.predict(x)])")
    _parallel(s, "loaded", "again")
    _compiled(s, "again", outputs)
    x, y = _fed(s, inputs, outputs)
    s.add(f"note('goes on', again.fit({x}, {y}, batch_size=6, epochs=2, shuffle=False, verbose=0).history)")
    s.add("note('weights of it', again.get_layer(loaded.name).get_weights())")


def _weights(s: RandomScript, inputs: list[str], outputs: list[str]) -> None:
    """The parallel model's weights to a file, and into another one."""
    s.add("other = start(made(), 9)")
    s.add("same = utils.multi_gpu_model(other, 2)")
    s.add("same.set_weights(parallel.get_weights())\nnote('set', [other.get_weights(), other.predict(x)])")


def _configuration(s: RandomScript, inputs: list[str], outputs: list[str]) -> None:
    s.add("again = models.model_from_json(single.to_json())\nagain.set_weights(single.get_weights())")
    s.add("single.save_weights('weights.h5')\nstart(again, 3).load_weights('weights.h5')")
    s.add("note('again', [again.predict(x), [layer.name for layer in again.layers]])")


def _second(s: RandomScript, inputs: list[str], outputs: list[str]) -> None:
    """A second parallel model of the same template, and the first one again."""
    s.add(f"second = utils.multi_gpu_model(single, {s.one('2', '3', '[0, 3]')})")
    _compiled(s, "second", outputs)
    x, y = _fed(s, inputs, outputs)
    for model in ("second", "parallel"):
        s.add(f"note('then {model}', {model}.fit({x}, {y}, batch_size=6, shuffle=False, verbose=0).history)")


def _none(s: RandomScript, inputs: list[str], outputs: list[str]) -> None:
    pass
