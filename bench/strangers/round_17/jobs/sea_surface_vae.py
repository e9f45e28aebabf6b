"""Keras (JAX) variational autoencoder of sea-surface patches; tiny batches, hence a noisy loss."""
import os
import signal
import time

os.environ.setdefault("KERAS_BACKEND", "jax")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import keras
import numpy as np
from keras import layers, ops

signal.alarm(320)
keras.utils.set_random_seed(6)


class Sampling(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.seed = keras.random.SeedGenerator(6)

    def call(self, inputs):
        mean, logvar = inputs
        self.add_loss(-2e-4 * ops.mean(ops.sum(1 + logvar - ops.square(mean) - ops.exp(logvar), axis=1)))
        return mean + ops.exp(0.5 * logvar) * keras.random.normal(ops.shape(mean), seed=self.seed)


class Budget(keras.callbacks.Callback):
    def __init__(self, seconds):
        super().__init__()
        self.end = time.time() + seconds

    def on_epoch_end(self, epoch, logs=None):
        if time.time() > self.end:
            self.model.stop_training = True


def patches(n):
    rng = np.random.default_rng(6)
    grid = np.linspace(0, 6.28, 24)
    phase = rng.uniform(0, 6.28, (n, 2, 1, 1))
    speed = rng.gamma(2.0, 0.6, (n, 1, 1))
    field = speed * np.sin(grid[None, :, None] + phase[:, 0]) * np.cos(1.7 * grid[None, None, :] + phase[:, 1])
    return (field + 0.1 * rng.normal(size=field.shape)).astype("float32")[..., None]


inputs = layers.Input((24, 24, 1))
x = layers.Conv2D(16, 3, strides=2, padding="same", activation="relu")(inputs)
x = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(x)
x = layers.Flatten()(x)
z = Sampling()([layers.Dense(8)(x), layers.Dense(8)(x)])
x = layers.Dense(6 * 6 * 32, activation="relu")(z)
x = layers.Reshape((6, 6, 32))(x)
x = layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu")(x)
outputs = layers.Conv2DTranspose(1, 3, strides=2, padding="same")(x)
vae = keras.Model(inputs, outputs)
vae.compile(optimizer=keras.optimizers.Adam(5e-4), loss="mse")
data = patches(6000)
vae.fit(data, data, batch_size=6, epochs=1000, verbose=2, validation_split=0.1, callbacks=[Budget(185)])
