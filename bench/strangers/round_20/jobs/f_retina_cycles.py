"""Vessel segmentation in fundus patches, Keras; cosine cycles with warm restarts, one snapshot a cycle."""
import os

os.environ.setdefault("KERAS_BACKEND", "jax")
import math

import keras
import numpy as np
from keras import layers

SIZE = 48
rng = np.random.default_rng(4)


def patches(n):
    x = rng.normal(0.45, 0.12, (n, SIZE, SIZE, 1))
    y = np.zeros((n, SIZE, SIZE, 1), np.float32)
    t = np.linspace(0, 1, 160)
    for i in range(n):
        for _ in range(rng.integers(1, 4)):
            p = rng.uniform(0, SIZE, (3, 2))
            c = ((1 - t) ** 2)[:, None] * p[0] + (2 * t * (1 - t))[:, None] * p[1] + (t**2)[:, None] * p[2]
            r, q = c.astype(int).clip(0, SIZE - 2).T
            for dr in (0, 1):
                for dq in (0, 1):
                    y[i, r + dr, q + dq, 0] = 1
    return (x - 0.22 * y).astype(np.float32), y


def unet():
    inp = keras.Input((SIZE, SIZE, 1))
    conv = lambda t, c: layers.Conv2D(c, 3, padding="same", activation="relu")(t)
    a = conv(conv(inp, 12), 12)
    b = conv(conv(layers.MaxPooling2D()(a), 24), 24)
    c = conv(layers.MaxPooling2D()(b), 32)
    d = conv(layers.Concatenate()([layers.UpSampling2D()(c), b]), 24)
    e = conv(layers.Concatenate()([layers.UpSampling2D()(d), a]), 12)
    return keras.Model(inp, layers.Conv2D(1, 1, activation="sigmoid")(e))


class Cycles(keras.callbacks.Callback):
    def __init__(self, length, high, low):
        super().__init__()
        self.length, self.high, self.low, self.n = length, high, low, 0

    def on_train_batch_begin(self, batch, logs=None):
        where = (self.n % self.length) / self.length
        self.model.optimizer.learning_rate = self.low + 0.5 * (self.high - self.low) * (1 + math.cos(math.pi * where))
        self.n += 1

    def on_epoch_end(self, epoch, logs=None):
        if self.n % self.length == 0:
            name = f"snapshot{self.n // self.length:02d}.weights.h5"
            self.model.save_weights(name)
            print(f"   >> {name} (lr restarts)")


keras.utils.set_random_seed(1)
x, y = patches(960)
vx, vy = patches(240)
model = unet()
model.compile(keras.optimizers.Adam(1e-4), loss="binary_crossentropy", metrics=[keras.metrics.BinaryIoU([1], name="iou")])
model.fit(x, y, batch_size=12, epochs=500, validation_data=(vx, vy), verbose=2, callbacks=[Cycles(240, 1.5e-4, 1e-5)])
