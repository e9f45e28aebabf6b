import os

os.environ.setdefault("KERAS_BACKEND", "jax")
import keras
import numpy as np


def images(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, n)
    base = np.random.default_rng(0).normal(size=(5, 32, 32, 3)).astype("f4")
    return base[y] * 0.35 + rng.normal(size=(n, 32, 32, 3)).astype("f4"), y


x, y = images(3000, 1)
vx, vy = images(500, 2)
inp = keras.Input((32, 32, 3))
h = inp
for width in (16, 32, 48):
    h = keras.layers.Conv2D(width, 3, padding="same", activation="relu")(h)
    h = keras.layers.BatchNormalization()(h)
    h = keras.layers.MaxPooling2D()(h)
h = keras.layers.Dropout(0.4)(keras.layers.GlobalAveragePooling2D()(h))
model = keras.Model(inp, keras.layers.Dense(5)(h))
model.compile(optimizer=keras.optimizers.Adam(3e-4), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(
    x, y, validation_data=(vx, vy), epochs=400, batch_size=50, verbose=2,
    callbacks=[keras.callbacks.CSVLogger("history.csv"), keras.callbacks.ModelCheckpoint("best.keras", save_best_only=True),
               keras.callbacks.TerminateOnNaN()])
