"""What the originals need of today's libraries: one cause a file. A file that names no versions was seen in TensorFlow
2.18 to 2.21.

`tensorflow_1` and `tensorflow_2`, which make the module `tensorflow` what it was, come after all of them.
"""

from __future__ import annotations

# In the order in which they are applied.
ALL = (
    *("python", "docstrings", "numpy", "numpy_promotion", "svd_signs", "h5py", "yaml", "tensorboard", "backend_choice"),
    *("moved_names", "gone_names", "gone_names_1_15", "gone_packages", "contrib", "tensor_kinds"),
    *("variables_in_sessions", "initial_values", "operations", "shuffled_data", "composite_tensors"),
    *("operation_layers", "functions", "saved_models"),
    *(
        "mixed_precision",
        "empty_towers",
        "reading_ahead",
        "order_of_updates",
        "device_scopes",
        "older_keras",
        "picture_iterators",
    ),
    *("merge_layers", "keras_1", "cudnn_layers", "downloads", "code_in_files", "saved_files", "resume"),
)
