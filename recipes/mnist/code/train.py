"""Trains the convolutional network on digits, scores it on the test images, and compares it with the nearest neighbour."""

import numpy

from common.class_scores import correct_count, nearest_neighbour
from common.report import report, run_main
from common.setup_keras import setup_keras
from common.staged import find_data
from common.training import predict, shuffled, train, training_arguments, weight_norm

from layout import CLASSES, NAME, read_digits
from network import convnet


def inputs_of(images):
    return (images.astype(numpy.float32) / 255)[..., None]


def main():
    options = training_arguments(__doc__, epochs=5, batch=128, learning_rate=0.001).parse_args()
    x_train, y_train, x_test, y_test = read_digits(find_data(options.data, NAME))
    keras = setup_keras(options.seed, options.threads)
    from common.weights import save_arrays, save_weights

    if options.labels == "shuffled":
        y_train = shuffled(y_train, options.seed)
    cut = len(x_train) - len(x_train) // 10
    inputs, held = inputs_of(x_train[:cut]), inputs_of(x_train[cut:])
    model = convnet(keras)

    def loss(truth, predicted):
        return keras.ops.sparse_categorical_crossentropy(truth, predicted)

    def validate(current):
        return {"validation_accuracy": correct_count(predict(current, held).argmax(axis=1), y_train[cut:]) / len(held)}

    train(keras, model, loss, inputs, y_train[:cut].astype(numpy.int32), options, validate)
    predicted = predict(model, inputs_of(x_test))
    correct = correct_count(predicted.argmax(axis=1), y_test)
    baseline = correct_count(nearest_neighbour(x_train, y_train, x_test), y_test)
    report(
        weight_norm=weight_norm(model),
        correct=correct,
        test_accuracy=correct / len(y_test),
        accuracy_nearest_neighbour=baseline / len(y_test),
        accuracy_over_baseline=(correct - baseline) / len(y_test),
    )
    print(f"{model.count_params()} parameters; test images {len(y_test)}, classes {CLASSES}")
    print(f"correct: network {correct}, nearest neighbour {baseline}")
    save_weights(options.output / "weights.h5", model)
    save_arrays(options.output / "predictions.h5", probabilities=predicted, labels=y_test)


if __name__ == "__main__":
    run_main(main)
