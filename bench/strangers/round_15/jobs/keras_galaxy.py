"""Galaxy morphology, small convnet in Keras."""
import os

os.environ.setdefault("KERAS_BACKEND", "jax")
import keras
import numpy as np
from keras import layers


def make_set(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    yy, xx = np.mgrid[-1:1:32j, -1:1:32j]
    out = np.empty((n, 32, 32, 1), "float32")
    for i, c in enumerate(y):
        a = 1 + 0.7 * c
        t = rng.uniform(0, np.pi)
        u, v = xx * np.cos(t) + yy * np.sin(t), -xx * np.sin(t) + yy * np.cos(t)
        out[i, ..., 0] = np.exp(-3 * (u * u + (a * v) ** 2)) + rng.normal(0, 0.35, (32, 32))
    return out, y


x, y = make_set(6000, 0)
xv, yv = make_set(800, 1)
model = keras.Sequential([
    layers.Input((32, 32, 1)), layers.Conv2D(24, 3, activation="relu"), layers.MaxPooling2D(),
    layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D(), layers.Flatten(),
    layers.Dropout(0.3), layers.Dense(64, activation="relu"), layers.Dense(4, activation="softmax")])
model.compile(keras.optimizers.Adam(2e-4), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, batch_size=64, epochs=400, validation_data=(xv, yv), verbose=2,
          callbacks=[keras.callbacks.ModelCheckpoint("ckpt_{epoch:03d}.weights.h5", save_weights_only=True),
                     keras.callbacks.CSVLogger("history.csv"),
                     keras.callbacks.ReduceLROnPlateau(patience=60)])
