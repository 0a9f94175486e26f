"""Rotated, shifted, sheared, zoomed and brightened images as `keras_preprocessing` 1 made them.

Keras 3's `ImageDataGenerator` draws the same numbers, turns the other way, and about another centre: half a pixel
before the middle, where the old one had half a pixel after it. It brightens an image without spreading its values.
"""

from __future__ import annotations

from typing import Any

import keras
import numpy as np

from parallel_compat.backend.keras3 import patch_points

_AFFINE = ("theta", "tx", "ty", "shear", "zx", "zy")


def apply_affine_transform(
    x: Any,
    theta: float = 0,
    tx: float = 0,
    ty: float = 0,
    shear: float = 0,
    zx: float = 1,
    zy: float = 1,
    row_axis: int = 0,
    col_axis: int = 1,
    channel_axis: int = 2,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    order: int = 1,
) -> Any:
    """Return an image rotated, shifted, sheared and zoomed about its middle.

    >>> import numpy as np
    >>> apply_affine_transform(np.arange(3.0).reshape(1, 3, 1), ty=1)[0, :, 0]
    array([1., 2., 2.])

    Args:
        x: an image.
        theta: the angle to rotate by, in degrees.
        tx: the rows to shift by.
        ty: the columns to shift by.
        shear: the angle to shear by, in degrees.
        zx: the zoom of rows.
        zy: the zoom of columns.
        row_axis: the axis of rows.
        col_axis: the axis of columns.
        channel_axis: the axis of channels.
        fill_mode: what stands beyond the borders, see `scipy.ndimage.affine_transform`.
        cval: the value there, for "constant".
        order: of the interpolation.

    Returns:
        The image.
    """
    from scipy import ndimage  # type: ignore[import-untyped]

    if (theta, tx, ty, shear, zx, zy) == (0, 0, 0, 0, 1, 1):
        return x
    turn, lean = np.deg2rad(theta), np.deg2rad(shear)
    matrix = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    matrix = matrix @ np.array([[1, 0, tx], [0, 1, ty], [0, 0, 1]])
    matrix = matrix @ np.array([[1, -np.sin(lean), 0], [0, np.cos(lean), 0], [0, 0, 1]])
    matrix = matrix @ np.array([[zx, 0, 0], [0, zy, 0], [0, 0, 1]])
    middle = [x.shape[axis] / 2 + 0.5 for axis in (row_axis, col_axis)]
    there, back = np.eye(3), np.eye(3)
    there[:2, 2], back[:2, 2] = middle, np.negative(middle)
    matrix = there @ matrix @ back
    channels = [
        ndimage.affine_transform(channel, matrix[:2, :2], matrix[:2, 2], order=order, mode=fill_mode, cval=cval)
        for channel in np.rollaxis(x, channel_axis, 0)
    ]
    return np.rollaxis(np.stack(channels, axis=0), 0, channel_axis + 1)


# As there, the middle is that of the first two axes, whichever `row_axis` and `col_axis` say.


