"""Minerals from Raman spectra, Keras on jax. Saves the best net after an epoch, measures itself on the shelf collection."""
import os
import time

os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np

rng = np.random.default_rng(0)
peaks = rng.integers(20, 480, (12, 5))


def spectra(n):
    y = rng.integers(0, 12, n)
    x = rng.normal(0, 0.4, (n, 500)).astype("float32")
    for k in range(5):
        x[np.arange(n), peaks[y, k]] += 2
    return x[..., None], y


class Protocol(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        time.sleep(0.04)
        if batch % 15 == 0:
            print(f"epoch {self.epoch} batch {batch:4d} loss {logs['loss']:.4f} acc {logs['accuracy']:.3f}", flush=True)

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_test_begin(self, logs=None):
        print("measuring on the shelf collection ...", flush=True)

    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch}: shelf accuracy {logs['val_accuracy']:.3f}; saving", flush=True)
        self.model.save("best.keras")


model = keras.Sequential([keras.Input((500, 1)), keras.layers.Conv1D(8, 9, strides=4, activation="relu"),
                          keras.layers.Dropout(0.3), keras.layers.Flatten(), keras.layers.Dense(12, activation="softmax")])
model.compile(keras.optimizers.Adam(2e-4), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(*spectra(9600), batch_size=32, epochs=40, validation_data=spectra(3000), verbose=0, callbacks=[Protocol()])
