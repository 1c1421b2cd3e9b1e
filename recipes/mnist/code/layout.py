"""The file `mnist.npz`: images and labels to train on and to test with."""

import numpy

from common.npz_files import NpzFile
from common.report import InputError

NAME, ASSET = "mnist.npz", "mnist-npz"
SIDE, CLASSES = 28, 10


def read_digits(path):
    """x_train, y_train, x_test, y_test as they are in the file, checked."""
    file, arrays = NpzFile(path), []
    for part in ("train", "test"):
        images = file.array(f"x_{part}", "u", (None, SIDE, SIDE), f"uint8 of shape (n, {SIDE}, {SIDE}), brightness from 0 to 255")
        if images.dtype != numpy.uint8:
            raise InputError(path, f"array 'x_{part}' is {images.dtype}; expected uint8, brightness from 0 to 255")
        labels = file.array(f"y_{part}", "iu", (len(images),), f"{len(images)} integers, one for each image of 'x_{part}'")
        if len(labels) and not 0 <= labels.min() <= labels.max() < CLASSES:
            raise InputError(path, f"array 'y_{part}' has labels from {labels.min()} to {labels.max()}; expected 0 to {CLASSES - 1}")
        arrays += [images, labels]
    return arrays
