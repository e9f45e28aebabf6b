import sys

import msgpack
import numpy as np
import zmq

sock = zmq.Context().socket(zmq.REP)
sock.bind(sys.argv[1])
rng = np.random.default_rng(0)
rule = np.random.default_rng(5).normal(size=50)
print("feeder up on", sys.argv[1])
while True:
    want = msgpack.unpackb(sock.recv())
    x = rng.normal(size=(want["n"], 50))
    y = x @ rule + 0.2 * rng.normal(size=want["n"])
    sock.send(msgpack.packb({"x": x.tobytes(), "y": y.tobytes()}))
