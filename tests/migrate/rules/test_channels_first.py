from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, found

HEAD = "import keras\nfrom keras import layers\n"
FIRST = 'data_format="channels_first"'


@pytest.mark.parametrize(
    "line",
    [
        f"layers.Conv2D(8, 3, {FIRST})",
        f"layers.Conv2DTranspose(8, 3, {FIRST}, use_bias=True)",
        f"layers.SeparableConv2D(8, 3, {FIRST})",
        'keras.backend.set_image_data_format("channels_first")',
        'first = "channels_first"\nlayers.Conv2D(8, 3, data_format=first)',
    ],
)
def test_reports(line):
    (place,) = found(f"{HEAD}{line}\n", "channels-first")
    assert place == (3 + line.count("\n"), "attention")
    check_noop(f"{HEAD}{line}\n")


def test_is_said_once():
    assert len(found(f"{HEAD}layers.Conv2D(8, 3, {FIRST})\nlayers.Conv2D(8, 3, {FIRST})\n", "channels-first")) == 1


@pytest.mark.parametrize(
    "line",
    [
        "layers.Conv2D(8, 3)",
        f"layers.Conv2D(8, 3, {FIRST}, use_bias=False)",
        f"layers.MaxPooling2D(2, {FIRST})",
        'layers.Conv2D(8, 3, data_format="channels_last")',
        'keras.backend.set_image_data_format("channels_last")',
        "axis = 1 if keras.backend.image_data_format() == 'channels_first' else 3",
    ],
)
def test_leaves_alone(line):
    check_noop(f"{HEAD}{line}\n", rule="channels-first")
