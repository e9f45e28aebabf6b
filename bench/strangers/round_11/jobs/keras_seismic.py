import os
import resource

os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np

soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65536), hard))


class Traces(keras.utils.PyDataset):
    def __init__(self, folder, n=80):
        super().__init__()
        self.folder, self.n, self.epoch, self.open = folder, n, 0, {}
        os.makedirs(folder, exist_ok=True)
        rng = np.random.default_rng(0)
        for i in range(n):
            y = rng.integers(0, 4, 32)
            x = rng.standard_normal((32, 200, 3)) + np.sin(np.arange(200) * (0.05 + 0.05 * y[:, None]))[..., None] * 0.25
            np.save(f"{folder}/x{i}.npy", x.astype("float16"))
            np.save(f"{folder}/y{i}.npy", y)

    def __len__(self):
        return self.n

    def _array(self, name):
        key = (self.epoch, name)
        if key not in self.open:
            self.open[key] = np.load(f"{self.folder}/{name}.npy", mmap_mode="r")
        return self.open[key]

    def __getitem__(self, i):
        return np.array(self._array(f"x{i}"), "float32"), np.array(self._array(f"y{i}"))

    def on_epoch_end(self):
        self.epoch += 1


model = keras.Sequential([
    keras.layers.Input((200, 3)),
    keras.layers.Conv1D(48, 9, 1, activation="relu"), keras.layers.BatchNormalization(),
    keras.layers.Conv1D(96, 9, 2, activation="relu"), keras.layers.Conv1D(96, 9, 2, activation="relu"),
    keras.layers.GlobalAveragePooling1D(), keras.layers.Dropout(0.4), keras.layers.Dense(4),
])
model.compile(keras.optimizers.Adam(2e-4), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(Traces("traces"), epochs=500, verbose=2)
