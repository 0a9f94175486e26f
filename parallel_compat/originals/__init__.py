"""The originals: old Keras's own code, fetched once, run on today's TensorFlow."""
