from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found, migrated

HEAD = "from keras.models import Model\nmodel = Model(x, y)\n"


@pytest.mark.parametrize(
    "use",
    [
        "model.container_nodes",
        "net.container_nodes",
    ],
)
def test_reports(use):
    source = HEAD + use + "\n"
    check_noop(source)
    assert found(source, "gone-members") == [(3, "attention")]


@pytest.mark.parametrize(
    "use",
    [
        "model.total_loss",
        "model.to_yaml()",
        "model.layers[1].inbound_nodes",
        "model.optimizer.get_weights()",
        "net.to_yaml()",
    ],
)
def test_reports_members_of_objects(use):
    assert found(HEAD + use + "\n", "gone-members") == [(3, "attention")]
    check_noop(HEAD + use + "\n")


@pytest.mark.parametrize(
    ("base", "method"),
    [
        ("Wrapped, Adam", "get_gradients(self, loss, params)"),
        ("SGD", "get_gradients(self, loss, params)"),
        ("Adam", "_resource_apply_dense(self, grad, var, apply_state)"),
        ("tensorflow.python.training.optimizer.Optimizer", "_apply_dense(self, grad, var)"),
        ("Wrapped", "_resource_apply_sparse(self, grad, var, indices)"),
    ],
)
def test_reports_optimizers_of_their_own(base, method):
    source = (
        "import tensorflow.python.training.optimizer\nfrom keras.optimizers import SGD, Adam\n"
        f"class O({base}):\n    def {method}: pass\n"
    )
    assert found(source, "gone-members") == [(4, "attention")]


def test_reports_losses_that_are_functions():
    source = (
        "from tensorflow.keras.layers import Layer\nclass Own(Layer):\n    def __init__(self):\n"
        "        self.add_loss(lambda: 0.1 * self.w)\n"
    )
    assert found(source, "gone-members") == [(4, "attention")]
    assert found(source.replace("(Layer)", ""), "gone-members") == []


@pytest.mark.parametrize("source", [HEAD + "model.to_json()\n", HEAD + "net.get_weights()\n", "a.total_loss\n"])
def test_leaves_alone(source):
    check_noop(source, rule="gone-members")


def test_a_loss_that_is_added_to_a_model_is_provided():
    head = "from keras.models import Model\n"
    after = f"{head}from parallel_compat.legacy.added_losses import add_loss\nmodel = Model(x, y)\nadd_loss(model, z)\n"
    check_transformed(f"{head}model = Model(x, y)\nmodel.add_loss(z, inputs=True)\n", after)
    given = head + "def add(net, z):\n    net.add_loss(z)\n"
    assert found(given, "gone-members") == [(3, "unsafe")]
    layer = "from keras.layers import Layer\nclass Own(Layer):\n    def call(self, x):\n        self.add_loss(x)\n"
    assert found(layer, "gone-members") == []


@pytest.mark.parametrize(
    ("method", "calls"), [("finalize", "x"), ("call", "x"), ("_end", "x * self._end()"), ("build", "x")]
)
def test_a_loss_that_a_layer_adds_after_its_calls(method, calls):
    """Keras 3 drops it."""
    source = (
        "from keras.layers import Layer\nclass Own(Layer):\n"
        f"    def {method}(self):\n        self.add_loss(self.cost)\n"
        f"    def other(self, x):\n        return {calls}\n"
    )
    assert found(source, "gone-members") == ([(4, "attention")] if method == "finalize" else [])


def test_what_a_function_gives_in_its_place():
    check_transformed(
        "from keras.models import Model\nmodel = Model(x, y)\nprint(model.input_names)\n",
        "from keras.models import Model\nfrom parallel_compat.legacy.models import input_names\n"
        "model = Model(x, y)\nprint(input_names(model))\n",
    )
    unknown = "import keras\ndef f(net):\n    return net.input_names\n"
    assert found(unknown, "gone-members") == [(3, "unsafe")]
    step = "import keras\noptimizer = keras.optimizers.get('sgd')\noptimizer.minimize(loss, weights)\n"
    assert found(step, "gone-members") == [(3, "rewritten")]


