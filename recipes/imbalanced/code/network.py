"""The network of the Keras example: three dense layers of 256, dropout, one output. 139,777 parameters for 30 features."""


def dense_network(keras, features=30, width=256):
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((features,)),
            layers.Dense(width, activation="relu", name="dense1"),
            layers.Dense(width, activation="relu", name="dense2"),
            layers.Dropout(0.3, name="drop1"),
            layers.Dense(width, activation="relu", name="dense3"),
            layers.Dropout(0.3, name="drop2"),
            layers.Dense(1, activation="sigmoid", name="out"),
        ],
        name="dense_network",
    )
