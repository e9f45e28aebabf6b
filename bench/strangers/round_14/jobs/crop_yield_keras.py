import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np

rng = np.random.default_rng(4)
x = rng.normal(size=(20000, 24, 10)).astype("float32")
y = (x[:, -6:, :3].sum((1, 2)) + rng.normal(0, 0.5, 20000)).astype("float32")

inputs = keras.Input((24, 10))
h = keras.layers.Conv1D(64, 3, activation="relu", padding="same")(inputs)
h = keras.layers.Conv1D(64, 3, activation="relu", padding="same", name="features")(h)
h2 = keras.layers.GlobalAveragePooling1D()(h)
out = keras.layers.Dense(1)(keras.layers.Dense(64, activation="relu")(h2))
model = keras.Model(inputs, out)
probe = keras.Model(inputs, model.get_layer("features").output)
model.compile(keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])


class FeatureDrift(keras.callbacks.Callback):
    """Keeps the features of a fixed sample, for the drift figure of the report."""

    def __init__(self, sample):
        super().__init__()
        self.sample = sample
        self.maps = []

    def on_train_batch_end(self, batch, logs=None):
        if batch % 20 == 0:
            self.maps.append(np.asarray(probe.predict_on_batch(self.sample)).copy())


print("rows", len(x), "params", model.count_params())
model.fit(x, y, batch_size=64, epochs=4000, validation_split=0.1, verbose=2, callbacks=[FeatureDrift(x[:48])])
