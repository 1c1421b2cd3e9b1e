"""The network of the Keras example: words to vectors, two bidirectional LSTMs, one output. 2,757,761 parameters at its size."""

EXAMPLE = {"words": 20000, "width": 128, "units": 64}
SMALL = {"words": 1000, "width": 32, "units": 16}


def bidirectional_lstm(keras, length, words, width, units):
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((length,), dtype="int32"),
            layers.Embedding(words, width, name="words"),
            layers.Bidirectional(layers.LSTM(units, return_sequences=True, name="lstm1"), name="both1"),
            layers.Bidirectional(layers.LSTM(units, name="lstm2"), name="both2"),
            layers.Dense(1, activation="sigmoid", name="out"),
        ],
        name="bidirectional_lstm",
    )
