"""The baseline without a network: ridge regression on power spectra and moments of the counts."""

import numpy

from common.fields import measured_power
from common.scores import best_ridge

BINS = 8
MOST_SAMPLES = 4096


def features_of(cubes):
    """For each redshift: log power in 8 shells, log variance, skewness, mean of log(1 + count)."""
    edges = numpy.linspace(0.5, cubes.shape[1] / 2 + 0.5, BINS + 1) * 2 * numpy.pi  # of a box of side 1
    columns = []
    for channel in range(cubes.shape[-1]):
        counts = cubes[..., channel].astype(float)
        contrast = counts / counts.mean(axis=(1, 2, 3), keepdims=True) - 1
        power, _, _ = measured_power(contrast, 1.0, edges)
        variance = contrast.var(axis=(1, 2, 3))
        # A universe may have a count of 1 everywhere at z = 3: its variance is 0.
        skewness = (contrast**3).mean(axis=(1, 2, 3)) / numpy.maximum(variance, 1e-4) ** 1.5
        columns += [*numpy.log(power.T + 1e-8), numpy.log(variance + 1e-4), skewness, numpy.log1p(counts).mean(axis=(1, 2, 3))]
    return numpy.stack(columns, axis=1)


def features_of_samples(samples, most):
    """Features and parameters of the first samples; a few cubes at a time."""
    size = max(1, 2**18 // samples.shape[0] ** 3)
    rows, units = zip(*((features_of(cubes), units) for cubes, units in samples.chunks(size, most)))
    return numpy.concatenate(rows), numpy.concatenate(units).astype(float)


def fit(samples, labels=None):
    """A ridge regression on at most MOST_SAMPLES samples; `labels` replace theirs. Returns (function of features, penalty, mean label)."""
    features, units = features_of_samples(samples, MOST_SAMPLES)
    if labels is not None:
        units = labels[: len(features)].astype(float)
    function, penalty = best_ridge(features, units)
    return function, penalty, units.mean(axis=0)
