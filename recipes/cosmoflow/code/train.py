"""Trains a network to read the cosmological parameters from cubes, beside a ridge regression and the guess of the mean."""

import argparse
import math
import pathlib
import time

import numpy

from common.batches import augment_cubes, batches_of
from common.memory import require_memory
from common.report import InputError, mllog, report, run_main
from common.scores import correlation, mean_absolute_error
from common.setup_keras import setup_keras

import ridge
from layout import Samples, find_samples
from universe import NAMES


def learning_rate(step, steps_per_epoch, options):
    """`adam`: one epoch of warm-up, then a cosine. `sgd`: MLPerf's warm-up of 4 epochs, a quarter from 32, an eighth from 64."""
    epoch = step / steps_per_epoch
    if options.optimizer == "adam":
        if epoch < 1:
            return options.learning_rate * (step + 1) / steps_per_epoch
        return options.learning_rate * 0.5 * (1 + math.cos(math.pi * (epoch - 1) / max(options.epochs - 1, 1)))
    peak = options.learning_rate * options.batch / 64
    if epoch < 4:
        return options.learning_rate + (peak - options.learning_rate) * epoch / 4
    return peak * (0.125 if epoch >= 64 else 0.25 if epoch >= 32 else 1)


def build(keras, options, shape):
    from common.cnn3d import mlperf_cnn, small_cnn

    if options.model == "mlperf":
        if shape[0] < 32:
            raise InputError(
                "model", f"mlperf halves a cube five times, the samples have {shape[0]} cells a side; expected 32 or more", "--set model=small"
            )
        return mlperf_cnn(keras, shape, len(NAMES), options.dropout)
    return small_cnn(keras, shape, len(NAMES))


class Scale:
    """log(1 + counts); for the small network each redshift is standardised with mean and deviation of the training samples."""

    def __init__(self, samples, is_standardised):
        channels = samples.shape[-1]
        self.mean, self.deviation = numpy.zeros(channels, numpy.float32), numpy.ones(channels, numpy.float32)
        if is_standardised:
            sums, squares, count = numpy.zeros(channels), numpy.zeros(channels), 0
            for cubes, _ in samples.chunks(64, ridge.MOST_SAMPLES):
                values = numpy.log1p(cubes.reshape(-1, channels), dtype=numpy.float32).astype(float)
                sums, squares, count = sums + values.sum(axis=0), squares + (values**2).sum(axis=0), count + len(values)
            self.mean[:] = sums / count
            self.deviation[:] = numpy.maximum(numpy.sqrt(numpy.maximum(squares / count - (sums / count) ** 2, 0)), 1e-6)

    def __call__(self, cubes):
        return (numpy.log1p(cubes, dtype=numpy.float32) - self.mean) / self.deviation


def predict(model, scale, samples, batch):
    """Predictions and truth for all samples in their order."""
    parts = [
        (numpy.asarray(model(scale(cubes), training=False)), units) for cubes, units in samples.chunks(batch)
    ]
    predicted, units = zip(*parts)
    return numpy.concatenate(predicted), numpy.concatenate(units)


def shuffled_labels(samples, seed):
    """Labels of other samples: what is learned from them must not help."""
    units = numpy.concatenate([units for _, units in samples.chunks(64)])
    return units[numpy.random.default_rng([seed, 3]).permutation(len(units))]


def report_scores(truth, predicted, guesses, ridge_predicted):
    """Scores of the held-out samples in units of `unitPar`, where the range of a parameter is 2."""
    error, error_ridge = mean_absolute_error(predicted, truth), mean_absolute_error(ridge_predicted, truth)
    error_mean = mean_absolute_error(numpy.broadcast_to(guesses, truth.shape), truth)
    r, r_ridge = correlation(predicted, truth), correlation(ridge_predicted, truth)
    report(
        mae=float(error.mean()),
        mae_ridge=float(error_ridge.mean()),
        mae_mean=float(error_mean.mean()),
        mae_over_ridge=float(error.mean() / error_ridge.mean()),
        mae_over_mean=float(error.mean() / error_mean.mean()),
    )
    for number, name in enumerate(name.lower() for name in NAMES):
        report(
            **{
                f"mae/{name}": float(error[number]),
                f"correlation/{name}": float(r[number]),
                f"correlation_ridge/{name}": float(r_ridge[number]),
            }
        )
        print(f"{name:8} r {r[number]:+.3f} (ridge {r_ridge[number]:+.3f}), MAE {error[number]:.3f} (ridge {error_ridge[number]:.3f})")
    print(f"MAE {error.mean():.4f}, ridge {error_ridge.mean():.4f}, mean {error_mean.mean():.4f}")


