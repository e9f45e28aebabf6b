# %% [markdown]
# # Hand-written signs
# Exported from the notebook of the course; runs on JAX.

# %%
import os

os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(31)
print("keras", keras.__version__, "on", keras.backend.backend(), flush=True)

# %% data: each sign is a few strokes, drawn with a shaky hand
strokes = rng.integers(4, 24, size=(12, 4, 2, 2))


def draw(sign):
    image = np.zeros((28, 28), "float32")
    for (y0, x0), (y1, x1) in strokes[sign] + rng.integers(-2, 3, size=(4, 2, 2)):
        for t in np.linspace(0, 1, 30):
            image[int(y0 + t * (y1 - y0)), int(x0 + t * (x1 - x0))] = 1
    return image + 0.6 * rng.normal(size=image.shape).astype("float32")


labels = rng.integers(0, 12, size=6000)
images = np.stack([draw(sign) for sign in labels])[..., None]
print("images", images.shape, flush=True)

# %% model
model = keras.Sequential(
    [
        keras.Input((28, 28, 1)),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dropout(0.3),
        layers.Dense(12, activation="softmax"),
    ]
)
model.compile(keras.optimizers.Adam(5e-4), "sparse_categorical_crossentropy", metrics=["accuracy"])
print(f"{model.count_params()} weights", flush=True)


# %% training
class Rate(keras.callbacks.Callback):
    """Slowly down, as on page 14."""

    def on_epoch_begin(self, epoch, logs=None):
        self.model.optimizer.learning_rate = 5e-4 * 0.99**epoch


history = model.fit(
    images,
    labels,
    batch_size=64,
    epochs=120,
    validation_split=0.1,
    verbose=1,
    callbacks=[Rate(), keras.callbacks.CSVLogger("signs.csv"), keras.callbacks.BackupAndRestore("backup")],
)

# %% the curve for the report
for epoch, (a, b) in enumerate(zip(history.history["loss"], history.history["val_loss"])):
    print(f"{epoch:3d} {a:.4f} {b:.4f}")
