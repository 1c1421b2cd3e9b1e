"""Weights and predictions as HDF5, with the names of layers as paths, so that sabath compares them by name."""

import h5py


def save_weights(path, model):
    """Writes each variable to its path in the model: `LAYER/VARIABLE`, and the layers above it where layers are nested."""
    with h5py.File(path, "w") as file:
        for variable in model.weights:
            file.create_dataset(variable.path.removeprefix(f"{model.name}/"), data=variable.numpy())


def save_arrays(path, **arrays):
    with h5py.File(path, "w") as file:
        for name, values in arrays.items():
            file.create_dataset(name, data=values)
