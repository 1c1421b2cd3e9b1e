"""The network of the Keras example: two convolutions with pools, dropout, one dense layer. 34,826 parameters."""


def convnet(keras, side=28, classes=10):
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((side, side, 1)),
            layers.Conv2D(32, 3, activation="relu", name="conv1"),
            layers.MaxPooling2D(2, name="pool1"),
            layers.Conv2D(64, 3, activation="relu", name="conv2"),
            layers.MaxPooling2D(2, name="pool2"),
            layers.Flatten(name="flat"),
            layers.Dropout(0.5, name="drop"),
            layers.Dense(classes, activation="softmax", name="out"),
        ],
        name="convnet",
    )
