"""手写字识别 (Keras)。每个 epoch 保存一次权重到 saved/。"""
import os
import time

os.environ.setdefault("KERAS_BACKEND", "jax")
import keras
import numpy as np

rng = np.random.default_rng(0)
proto = rng.normal(size=(10, 28, 28, 1)).astype("float32")


def make(n):
    y = rng.integers(0, 10, n)
    return proto[y] * 0.12 + rng.normal(size=(n, 28, 28, 1)).astype("float32"), y


class Save(keras.callbacks.Callback):
    def __init__(self, folder):
        super().__init__()
        self.folder = folder
        os.makedirs(folder, exist_ok=True)

    def on_epoch_end(self, epoch, logs=None):
        path = os.path.join(self.folder, f"weights_{epoch:04d}.npz")
        try:
            np.savez(path, *self.model.get_weights())
            print(f"[{time.strftime('%H:%M:%S')}] 已保存 {path}", flush=True)
        except OSError as e:
            print(f"[{time.strftime('%H:%M:%S')}] 警告: 无法保存 {path}: {e}", flush=True)


model = keras.Sequential(
    [
        keras.layers.Input((28, 28, 1)),
        keras.layers.Conv2D(16, 3, strides=2, activation="relu"),
        keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(500, activation="relu"),
        keras.layers.Dropout(0.3),
        keras.layers.Dense(10, activation="softmax"),
    ]
)
model.compile(keras.optimizers.Adam(3e-4), "sparse_categorical_crossentropy", metrics=["accuracy"])
x, y = make(6000)
print("训练样本", x.shape, flush=True)
model.fit(x, y, batch_size=64, epochs=2000, verbose=2, callbacks=[Save("saved")])