@pytest.mark.parametrize(
    "name", ["optimizer.weights", "my_model.updates", "self.layer.stateful", "anything.metrics_updates"]
)
def test_what_is_named_as_a_model_or_an_optimizer(name):
    source = f"from keras.layers import merge\ndef f(self, optimizer, my_model, anything):\n    print({name})\n"
    assert [line for line, _ in found(source, "gone-members")] == [3]


@pytest.mark.parametrize(
    "code",
    [
        "def f(bucket):\n    return bucket.updates, bucket.weights, bucket.stateful\n",
        "class Own(keras.layers.Layer):\n    def __init__(self):\n        self.stateful = 1\n"
        "    def call(self, x):\n        return x * self.stateful\n",
        "def f(model):\n    model.stateful = True\n",
    ],
)
def test_what_is_somebody_elses(code):
    check_noop(f"import keras\n{code}", rule="gone-members")


@pytest.mark.parametrize("name", ["fit_generator", "predict_classes", "reset_states"])
def test_a_provided_method_that_is_not_called_is_listed(name):
    """Keras 3 has no such method: to read it stops, whether or not it is called."""
    assert found(f"{HEAD}train = model.{name}\n", "gone-members") == [(3, "attention")]
    assert found(f"{HEAD}model.{name}(x)\n", "gone-members") == []


def test_a_method_that_keras_3_has_may_be_passed_on():
    check_noop(HEAD + "predict = model.predict\n", rule="gone-members")


@pytest.mark.parametrize("use", ["self.params['metrics']", "self.params.get('samples')"])
def test_what_is_not_in_the_params_of_a_callback(use):
    head = "from keras.callbacks import Callback\nclass Progress(Callback):\n    def on_train_begin(self, logs=None):\n"
    assert found(f"{head}        n = {use}\n", "gone-members") == [(4, "attention")]
    check_noop(f"{head}        n = self.params['epochs']\n", rule="gone-members")


def test_losses_that_ask_for_the_layer_and_its_inputs():
    before = """
        from keras.models import Model
        def loss(y_true, y_pred):
            crf, i = y_pred._keras_history[:2]
            x = crf._inbound_nodes[i].input_tensors[0]
            return crf.score(x, crf._inbound_nodes[i].input_masks[0])
        other = crf.input_tensors
    """
    after = """
        from keras.models import Model
        from parallel_compat.legacy.layer_calls import input_masks, input_tensors, keras_history
        def loss(y_true, y_pred):
            crf, i = keras_history(y_pred)[:2]
            x = input_tensors(crf._inbound_nodes[i])[0]
            return crf.score(x, input_masks(crf._inbound_nodes[i])[0])
        other = crf.input_tensors
    """
    check_transformed(before, after)


HOME = "parallel_compat.legacy.added_losses"


def test_metrics_of_tensors_are_provided():
    before = """
        from keras.models import Model
        model = Model(x, y)
        model.compile("sgd", None)
        model.metrics_names.append("ppl")
        model.metrics_tensors.append(ppl)
        model.metrics_tensors.append(K.mean(a))
        model.metrics_names.append("acc")
        print(model.metrics_tensors)
    """
    after = f"""
        from keras.models import Model
        from {HOME} import add_metric
        model = Model(x, y)
        model.compile("sgd", None)
        add_metric(model, ppl, name="ppl")
        add_metric(model, K.mean(a), name="acc")
        print(model.metrics_tensors)
    """
    check_transformed(before, after)
    assert found(after, "gone-members") == [(8, "attention")]
    alone = "from keras.models import Model\nmodel = Model(x, y)\nmodel.metrics_tensors.append(ppl)\n"
    assert found(alone, "gone-members") == [(3, "attention")]


@pytest.mark.parametrize("base", ["Layer", "Model"])
def test_metrics_that_a_layer_adds_are_provided(base):
    head = (
        f"from keras.layers import Layer\nfrom keras.models import Model\nclass Own({base}):\n    def call(self, x):\n"
    )
    before = f"{head}        self.add_metric(x, name='kl', aggregation='mean')\n"
    called = "add_metric(self, x, name='kl', aggregation='mean')\n"
    assert migrated(before).endswith((f"{HOME}.{called}", f"        {called}"))
    own = "class Log:\n    def add_metric(self, x): pass\n    def end(self): self.add_metric(3)\nLog().add_metric(3)\n"
    check_noop(own)
