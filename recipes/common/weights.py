"""Weights and predictions as HDF5, with the names of layers as paths, so that sabath compares them by name."""

import h5py


def save_weights(path, model):
    """Writes each variable to `LAYER/VARIABLE`, in the order of the model."""
    with h5py.File(path, "w") as file:
        for layer in model.layers:
            for variable in layer.weights:
                file.create_dataset(f"{layer.name}/{variable.name}", data=variable.numpy())


def save_arrays(path, **arrays):
    with h5py.File(path, "w") as file:
        for name, values in arrays.items():
            file.create_dataset(name, data=values)
