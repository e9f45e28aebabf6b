"""Keras: model.fit on a PyDataset, progress as it prints it into a file."""

import os

os.environ.setdefault("KERAS_BACKEND", "jax")
import keras
import numpy as np


class Batches(keras.utils.PyDataset):
    def __len__(self):
        return 40

    def __getitem__(self, index):
        rng = np.random.default_rng(index)
        x = rng.normal(size=(256, 64)).astype("float32")
        return x, np.sin(x[:, :8]).sum(1, keepdims=True)


model = keras.Sequential(
    [keras.Input((64,)), *(keras.layers.Dense(512, activation="relu") for _ in range(3)), keras.layers.Dense(1)]
)
model.compile(optimizer=keras.optimizers.Adam(1e-4), loss="mse", metrics=["mae"])
model.fit(Batches(), epochs=1000, verbose=int(os.environ.get("VERBOSE", "2")))
