"""Threads, seed and determinism of Keras on TensorFlow, before the first computation."""

import os

from .report import InputError

HINT = (
    "run the recipe with sabath, which builds its environment; by hand: "
    "pip install 'tensorflow-cpu==2.21.*' 'keras==3.15.*' 'h5py==3.14.*' 'numpy==2.4.*'"
)


def setup_keras(seed, threads):
    """Returns the module keras. Prints the versions.

    TF_ENABLE_ONEDNN_OPTS changes bits and is read at import: the recipe sets it. By hand its default here is the same.
    """
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    try:
        import tensorflow
        import keras
    except ImportError as problem:
        raise InputError(problem.name or "tensorflow", f"cannot be imported: {problem}", HINT) from problem
    # The user's keras.json may say otherwise.
    keras.config.set_floatx("float32")
    keras.config.set_epsilon(1e-7)
    keras.config.set_image_data_format("channels_last")
    tensorflow.config.threading.set_intra_op_parallelism_threads(threads)
    tensorflow.config.threading.set_inter_op_parallelism_threads(1)
    keras.utils.set_random_seed(seed % 2**32)  # NumPy's global seed has 32 bits, sabath's 64
    tensorflow.config.experimental.enable_op_determinism()
    # It fails on the gradient of a leaky ReLU behind a convolution, and says so in each run.
    tensorflow.config.optimizer.set_experimental_options({"remapping": False})
    print(
        f"tensorflow {tensorflow.__version__}, keras {keras.__version__}, threads {threads}, "
        f"oneDNN {os.environ['TF_ENABLE_ONEDNN_OPTS']}",
        flush=True,
    )
    return keras
