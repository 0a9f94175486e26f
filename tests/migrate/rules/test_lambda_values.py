from __future__ import annotations

from tests.migrate.check import check_noop, check_transformed, found

HEAD = "from keras.layers import Lambda\n"


def test_what_a_loop_binds_becomes_an_argument():
    check_transformed(
        HEAD
        + """
def grouped(x, groups, size):
    for c in range(groups):
        start = c * size
        part = Lambda(lambda z: z[:, start:c * size + size])(x)
        yield part, Lambda(function=lambda z, k=2: z[:, c] * k)(x), Lambda(lambda z: z * groups)(x)
""",
        HEAD
        + """
def grouped(x, groups, size):
    for c in range(groups):
        start = c * size
        part = Lambda(lambda z, start=start, c=c: z[:, start:c * size + size])(x)
        yield part, Lambda(function=lambda z, k=2, c=c: z[:, c] * k)(x), Lambda(lambda z: z * groups)(x)
""",
    )


def test_a_function_that_takes_anything_is_reported():
    source = HEAD + "parts = [Lambda(lambda x, **more: x[:, i])(inputs) for i in range(3)]\n"
    assert found(source, "lambda-values") == [(2, "attention")]


def test_leaves_alone():
    for source in (
        "i = 3\npart = Lambda(lambda x: x[:, i])(inputs)\n",
        "for i in range(3):\n    part = Lambda(lambda x, i=i: x[:, i])(inputs)\n",
        "for i in range(3):\n    part = Lambda(lambda x: [x[j] for j in range(2)])(inputs)\n",
        "for i in range(3):\n    def make():\n        return Lambda(lambda x: x[:, i])(inputs)\n",
    ):
        check_noop(HEAD + source, rule="lambda-values")
