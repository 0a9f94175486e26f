"""`Dot` and `K.batch_dot` of inputs of four axes, as the stacks of each era multiplied them."""

from __future__ import annotations

import numpy as np

X = np.arange(48, dtype="float32").reshape(2, 2, 3, 4) / 10
Y = np.cos(X)
# Recorded of TensorFlow 1.15.5 (and of Keras 2.2.4, the same) and of 2.2.3: shape, second number, sum.
OF_GRAPHS = {
    (-1, False): ((2, 2, 3, 3), 0.48228, -168.194),
    (-1, True): ((2, 2, 3, 3), 0.7589, -12.3216),
    (1, False): ((2, 2, 4, 4), 0.84832, -227.9925),
    (1, True): ((2, 2, 4, 4), 0.52825, -40.1941),
}
OF_2_2 = {
    (-1, False): ((2, 2, 3, 2, 3), 0.48228, -312.7062),
    (1, True): ((2, 3, 4, 3, 4), 0.25962, -120.088),
}
