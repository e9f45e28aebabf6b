import os

os.environ["KERAS_BACKEND"] = "jax"
import struct
from pathlib import Path

import keras
import numpy as np

ROOT = Path("waveforms")
N_FILES, N_SAMPLES, N_WINDOWS = 16, 600, 128


def prepare():
    ROOT.mkdir(exist_ok=True)
    rng = np.random.default_rng(2)
    for i in range(N_FILES):
        label = i % 2
        w = rng.normal(0, 1, (N_WINDOWS, N_SAMPLES)).astype("<f4")
        if label:
            w[:, 200:260] += 3 * np.sin(np.arange(60) / 3)
        (ROOT / f"st{i:03d}.bin").write_bytes(struct.pack("<ii", N_WINDOWS, label) + w.tobytes())


class Traces(keras.utils.PyDataset):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.epoch = 0
        self.open_files = {}
        self.order = np.random.permutation(N_FILES)

    def __len__(self):
        return N_FILES // 2

    def handle(self, i):
        key = (self.epoch, i)
        if key not in self.open_files:
            self.open_files[key] = open(ROOT / f"st{i:03d}.bin", "rb")
        return self.open_files[key]

    def __getitem__(self, k):
        xs, ys = [], []
        for i in self.order[2 * k: 2 * k + 2]:
            f = self.handle(int(i))
            f.seek(0)
            n, label = struct.unpack("<ii", f.read(8))
            xs.append(np.frombuffer(f.read(), "<f4").reshape(n, N_SAMPLES, 1))
            ys.append(np.full(n, label))
        x = np.concatenate(xs)
        return x + np.random.normal(0, 2.5, x.shape).astype("f4"), np.concatenate(ys)

    def on_epoch_end(self):
        self.epoch += 1
        self.order = np.random.permutation(N_FILES)


prepare()
L = keras.layers
model = keras.Sequential([
    L.Input((N_SAMPLES, 1)), L.Conv1D(24, 15, strides=2, activation="relu"), L.Dropout(0.3),
    L.Conv1D(48, 15, strides=2, activation="relu"), L.Conv1D(64, 9, strides=2, activation="relu"),
    L.GlobalMaxPooling1D(), L.Dense(1, activation="sigmoid")])
model.compile(keras.optimizers.Adam(2e-4), "binary_crossentropy", metrics=["accuracy"])
model.summary()
model.fit(Traces(), epochs=500, verbose=2, callbacks=[keras.callbacks.CSVLogger("history.csv")])
