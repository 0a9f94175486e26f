"""What `run` puts on the classes and functions of Keras and TensorFlow, by way of `backend/patches.py`."""
