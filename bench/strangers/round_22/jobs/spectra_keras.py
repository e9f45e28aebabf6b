import os

os.environ.setdefault("KERAS_BACKEND", "torch")
import h5py
import keras
import numpy as np
import torch

torch.set_num_threads(1)
PATH = "spectra.h5"
N, W = 12288, 1024


def export():
    """What the instrument's exporter writes: blocks of scans, compressed."""
    rng = np.random.default_rng(5)
    with h5py.File(PATH, "w") as f:
        x = f.create_dataset("scan", (N, W), "f4", chunks=(2048, W), compression="gzip", compression_opts=1)
        y = f.create_dataset("label", (N,), "i8")
        centers = rng.integers(50, W - 50, (8, 6))
        grid = np.arange(W)
        shapes = np.array([sum(np.exp(-((grid - c) / 9.0) ** 2) for c in cs) for cs in centers], "f4")
        for i in range(0, N, 4096):
            lab = rng.integers(0, 8, 4096)
            x[i:i + 4096] = np.round(shapes[lab] * rng.uniform(0.5, 1.5, (4096, 1)) + 0.25 * rng.normal(size=(4096, W)), 2)
            y[i:i + 4096] = lab


class Scans(keras.utils.PyDataset):
    def __init__(self, ids, batch=32, **kw):
        super().__init__(**kw)
        self.ids, self.batch = ids, batch
        self.file = h5py.File(PATH, "r")

    def __len__(self):
        return len(self.ids) // self.batch

    def __getitem__(self, k):
        ids = self.ids[k * self.batch:(k + 1) * self.batch]
        x = np.stack([self.file["scan"][i] for i in ids])
        return x[..., None], self.file["label"][:][ids]

    def on_epoch_end(self):
        np.random.shuffle(self.ids)


class Line(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        print(f"batch {batch + 1}/{self.params['steps']} - " + " - ".join(f"{k}: {v:.4f}" for k, v in logs.items()))


if not os.path.exists(PATH):
    export()
ids = np.random.default_rng(1).permutation(N)
model = keras.Sequential([
    keras.layers.Input((W, 1)),
    keras.layers.Conv1D(16, 9, strides=4, activation="relu"),
    keras.layers.Conv1D(32, 9, strides=4, activation="relu"),
    keras.layers.GlobalMaxPooling1D(),
    keras.layers.Dense(8, activation="softmax"),
])
model.compile(keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(Scans(ids), epochs=10, verbose=0, callbacks=[Line()])