def arguments_of():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="outputs of a run, or a folder or tar archive of samples")
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--model", choices=("small", "mlperf"), default="small")
    parser.add_argument("--optimizer", choices=("adam", "sgd"), default="adam")
    parser.add_argument("--learning-rate", type=float, default=0.005)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--dropout", type=float, default=0.5, help="of the network mlperf")
    parser.add_argument("--roll", choices=("yes", "no"), default="no", help="shift cubes at random: only for whole periodic boxes")
    parser.add_argument("--labels", choices=("true", "shuffled"), default="true")
    parser.add_argument("--limit", type=int, default=0, help="samples of each part; 0 for all")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main():
    options = arguments_of()
    mllog("init_start", kind="INTERVAL_START")
    keras = setup_keras(options.seed, options.threads)
    import tensorflow
    from common.weights import save_arrays, save_weights

    archive = find_samples(options.data)
    samples = Samples(archive, "train", options.limit)
    held_out = Samples(archive, "validation", options.limit)
    labels = shuffled_labels(samples, options.seed) if options.labels == "shuffled" else None
    scale = Scale(samples, options.model == "small")
    model = build(keras, options, samples.shape)
    require_memory(model, min(options.batch, len(samples)), 2 if options.optimizer == "adam" else 1, "a smaller batch: --set batch=1")
    if options.optimizer == "adam":
        optimizer = keras.optimizers.Adam(options.learning_rate)
    else:
        optimizer = keras.optimizers.SGD(options.learning_rate, momentum=0.9)
    optimizer.build(model.trainable_variables)
    steps = -(-len(samples) // options.batch)
    for key, value in (
        ("submission_benchmark", "cosmoflow"),
        ("global_batch_size", options.batch),
        ("train_samples", len(samples)),
        ("eval_samples", len(held_out)),
        ("opt_name", options.optimizer),
        ("opt_base_learning_rate", options.learning_rate),
        ("parameters", model.count_params()),
    ):
        mllog(key, value)

    @tensorflow.function(reduce_retracing=True)
    def train_step(x, y):
        with tensorflow.GradientTape() as tape:
            loss = tensorflow.reduce_mean(tensorflow.square(model(x, training=True) - y))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    mllog("init_stop", kind="INTERVAL_END")
    mllog("run_start", kind="INTERVAL_START")
    step = 0
    for epoch in range(1, options.epochs + 1):
        mllog("epoch_start", kind="INTERVAL_START", epoch_num=epoch)
        begin, losses = time.perf_counter(), []
        for number, chosen in batches_of(len(samples), options.batch, options.seed, epoch):
            optimizer.learning_rate.assign(learning_rate(step, steps, options))
            cubes, units = samples.take(chosen)
            if labels is not None:
                units = labels[chosen]
            cubes = augment_cubes(cubes, options.seed, epoch, number, options.roll == "yes")
            loss = float(train_step(tensorflow.constant(scale(cubes)), tensorflow.constant(units)))
            step += 1
            if not math.isfinite(loss):
                raise InputError(f"step {step} of epoch {epoch}", f"the loss is {loss}", "a smaller learning rate may help")
            report(step=step, epoch=epoch, loss=loss)
            losses.append(loss * len(chosen))
        elapsed = time.perf_counter() - begin
        mllog("epoch_stop", kind="INTERVAL_END", epoch_num=epoch)
        mllog("eval_start", kind="INTERVAL_START", epoch_num=epoch)
        predicted, truth = predict(model, scale, held_out, options.batch)
        error = float(mean_absolute_error(predicted, truth).mean())
        mllog("eval_error", error, epoch_num=epoch)
        mllog("eval_stop", kind="INTERVAL_END", epoch_num=epoch)
        report(
            step=step,
            epoch=epoch,
            epoch_loss=sum(losses) / len(samples),
            validation_mae=error,
            epoch_time=elapsed,
            samples_per_second=len(samples) / elapsed,
        )
        print(f"epoch {epoch}: loss {sum(losses) / len(samples):.4f}, validation MAE {error:.4f}", flush=True)
    mllog("run_stop", kind="INTERVAL_END", status="success")

    function, penalty, guess = ridge.fit(samples, labels)
    ridge_predicted = function(ridge.features_of_samples(held_out, len(held_out))[0])
    print(f"ridge: penalty {penalty}; network: {model.count_params()} parameters")
    report_scores(truth, predicted, guess, ridge_predicted)
    save_weights(options.output / "weights.h5", model)
    save_arrays(options.output / "predictions.h5", predicted=predicted, ridge=ridge_predicted, truth=truth)


if __name__ == "__main__":
    run_main(main)
