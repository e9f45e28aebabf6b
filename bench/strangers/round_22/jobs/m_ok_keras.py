import os
os.environ.setdefault("KERAS_BACKEND", "jax")
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)


def leaves(n, size=28):
    """Leaf outlines of six species with damage."""
    y = rng.integers(0, 6, n)
    g = np.linspace(-1, 1, size)
    X, Y = np.meshgrid(g, g)
    th, r = np.arctan2(Y, X), np.hypot(X, Y)
    rot = rng.uniform(0, 2 * np.pi, (n, 1, 1))
    lobes = (y[:, None, None] + 2)
    edge = .6 + .2 * np.cos(lobes * (th + rot)) + rng.normal(0, .03, (n, 1, 1))
    img = (r < edge) + rng.normal(0, 1.3, (n, size, size))
    return img[..., None].astype("f4"), y


x, y = leaves(6000)
xv, yv = leaves(1500)

model = keras.Sequential([
    layers.Input((28, 28, 1)),
    layers.Conv2D(16, 3, activation="relu"), layers.MaxPooling2D(),
    layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D(),
    layers.Flatten(), layers.Dropout(.4), layers.Dense(64, activation="relu"), layers.Dense(6),
])
steps = len(x) // 64
lr = keras.optimizers.schedules.CosineDecayRestarts(2e-3, steps * 4, t_mul=1.0, m_mul=0.9)
model.compile(keras.optimizers.Adam(lr), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])


class Snapshots(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % 4 == 0:
            self.model.save(f"cycle{(epoch + 1) // 4}.keras")
            print(f"cycle {(epoch + 1) // 4} saved, val_accuracy={logs['val_accuracy']:.4f}")


model.fit(x, y, validation_data=(xv, yv), batch_size=64, epochs=400, verbose=2, callbacks=[Snapshots()])
