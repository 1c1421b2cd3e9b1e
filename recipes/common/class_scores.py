"""Scores of classifiers on held-out data, and logistic regression as a baseline."""

import numpy


def correct_count(predicted, truth):
    """Number of correct predictions: an accuracy is this count divided by N, nothing else."""
    return int((numpy.asarray(predicted) == numpy.asarray(truth)).sum())


def confusion(predicted, truth):
    """True positives, false positives, false negatives, true negatives of two classes; their sum is N."""
    predicted, truth = numpy.asarray(predicted, bool), numpy.asarray(truth, bool)
    return tuple(int(both.sum()) for both in (predicted & truth, predicted & ~truth, ~predicted & truth, ~predicted & ~truth))


def precision_recall(scores, truth):
    """Precision and recall at each distinct score, from the greatest on; samples of equal score enter together."""
    order = numpy.argsort(-numpy.asarray(scores, float), kind="stable")
    sorted_scores, hits = numpy.asarray(scores, float)[order], numpy.cumsum(numpy.asarray(truth, float)[order])
    last = numpy.append(numpy.diff(sorted_scores) != 0, True)
    hits, taken = hits[last], numpy.flatnonzero(last) + 1
    return hits / taken, hits / max(hits[-1], 1)


def area_under_precision_recall(scores, truth):
    """Average precision: the sum of precision times the step of recall."""
    precision, recall = precision_recall(scores, truth)
    return float((precision * numpy.diff(recall, prepend=0.0)).sum())


def recall_at_precision(scores, truth, least=0.5):
    """The greatest recall whose precision is at least `least`; 0 if there is none."""
    precision, recall = precision_recall(scores, truth)
    return float(recall[precision >= least].max(initial=0.0))


def logistic_regression(features, labels, weights=None, penalty=1e-2, steps=30):
    """Returns a function that gives scores (log odds): standardised features, an offset, Newton's method with an L2 penalty."""
    features, labels = numpy.asarray(features, float), numpy.asarray(labels, float)
    weights = numpy.ones(len(labels)) if weights is None else numpy.asarray(weights, float)
    weights = weights / weights.mean()
    mean, deviation = features.mean(axis=0), features.std(axis=0)
    varies = deviation > 0  # the other columns say nothing
    mean, deviation = mean[varies], deviation[varies]

    def scaled(values):
        return numpy.column_stack([(values[:, varies] - mean) / deviation, numpy.ones(len(values))])

    design = scaled(features)
    parameters = numpy.zeros(design.shape[1])
    penalties = numpy.full(len(parameters), penalty * len(labels))
    penalties[-1] = 1e-6 * len(labels)
    for _ in range(steps):
        chance = 1 / (1 + numpy.exp(-numpy.clip(design @ parameters, -30, 30)))
        gradient = design.T @ (weights * (chance - labels)) + penalties * parameters
        curvature = (design * (weights * chance * (1 - chance))[:, None]).T @ design + numpy.diag(penalties)
        step = numpy.linalg.solve(curvature, gradient)
        parameters = parameters - step
        if numpy.abs(step).max() < 1e-8:
            break
    return lambda values: scaled(numpy.asarray(values, float)) @ parameters


def nearest_neighbour(known, labels, others, chunk=500):
    """The label of the nearest known row by Euclidean distance, for each other row.

    With whole numbers all sums are exact, so that no instruction set changes the answer.
    """
    known = numpy.asarray(known, float).reshape(len(known), -1)
    others = numpy.asarray(others, float).reshape(len(others), -1)
    squares, found = (known * known).sum(axis=1), []
    for begin in range(0, len(others), chunk):
        found.append((squares - 2 * others[begin : begin + chunk] @ known.T).argmin(axis=1))
    return numpy.asarray(labels)[numpy.concatenate(found)]
