"""Trains the bidirectional LSTM on reviews, scores it on the test reviews, and compares it with a bag of words."""

import numpy

from common.class_scores import area_under_precision_recall, correct_count, logistic_regression
from common.report import report, run_main
from common.setup_keras import setup_keras
from common.staged import find_data
from common.training import binary_loss, predict, shuffled, train, training_arguments, weight_norm

from layout import NAME, bags_of, read_reviews, sequences_of
from network import EXAMPLE, SMALL, bidirectional_lstm

BAG_WORDS = 2000  # the baseline knows the most frequent words


def main():
    parser = training_arguments(__doc__, epochs=4, batch=32, learning_rate=0.003)
    parser.add_argument("--model", choices=("small", "example"), default="small")
    parser.add_argument("--length", type=int, default=40, help="words of a review that the network reads, its last ones")
    options = parser.parse_args()
    (train_reviews, y_train), (test_reviews, y_test) = read_reviews(find_data(options.data, NAME))
    keras = setup_keras(options.seed, options.threads)
    import tensorflow
    from common.weights import save_arrays, save_weights

    if options.labels == "shuffled":
        y_train = shuffled(y_train, options.seed)
    size = EXAMPLE if options.model == "example" else SMALL
    x_train = sequences_of(train_reviews, size["words"], options.length)
    x_test = sequences_of(test_reviews, size["words"], options.length)
    model = bidirectional_lstm(keras, options.length, **size)

    def validate(current):
        chances = predict(current, x_test)[:, 0]
        return {"validation_accuracy": correct_count(chances > 0.5, y_test == 1) / len(y_test)}

    train(keras, model, binary_loss(tensorflow), x_train, y_train.astype(numpy.float32), options, validate)
    chances = predict(model, x_test)[:, 0]
    correct = correct_count(chances > 0.5, y_test == 1)
    words = min(size["words"], BAG_WORDS)
    bag = logistic_regression(bags_of(x_train, words), y_train)
    odds = bag(bags_of(x_test, words))
    baseline = correct_count(odds > 0, y_test == 1)
    report(
        weight_norm=weight_norm(model),
        correct=correct,
        test_accuracy=correct / len(y_test),
        accuracy_bag_of_words=baseline / len(y_test),
        accuracy_over_baseline=(correct - baseline) / len(y_test),
        auc_pr=area_under_precision_recall(chances, y_test),
    )
    print(f"{model.count_params()} parameters; test reviews {len(y_test)}")
    print(f"correct: network {correct}, bag of words {baseline}")
    save_weights(options.output / "weights.h5", model)
    save_arrays(options.output / "predictions.h5", chances=chances, bag_of_words=odds, labels=y_test)


if __name__ == "__main__":
    run_main(main)
