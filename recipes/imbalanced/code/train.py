"""Trains three dense layers to find frauds, scores them on the last fifth, and compares them with a logistic regression."""

import numpy

from common.class_scores import area_under_precision_recall, confusion, logistic_regression, recall_at_precision
from common.report import InputError, report, run_main
from common.setup_keras import setup_keras
from common.staged import find_data
from common.training import binary_loss, predict, shuffled, train, training_arguments, weight_norm

from layout import NAME, read_transactions
from network import dense_network


def main():
    options = training_arguments(__doc__, epochs=30, batch=2048, learning_rate=0.01).parse_args()
    path = find_data(options.data, NAME)
    features, classes = read_transactions(path)
    cut = len(classes) - len(classes) // 5
    known, truth = classes[:cut], classes[cut:]
    if not 0 < known.sum() < cut or not 0 < truth.sum() < len(truth):
        raise InputError(path, "column 'Class' has one class alone in the first four fifths or in the last fifth; both are needed")
    keras = setup_keras(options.seed, options.threads)
    import tensorflow
    from common.weights import save_arrays, save_weights

    if options.labels == "shuffled":
        known = shuffled(known, options.seed)
    x_train, x_test = features[:cut], features[cut:]
    mean, deviation = x_train.mean(axis=0), x_train.std(axis=0)
    deviation = numpy.where(deviation > 0, deviation, 1)
    inputs, held = (((x - mean) / deviation).astype(numpy.float32) for x in (x_train, x_test))
    weights = 1 / numpy.bincount(known, minlength=2)
    model = dense_network(keras, features.shape[1])

    def validate(current):
        return {"validation_auc_pr": area_under_precision_recall(predict(current, held)[:, 0], truth)}

    train(keras, model, binary_loss(tensorflow), inputs, known.astype(numpy.float32), options, validate, weights)
    chances = predict(model, held)[:, 0]
    odds = logistic_regression(x_train, known, weights[known])(x_test)
    hits, false_alarms, missed, rest = confusion(chances > 0.5, truth)
    auc, auc_baseline = area_under_precision_recall(chances, truth), area_under_precision_recall(odds, truth)
    report(
        weight_norm=weight_norm(model),
        true_positives=hits,
        false_positives=false_alarms,
        false_negatives=missed,
        true_negatives=rest,
        correct=hits + rest,
        test_accuracy=(hits + rest) / len(truth),
        accuracy_nothing_is_fraud=float((truth == 0).mean()),
        auc_pr=auc,
        auc_pr_logistic=auc_baseline,
        auc_pr_chance=float(truth.mean()),
        auc_pr_over_baseline=auc - auc_baseline,
        recall_at_precision_half=recall_at_precision(chances, truth),
        recall_at_precision_half_logistic=recall_at_precision(odds, truth),
    )
    print(f"{model.count_params()} parameters; test transactions {len(truth)}, frauds {int(truth.sum())}")
    print(f"found {hits} frauds, missed {missed}, {false_alarms} false alarms; area under precision and recall {auc:.3f}, logistic {auc_baseline:.3f}")
    save_weights(options.output / "weights.h5", model)
    save_arrays(options.output / "predictions.h5", chances=chances, logistic=odds, labels=truth)


if __name__ == "__main__":
    run_main(main)
