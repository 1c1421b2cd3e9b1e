"""Weights of layers within layers as HDF5, each by its path in the model."""

import h5py


def save_nested_weights(path, model):
    with h5py.File(path, "w") as file:
        for variable in model.weights:
            file.create_dataset(variable.path.removeprefix(f"{model.name}/"), data=variable.numpy())
