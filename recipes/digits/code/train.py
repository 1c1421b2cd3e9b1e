"""Trains scikit-learn's multi-layer perceptron, one epoch after another, and keeps the weights of the end."""

import argparse
import pathlib
import time
import warnings

import h5py
import numpy
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from metrics import report


def part(file, name):
    return file[f"{name}/images"][()], file[f"{name}/labels"][()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--learning-rate", type=float, default=0.003)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with h5py.File(arguments.data, "r") as file:
        images, labels = part(file, "train")
        validation_images, validation_labels = part(file, "validation")
        test_images, test_labels = part(file, "test")

    # NumPy's seeds have 32 bits, sabath's 64.
    seed = int(numpy.random.SeedSequence(arguments.seed).generate_state(1)[0])
    network = MLPClassifier(
        hidden_layer_sizes=(arguments.hidden,),
        learning_rate_init=arguments.learning_rate,
        batch_size=arguments.batch,
        random_state=numpy.random.RandomState(seed),
    )
    warnings.simplefilter("ignore", ConvergenceWarning)
    classes = numpy.unique(labels)
    for epoch in range(1, arguments.epochs + 1):
        begin = time.perf_counter()
        network.partial_fit(images, labels, classes=classes)
        elapsed = time.perf_counter() - begin
        report(
            step=epoch,
            epoch=epoch,
            loss=float(network.loss_),
            validation_accuracy=float(network.score(validation_images, validation_labels)),
            epoch_time=elapsed,
        )
    report(step=arguments.epochs, test_accuracy=float(network.score(test_images, test_labels)))

    with h5py.File(arguments.output / "weights.h5", "w") as file:
        for layer, (weights, offsets) in enumerate(zip(network.coefs_, network.intercepts_)):
            file.create_dataset(f"layer{layer}/weights", data=weights)
            file.create_dataset(f"layer{layer}/offsets", data=offsets)
    with h5py.File(arguments.output / "predictions.h5", "w") as file:
        file.create_dataset("probabilities", data=network.predict_proba(test_images))
        file.create_dataset("labels", data=test_labels)


if __name__ == "__main__":
    main()
