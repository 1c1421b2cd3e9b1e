"""upstream.py RECIPES: networks at upstream's size have its parameter counts; Keras' own loaders read generated files."""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile
from unittest import mock

import keras
import numpy

RECIPES = pathlib.Path(sys.argv[1]).resolve()


def module_of(recipe, name):
    code = RECIPES / recipe / "code"
    if str(code) not in sys.path:
        sys.path.insert(0, str(code))
    spec = importlib.util.spec_from_file_location(f"{recipe}_{name}", code / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def generate(recipe, path, *options):
    subprocess.run([sys.executable, "-B", RECIPES / recipe / "code" / "generate.py", "--out", path, *map(str, options)], check=True)
    return path


def parameter_counts():
    lstm = module_of("imdb", "network")
    for name, model, expected in (
        ("mnist", module_of("mnist", "network").convnet(keras), 34826),
        ("imdb, example", lstm.bidirectional_lstm(keras, 200, **lstm.EXAMPLE), 2757761),
        ("imdb, small", lstm.bidirectional_lstm(keras, 40, **lstm.SMALL), 44577),
        ("imbalanced", module_of("imbalanced", "network").dense_network(keras), 139777),
    ):
        assert model.count_params() == expected, (name, model.count_params())
        print(f"{name}: {expected} parameters")


def loaders(folder):
    path = generate("mnist", folder / "mnist.npz", "--train", 60, "--test", 10, "--writers", 6)
    with mock.patch("keras.src.datasets.mnist.get_file", return_value=str(path)):
        (x_train, y_train), (x_test, y_test) = keras.datasets.mnist.load_data()
    for theirs, ours in zip((x_train, y_train, x_test, y_test), module_of("mnist", "layout").read_digits(path)):
        numpy.testing.assert_array_equal(theirs, ours)
    path = generate("imdb", folder / "imdb.npz", "--train", 60, "--test", 10)
    with mock.patch("keras.src.datasets.imdb.get_file", return_value=str(path)):
        (theirs, labels), _ = keras.datasets.imdb.load_data(num_words=300)
    layout = module_of("imdb", "layout")
    (reviews, ours), _ = layout.read_reviews(path)
    order = numpy.arange(len(reviews))
    numpy.random.RandomState(113).shuffle(order)  # the loader shuffles with this seed
    assert [list(review) for review in theirs] == [layout.sequence_of(reviews[number], 300) for number in order]
    numpy.testing.assert_array_equal(labels, ours[order])
    padded = keras.utils.pad_sequences(theirs, maxlen=30)
    numpy.testing.assert_array_equal(padded, layout.sequences_of([reviews[number] for number in order], 300, 30))
    print("Keras' loaders read the generated files as the recipes do")


parameter_counts()
with tempfile.TemporaryDirectory() as name:
    loaders(pathlib.Path(name))
