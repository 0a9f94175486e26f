"""Record what the old stack predicts from the template files in `oracle/`: run under Keras 2.2.4 (see make_old_files).

    record_predictions.py ORACLE_NPZ_DIR OUT_DIR

The oracle's own predictions are of other moments than the files, which were saved at the end. Here the old
stack loads each template file and predicts; inputs are the first rows of the oracle's `x_i`.
"""

import glob
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np

source, out = sys.argv[1:3]
for path in sorted(glob.glob(os.path.join(out, "*.template.h5"))):
    case = os.path.basename(path).split(".")[0]
    if case.startswith("tf22"):
        continue  # written with their predictions
    keras.backend.clear_session()
    model = keras.models.load_model(path, compile=False)
    recorded = np.load(os.path.join(source, case + ".npz"))
    inputs = [recorded[key][:6] for key in sorted(recorded.files) if key.startswith("x_")]
    predicted = model.predict(inputs if len(inputs) > 1 else inputs[0])
    predicted = predicted if isinstance(predicted, list) else [predicted]
    arrays = {"x_%d" % i: x for i, x in enumerate(inputs)}
    arrays.update({"predict_%d" % i: p for i, p in enumerate(predicted)})
    np.savez_compressed(os.path.join(out, case + ".npz"), **arrays)
    for index, weight in enumerate(model.get_weights()):
        np.testing.assert_array_equal(weight, recorded["w_train_on_batch_%d" % index])
    print(case)
