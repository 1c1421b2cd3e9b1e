"""Networks that look at cubes."""


def small_cnn(keras, shape, outputs, scale=1.2):
    """Two convolutions, the mean of each feature over the cube, and a normalised head; for some thousand small cubes."""
    layers = keras.layers
    stack = [keras.Input(shape)]
    for level, filters in enumerate((8, 16), 1):
        stack += [
            layers.Conv3D(filters, 3, padding="same", name=f"conv{level}"),
            layers.LeakyReLU(negative_slope=0.3, name=f"leaky{level}"),
            layers.AveragePooling3D(2, name=f"pool{level}") if level == 1 else layers.GlobalAveragePooling3D(name="mean"),
        ]
    # Features differ little between universes: without this the head learns slowly. An epoch has few steps: hence the momentum.
    stack.append(layers.BatchNormalization(momentum=0.9, name="norm"))
    for number, width in enumerate((128, 64), 1):
        stack += [layers.Dense(width, name=f"dense{number}"), layers.LeakyReLU(negative_slope=0.3, name=f"leaky{number + 2}")]
    stack += [layers.Dense(outputs, activation="tanh", name="out"), layers.Rescaling(scale, name="scale")]
    return keras.Sequential(stack, name="small")


def mlperf_cnn(keras, shape, outputs, dropout=0.5, scale=1.2):
    """The network of MLPerf HPC's CosmoFlow: five times convolution, leaky ReLU and max pool; three dense layers; tanh times `scale`."""
    layers = keras.layers
    stack = [keras.Input(shape)]
    for level in range(5):
        stack += [
            layers.Conv3D(32 * 2**level, 3, padding="same", name=f"conv{level + 1}"),
            layers.LeakyReLU(negative_slope=0.3, name=f"leaky{level + 1}"),
            layers.MaxPooling3D(2, name=f"pool{level + 1}"),
        ]
    stack.append(layers.Flatten(name="flat"))
    for number, width in enumerate((128, 64), 1):
        stack += [
            layers.Dense(width, name=f"dense{number}"),
            layers.LeakyReLU(negative_slope=0.3, name=f"leaky{number + 5}"),
            layers.Dropout(dropout, name=f"drop{number}"),
        ]
    stack += [
        layers.Dense(outputs, activation="tanh", name="out"),
        layers.Rescaling(scale, name="scale"),
    ]
    return keras.Sequential(stack, name="mlperf")
