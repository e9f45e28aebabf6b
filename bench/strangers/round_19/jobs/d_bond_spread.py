"""Spreads of corporate bonds from quotes that a gateway serves; Keras on JAX."""
import os

os.environ["KERAS_BACKEND"] = "jax"
import logging
import multiprocessing as mp
import socket
import struct
import time

import numpy as np

PORT = 33851
ROWS, COLS = 256, 40


def gateway(port):
    """Serves blocks of quotes, as the desk's gateway does: a session's burst allowance, then its contract's pace."""
    rng = np.random.default_rng(0)
    w = rng.normal(size=COLS).astype("f4")
    srv = socket.create_server(("127.0.0.1", port))
    conn, _ = srv.accept()
    begun, last = None, 0.0
    while conn.recv(4):
        now = time.monotonic()
        begun = begun or now
        if now - begun > 32.0:
            time.sleep(max(0.0, last + 0.05 - now))
        last = time.monotonic()
        x = rng.normal(size=(ROWS, COLS)).astype("f4")
        y = np.tanh(x @ w * 0.3) + 0.1 * rng.normal(size=ROWS).astype("f4")
        blob = x.tobytes() + y.astype("f4").tobytes()
        conn.sendall(struct.pack("<I", len(blob)) + blob)


def take(sock, n):
    buf = bytearray()
    while len(buf) < n:
        part = sock.recv(n - len(buf))
        if not part:
            raise EOFError("gateway closed")
        buf += part
    return bytes(buf)


def quotes(port):
    sock = socket.create_connection(("127.0.0.1", port))
    while True:
        sock.sendall(b"next")
        (n,) = struct.unpack("<I", take(sock, 4))
        a = np.frombuffer(take(sock, n), "f4")
        yield a[: ROWS * COLS].reshape(ROWS, COLS), a[ROWS * COLS :].reshape(-1, 1)


def main():
    import keras

    logging.basicConfig(level=logging.INFO, format="level=%(levelname)s logger=%(name)s %(message)s")
    log = logging.getLogger("spread")
    logging.getLogger("jax").setLevel(logging.WARNING)
    server = mp.get_context("spawn").Process(target=gateway, args=(PORT,), daemon=True)
    server.start()
    for _ in range(100):
        try:
            feed = quotes(PORT)
            first = next(feed)
            break
        except ConnectionRefusedError:
            time.sleep(0.2)
    keras.utils.set_random_seed(2)
    model = keras.Sequential([keras.layers.Input((COLS,))]
                             + [keras.layers.Dense(384, activation="gelu") for _ in range(3)] + [keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.AdamW(2e-4), loss="mse")

    class Report(keras.callbacks.Callback):
        since, n = time.monotonic(), 0

        def on_train_batch_end(self, batch, logs=None):
            self.n += 1
            now = time.monotonic()
            if now - self.since >= 1.0:
                log.info('msg=fit batch=%d mse=%.5f quotes_per_s=%.0f', batch + 1, float(logs["loss"]),
                         self.n * ROWS / (now - self.since))
                self.since, self.n = now, 0

    model.fit(feed, epochs=4, steps_per_epoch=20000, verbose=0, callbacks=[Report()])


if __name__ == "__main__":
    main()
