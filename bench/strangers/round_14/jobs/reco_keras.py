import os

os.environ.setdefault("KERAS_BACKEND", "jax")
import keras
import numpy as np

ITEMS, USERS = 260_000, 40_000
rng = np.random.default_rng(0)
n = 400_000
u = rng.integers(0, USERS, n)
i = (rng.zipf(1.2, n) % ITEMS).astype("int32")
r = ((u % 7 + i % 5) / 10 + rng.normal(0, 0.2, n)).astype("float32")

a, b = keras.Input((), dtype="int32"), keras.Input((), dtype="int32")
x = keras.layers.Concatenate()([keras.layers.Embedding(USERS, 32)(a), keras.layers.Embedding(ITEMS, 32)(b)])
x = keras.layers.Dense(64, activation="relu")(x)
model = keras.Model([a, b], keras.layers.Dense(1)(x))
model.compile(keras.optimizers.Adam(1e-3), "mse")
os.makedirs("ckpt", exist_ok=True)
model.fit([u, i], r, batch_size=512, epochs=200, verbose=2 if os.environ.get("CI") else 1,
          callbacks=[keras.callbacks.ModelCheckpoint("ckpt/latest.keras", save_freq=5),
                     keras.callbacks.BackupAndRestore("backup", save_freq=5)])
