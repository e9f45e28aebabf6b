"""Light curves to periods with Keras; every quarter of a minute a copy of the weights is put away."""
import logging
import os
import signal
import time

os.environ["KERAS_BACKEND"] = "jax"
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
import keras
import numpy as np

logging.basicConfig(format="%(levelname)s\t%(name)s\t%(relativeCreated)d ms\t%(message)s", level=logging.INFO)
logging.getLogger("jax").setLevel(logging.WARNING)
logging.getLogger("absl").setLevel(logging.WARNING)
log = logging.getLogger("photometry")
rng = np.random.default_rng(6)


def curves(n=96, length=256):
    period = rng.uniform(8, 60, (n, 1))
    t = np.arange(length)[None]
    flux = np.sin(2 * np.pi * t / period + rng.uniform(0, 6, (n, 1))) + 0.3 * rng.normal(size=(n, length))
    return flux.astype("float32"), np.log(period).astype("float32")


net = keras.Sequential([keras.Input((256,)), keras.layers.Dense(768, "relu"), keras.layers.Dense(768, "relu"),
                        keras.layers.Dense(1)])
net.compile(keras.optimizers.Adam(5e-4), "mse")
saved = time.monotonic()
step = 0
while True:
    loss = net.train_on_batch(*curves())
    step += 1
    if step % 50 == 0:
        log.info("step=%d mse=%.4f", step, float(loss))
    if time.monotonic() - saved > 10:
        saved = time.monotonic()
        try:
            net.save_weights("night.weights.h5")
            log.info("weights of step %d put away", step)
        except Exception as problem:
            log.warning("weights of step %d not put away: %r", step, problem)
