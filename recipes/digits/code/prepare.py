"""Writes scikit-learn's bundled digits as HDF5: pixels from 0 to 1, labels, and which part is for what."""

import argparse

import h5py
import numpy
from sklearn.datasets import load_digits

# In the order of the file: 1077 images to train on, 360 to validate, 360 held out.
VALIDATION_BEGINS, TEST_BEGINS = 1077, 1437


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    digits = load_digits()
    images = (digits.data / 16.0).astype(numpy.float64)
    labels = digits.target.astype(numpy.int64)
    parts = {
        "train": slice(0, VALIDATION_BEGINS),
        "validation": slice(VALIDATION_BEGINS, TEST_BEGINS),
        "test": slice(TEST_BEGINS, len(labels)),
    }
    with h5py.File(arguments.out, "w") as file:
        for name, part in parts.items():
            file.create_dataset(f"{name}/images", data=images[part])
            file.create_dataset(f"{name}/labels", data=labels[part])


if __name__ == "__main__":
    main()
