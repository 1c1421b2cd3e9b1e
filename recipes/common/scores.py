"""Scores of predictions on held-out data."""

import numpy


def mean_absolute_error(predicted, truth):
    """One value for each column."""
    return numpy.abs(numpy.asarray(predicted, float) - truth).mean(axis=0)


def correlation(predicted, truth):
    """Pearson's r of each column; 0 if one of the two does not vary."""
    a = predicted - numpy.mean(predicted, axis=0)
    b = truth - numpy.mean(truth, axis=0)
    scale = numpy.sqrt((a * a).sum(axis=0) * (b * b).sum(axis=0))
    return numpy.where(scale > 0, (a * b).sum(axis=0) / numpy.where(scale > 0, scale, 1), 0.0)


def ridge(features, targets, penalty):
    """Returns a function that predicts: standardised features, an offset, and least squares with a penalty."""
    mean, deviation = features.mean(axis=0), features.std(axis=0)
    deviation = numpy.where(deviation > 0, deviation, 1)
    scaled, offset = (features - mean) / deviation, targets.mean(axis=0)
    gram = scaled.T @ scaled + penalty * len(features) * numpy.eye(features.shape[1])
    weights = numpy.linalg.solve(gram, scaled.T @ (targets - offset))
    return lambda others: (others - mean) / deviation @ weights + offset


def best_ridge(features, targets, penalties=(1e-5, 1e-4, 1e-3, 1e-2, 1e-1)):
    """A ridge regression whose penalty is the best for the last fifth of the training samples; returns (function, penalty)."""
    cut = len(features) - max(1, len(features) // 5)
    errors = [
        mean_absolute_error(ridge(features[:cut], targets[:cut], penalty)(features[cut:]), targets[cut:]).mean()
        for penalty in penalties
    ]
    penalty = penalties[int(numpy.argmin(errors))]
    return ridge(features, targets, penalty), penalty
