"""Classificação de sons com Keras."""
import os

os.environ.setdefault("KERAS_BACKEND", "jax")
import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(4)
N = 24000
y = rng.integers(0, 8, N)
f = np.array([0.11, 0.17, 0.23, 0.31, 0.37, 0.41, 0.47, 0.53])[y][:, None]
t = np.arange(200)[None]
x = (np.sin(f * t * (1 + 0.1 * rng.normal(size=(N, 1))) + rng.uniform(0, 6, (N, 1))) + 1.2 * rng.normal(size=(N, 200)))[..., None].astype("float32")
model = keras.Sequential([
    keras.Input((200, 1)), layers.Conv1D(24, 9, strides=2, activation="relu"), layers.Conv1D(32, 9, strides=2, activation="relu"),
    layers.GlobalMaxPooling1D(), layers.Dropout(0.3), layers.Dense(64, activation="relu"), layers.Dense(8, activation="softmax")])
model.compile(keras.optimizers.Adam(7e-4), "sparse_categorical_crossentropy", metrics=["accuracy"])
print("Início do treino")
model.fit(x, y, batch_size=64, epochs=300, validation_split=0.15, verbose=2, callbacks=[
    keras.callbacks.ReduceLROnPlateau(patience=4, factor=0.5, verbose=1, min_lr=1e-5),
    keras.callbacks.ModelCheckpoint("melhor.keras", save_best_only=True)])
