"""Gesture windows, Keras."""
import os

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)
N = 30000
y = rng.integers(0, 6, N)
base = rng.normal(size=(6, 60, 3))
x = (base[y] * 0.25 + rng.normal(size=(N, 60, 3))).astype("float32")

inp = keras.Input((60, 3))
h = layers.Conv1D(24, 5, activation="relu")(inp)
h = layers.Conv1D(32, 5, activation="relu")(h)
emb = layers.GlobalAveragePooling1D(name="emb")(layers.Dropout(0.2)(h))
out = layers.Dense(6, activation="softmax")(emb)
model = keras.Model(inp, out)
features = keras.Model(inp, h)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])


class Drift(keras.callbacks.Callback):
    """Follow the feature maps of a reference batch."""

    def __init__(self, ref):
        super().__init__()
        self.ref = ref
        self.maps = []

    def on_train_batch_end(self, batch, logs=None):
        if batch % 8 == 0:
            self.maps.append(features(self.ref))

    def on_epoch_end(self, epoch, logs=None):
        a, b = keras.ops.convert_to_numpy(self.maps[0]), keras.ops.convert_to_numpy(self.maps[-1])
        print(f"   drift after epoch {epoch + 1}: {np.abs(a - b).mean():.4f}")


model.fit(x, y, batch_size=64, epochs=60, validation_split=0.1, verbose=2, callbacks=[Drift(x[:12])])
