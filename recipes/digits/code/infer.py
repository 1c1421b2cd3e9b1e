"""Times the trained network on the test images: the products alone, without scikit-learn around them."""

import argparse
import time

import h5py
import numpy

from metrics import report

REPEATS = 20


def forward(images, layers):
    values = images
    for index, (weights, offsets) in enumerate(layers):
        values = values @ weights + offsets
        if index + 1 < len(layers):
            values = numpy.maximum(values, 0)
    return values.argmax(axis=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--weights", required=True)
    arguments = parser.parse_args()
    with h5py.File(arguments.data, "r") as file:
        images = file["test/images"][()]
    with h5py.File(arguments.weights, "r") as file:
        layers = [(file[f"{name}/weights"][()], file[f"{name}/offsets"][()]) for name in sorted(file)]
    for step in range(REPEATS):
        begin = time.perf_counter()
        forward(images, layers)
        report(step=step, images_per_second=len(images) / (time.perf_counter() - begin))


if __name__ == "__main__":
    main()
