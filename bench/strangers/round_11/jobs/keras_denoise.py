import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np

keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)


def strips(n):
    t = np.arange(128) / 128
    f = rng.uniform(1, 9, (n, 3, 1))
    ph = rng.uniform(0, 6.28, (n, 3, 1))
    clean = np.sin(6.28 * f * t + ph).sum(1)
    return (clean + 0.6 * rng.standard_normal((n, 128)))[..., None].astype("float32"), clean[..., None].astype("float32")


train, val = strips(1500), strips(200)
inp = keras.Input((128, 1))
h = inp
for width in (16, 32, 32):
    h = keras.layers.Conv1D(width, 7, padding="same", activation="gelu")(h)
out = keras.layers.Conv1D(1, 7, padding="same")(h)
model = keras.Model(inp, out)
model.compile(keras.optimizers.Adam(1.5e-4), "mse", metrics=["mae"])
model.fit(*train, validation_data=val, batch_size=20, epochs=800, callbacks=[
    keras.callbacks.ModelCheckpoint("denoise_{epoch:03d}.keras", save_best_only=True, verbose=1),
    keras.callbacks.TerminateOnNaN(),
    keras.callbacks.CSVLogger("history.csv"),
])
