"""Functions that scikit-image had, with the results of version 0.14."""

from __future__ import annotations

from typing import Any

import numpy as np


def compare_ssim(
    X: Any, Y: Any, win_size: int | None = None, gradient: bool = False, data_range: Any = None,
    multichannel: bool = False, gaussian_weights: bool = False, full: bool = False, **options: Any,
) -> Any:  # fmt: skip
    """Return the structural similarity; the range of floats is that of [-1, 1] if it is not passed."""
    from skimage.metrics import structural_similarity

    if data_range is None:
        low, high = _range_of(X)
        data_range = high - low
    if gaussian_weights and not gradient:
        return _gaussian_ssim(np.asarray(X, float), np.asarray(Y, float), data_range, multichannel, full, **options)
    return structural_similarity(
        np.asarray(X, float), np.asarray(Y, float), win_size=win_size, gradient=gradient, data_range=data_range,
        channel_axis=-1 if multichannel else None, gaussian_weights=gaussian_weights, full=full, **options,
    )  # fmt: skip


def _gaussian_ssim(
    X: Any, Y: Any, data_range: float, multichannel: bool, full: bool, sigma: float = 1.5,
    use_sample_covariance: bool = True, K1: float = 0.01, K2: float = 0.03,
) -> Any:  # fmt: skip
    """Compute it with a Gaussian that is cut off at four standard deviations, and 5 pixels of margin left out."""
    from scipy.ndimage import gaussian_filter

    def smooth(image: Any) -> Any:
        return gaussian_filter(image, (sigma, sigma, 0) if multichannel else sigma)

    count = 11 ** (X.ndim - multichannel)
    norm = count / (count - 1) if use_sample_covariance else 1.0
    x, y, c1, c2 = smooth(X), smooth(Y), (K1 * data_range) ** 2, (K2 * data_range) ** 2
    variances = norm * (smooth(X * X) - x * x) + norm * (smooth(Y * Y) - y * y)
    covariance = norm * (smooth(X * Y) - x * y)
    found = (2 * x * y + c1) * (2 * covariance + c2) / ((x**2 + y**2 + c1) * (variances + c2))
    inner = found[tuple(slice(5, -5) for _ in range(X.ndim - multichannel))]
    return (inner.mean(), found) if full else inner.mean()


def compare_psnr(im_true: Any, im_test: Any, data_range: Any = None, dynamic_range: Any = None) -> Any:
    """Return the ratio of the largest value to the error, in decibels."""
    from skimage.metrics import peak_signal_noise_ratio

    return peak_signal_noise_ratio(im_true, im_test, data_range=data_range if dynamic_range is None else dynamic_range)


def compare_nrmse(im_true: Any, im_test: Any, norm_type: str = "Euclidean") -> Any:
    """Return the root of the mean squared error, by a norm of the picture."""
    from skimage.metrics import normalized_root_mse

    return normalized_root_mse(im_true, im_test, normalization=norm_type.lower())


def _range_of(image: Any) -> tuple[float, float]:
    dtype = np.asarray(image).dtype
    if dtype.kind == "b":
        return 0, 1
    if dtype.kind == "f":
        return -1, 1
    limits = np.iinfo(dtype)
    return limits.min, limits.max


def circle(r: float, c: float, radius: float, shape: Any = None) -> Any:
    """Return the indices of the pixels of a disk."""
    from skimage.draw import disk

    return disk((r, c), radius, shape=shape)


def montage2d(
    arr_in: Any, fill: Any = "mean", rescale_intensity: bool = False, grid_shape: Any = None, padding_width: int = 0
) -> Any:
    """Return several pictures side by side."""
    from skimage.util import montage

    return montage(arr_in, fill, rescale_intensity, grid_shape, padding_width)


def imsave(fname: Any, arr: Any, *args: Any, **options: Any) -> None:
    """Write a picture, of floats as well."""
    from skimage.io import imsave as save

    save(fname, whole_numbers(fname, arr), *args, **options)


def whole_numbers(fname: Any, arr: Any) -> Any:
    """Return a picture as the whole numbers that its file takes; one that has them is returned as it is."""
    from skimage.util import img_as_ubyte, img_as_uint

    data = np.asanyarray(arr)
    ending = str(fname).lower().rpartition(".")[2]
    if data.dtype == np.uint8 or ending not in ("png", "jpg", "jpeg", "bmp", "gif"):
        return arr
    is_grey_png = data.ndim == 2 and ending == "png"
    if data.dtype == bool or (is_grey_png and data.dtype.kind != "f" and data.max() < 256 and data.min() >= 0):
        return data.astype(np.uint8)
    return img_as_uint(data) if is_grey_png else img_as_ubyte(data)
