import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

x, y = load_digits(return_X_y=True)
x = (x / 16).reshape(-1, 8, 8, 1).astype("float32")
rng = np.random.default_rng(0)
x = np.concatenate([x + rng.normal(0, s, x.shape) for s in (0.1, 0.25, 0.4, 0.55)]).astype("float32")
y = np.tile(y, 4)
y = np.where(rng.random(len(y)) < 0.08, rng.integers(0, 10, len(y)), y)
xtr, xva, ytr, yva = train_test_split(x, y, test_size=0.2, random_state=0)

inp = keras.Input((8, 8, 1))
h = inp
for f in (24, 48):
    h = keras.layers.Conv2D(f, 3, padding="same", activation="relu")(h)
    h = keras.layers.BatchNormalization()(h)
h = keras.layers.Dropout(0.5)(keras.layers.Flatten()(h))
out = keras.layers.Dense(10, activation="softmax")(h)
model = keras.Model(inp, out)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(2e-4, 60000, alpha=0.05)),
              "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(xtr, ytr, batch_size=32, epochs=200, validation_data=(xva, yva), verbose=1,
          callbacks=[keras.callbacks.ModelCheckpoint("best.keras", monitor="val_loss", save_best_only=True, verbose=1),
                     keras.callbacks.CSVLogger("epochs.csv")])
