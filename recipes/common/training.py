"""The loop that trains a Keras classifier: order of samples from NumPy, metrics of each step and epoch, a stop at a loss that is not finite."""

import argparse
import math
import pathlib
import time

import numpy

from .batches import batches_of
from .report import InputError, report


def training_arguments(description, epochs, batch, learning_rate):
    """The options that the classifiers have in common."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", required=True, help="outputs of a run, or the data file or its folder")
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--batch", type=int, default=batch)
    parser.add_argument("--learning-rate", type=float, default=learning_rate)
    parser.add_argument("--labels", choices=("true", "shuffled"), default="true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    return parser


def shuffled(labels, seed):
    """Labels of other samples: what is learned from them must not help."""
    return labels[numpy.random.default_rng([seed, 3]).permutation(len(labels))]


def predict(model, inputs, batch=500):
    parts = [numpy.asarray(model(inputs[begin : begin + batch], training=False)) for begin in range(0, len(inputs), batch)]
    return numpy.concatenate(parts)


def train(keras, model, loss_function, inputs, labels, options, validate, class_weights=None):
    """Trains with Adam. `validate(model)` gives the metrics that each epoch reports beside its loss.

    `class_weights` has a weight for each class, as `fit` of Keras takes them: the loss is the mean of weight times loss.
    """
    import tensorflow

    optimizer = keras.optimizers.Adam(options.learning_rate)
    optimizer.build(model.trainable_variables)
    sample_weights = numpy.ones(len(labels), numpy.float32)
    if class_weights is not None:
        sample_weights = numpy.asarray(class_weights, numpy.float32)[labels.astype(int)]

    @tensorflow.function(reduce_retracing=True)
    def train_step(x, y, weight):
        with tensorflow.GradientTape() as tape:
            loss = tensorflow.reduce_mean(weight * loss_function(y, model(x, training=True)))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    step = 0
    for epoch in range(1, options.epochs + 1):
        begin, total = time.perf_counter(), 0.0
        for _, chosen in batches_of(len(labels), options.batch, options.seed, epoch):
            values = (inputs[chosen], labels[chosen], sample_weights[chosen])
            loss = float(train_step(*(tensorflow.constant(value) for value in values)))
            step += 1
            if not math.isfinite(loss):
                raise InputError(f"step {step} of epoch {epoch}", f"the loss is {loss}", "a smaller learning rate may help")
            report(step=step, epoch=epoch, loss=loss)
            total += loss * len(chosen)
        elapsed = time.perf_counter() - begin
        found = validate(model)
        report(step=step, epoch=epoch, epoch_loss=total / len(labels), epoch_time=elapsed, samples_per_second=len(labels) / elapsed, **found)
        words = ", ".join(f"{name} {value:.4f}" for name, value in found.items())
        print(f"epoch {epoch}: loss {total / len(labels):.4g}, {words}", flush=True)


def weight_norm(model):
    """The root of the exact sum of squares of all weights: one number that differs where any weight differs, almost surely."""
    return math.sqrt(math.fsum(value * value for part in model.weights for value in part.numpy().ravel().astype(float).tolist()))


def binary_loss(tensorflow):
    """Binary cross-entropy of probabilities in one column, for each sample; clipped as Keras clips."""

    def loss(truth, predicted):
        chance = tensorflow.clip_by_value(predicted[:, 0], 1e-7, 1 - 1e-7)
        truth = tensorflow.cast(truth, chance.dtype)
        return -(truth * tensorflow.math.log(chance) + (1 - truth) * tensorflow.math.log(1 - chance))

    return loss