def random_rotation(
    x: Any,
    rg: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> Any:
    """Return an image turned by an angle between -rg and rg degrees, drawn from `np.random`."""
    angle = np.random.uniform(-rg, rg)
    return _moved(x, channel_axis, fill_mode, cval, interpolation_order, theta=angle)


def random_shift(
    x: Any,
    wrg: float,
    hrg: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> Any:
    """Return an image shifted by up to the parts `wrg` of its width and `hrg` of its height."""
    rows = np.random.uniform(-hrg, hrg) * x.shape[row_axis]
    columns = np.random.uniform(-wrg, wrg) * x.shape[col_axis]
    return _moved(x, channel_axis, fill_mode, cval, interpolation_order, tx=rows, ty=columns)


def random_shear(
    x: Any,
    intensity: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> Any:
    """Return an image sheared by an angle between -intensity and intensity degrees."""
    angle = np.random.uniform(-intensity, intensity)
    return _moved(x, channel_axis, fill_mode, cval, interpolation_order, shear=angle)


def random_zoom(
    x: Any,
    zoom_range: tuple[float, float],
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> Any:
    """Return an image whose rows and columns are each zoomed by a number out of the range."""
    if len(zoom_range) != 2:
        raise ValueError(f"Expected `zoom_range` to be two numbers. Received: {zoom_range}")
    rows, columns = (1, 1) if tuple(zoom_range) == (1, 1) else np.random.uniform(zoom_range[0], zoom_range[1], 2)
    return _moved(x, channel_axis, fill_mode, cval, interpolation_order, zx=rows, zy=columns)


def _moved(x: Any, channel_axis: int, fill_mode: str, cval: float, order: int, **geometry: Any) -> Any:
    return apply_affine_transform(x, **geometry, channel_axis=channel_axis, fill_mode=fill_mode, cval=cval, order=order)


def apply_brightness_shift(x: Any, brightness: float) -> Any:
    """Return an image of values from 0 to 255, its brightness multiplied.

    `keras_preprocessing` 1 spread the values of any image so that the least became 0 and the largest 255; Keras 3 does
    so where values are not between them, and puts them back.

    >>> import numpy as np
    >>> apply_brightness_shift(np.array([[[0.0] * 3, [1.0] * 3]]), 0.5)[0, :, 0]
    array([  0., 127.], dtype=float32)

    Args:
        x: an image.
        brightness: 1 leaves it as bright as it is.
    """
    from PIL import ImageEnhance

    return keras.utils.img_to_array(
        ImageEnhance.Brightness(keras.utils.array_to_img(x, scale=True)).enhance(brightness)
    )


def random_brightness(x: Any, brightness_range: Any) -> Any:
    """Return an image with its brightness multiplied by a number out of the range."""
    if len(brightness_range) != 2:
        raise ValueError(f"Expected `brightness_range` to be two numbers. Received: {brightness_range}")
    return apply_brightness_shift(x, np.random.uniform(brightness_range[0], brightness_range[1]))


class ImageDataGenerator(patch_points.image_generator_class()):  # type: ignore[misc]  # Keras carries no types
    """Keras 3's `ImageDataGenerator` with the geometry, the brightness and the whitening of the old one."""

    def fit(self, x: Any, augment: bool = False, rounds: int = 1, seed: int | None = None) -> None:
        if not self.zca_whitening:
            super().fit(x, augment, rounds, seed)
            return
        pictures = np.array(x, dtype=self.dtype)
        if seed is not None:
            np.random.seed(seed)
        if self.rescale:
            pictures *= self.rescale
        if augment:
            turned = [self.random_transform(picture) for _ in range(rounds) for picture in pictures]
            pictures = np.array(turned, dtype=self.dtype)
        settings: dict[str, Any] = self.__dict__
        kept = {"rescale": self.rescale, "zca_whitening": True}
        settings.update(rescale=None, zca_whitening=False)
        try:
            super().fit(pictures)
        finally:
            settings.update(kept)
        if self.featurewise_center:
            pictures -= self.mean
        if self.featurewise_std_normalization:
            pictures /= self.std + 1e-6
        flat = pictures.reshape(len(pictures), -1)
        # Of all directions, also those that no picture has, where Keras 3 leaves them out; epsilon is under the root.
        directions, variances, _ = np.linalg.svd(np.dot(flat.T, flat) / len(flat))
        self.zca_whitening_matrix = (directions / np.sqrt(variances + self.zca_epsilon)).dot(directions.T)
        self.principal_components = self.zca_whitening_matrix

    def apply_transform(self, x: Any, transform_parameters: dict[str, Any]) -> Any:
        given = dict(transform_parameters)
        geometry = {name: given.pop(name) for name in _AFFINE if given.get(name) is not None}
        moved = apply_affine_transform(
            x,
            **geometry,
            row_axis=self.row_axis - 1,
            col_axis=self.col_axis - 1,
            channel_axis=self.channel_axis - 1,
            fill_mode=self.fill_mode,
            cval=self.cval,
            order=self.interpolation_order,
        )
        brightness = given.pop("brightness", None)
        moved = super().apply_transform(moved, given)
        return moved if brightness is None else apply_brightness_shift(moved, brightness)
