"""What is private to Keras 3 and TensorFlow: read in Keras 3.15.1 on TensorFlow 2.21.

No other package touches a private attribute, or imports a private module (`tests/test_seam.py`). Each function says
which attribute it stands on, so that a new release is checked here. The modules here are those of the core; what only
the stand-ins use is imported from its module.
"""

from __future__ import annotations

from parallel_compat.backend.keras3 import (
    batch_first,
    callbacks,
    compiled,
    data_adapters,
    global_state,
    in_memory,
    layers,
    metric_state,
    model_saving,
    optimizers,
    repeated_warnings,
    table_rows,
    which_backend,
)

which_backend.refuse_others()
repeated_warnings.show_once()
model_saving.restore_optimizers_from_hdf5()
layers.let_products_be_sparse_of_sparse_tensors_alone()
layers.let_pictures_of_unknown_size_be_enlarged()
compiled.let_weights_of_samples_count_for_all_their_values()
