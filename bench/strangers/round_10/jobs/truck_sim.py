"""Road simulator: one thread per connected vehicle, JSON frames with a length header."""
import json
import random
import socket
import struct
import sys
import threading

ORTE = ["Ulm", "Aalen", "Heilbronn", "Mannheim", "Darmstadt", "Mainz", "Koblenz", "Bonn", "Köln", "Düren", "Aachen"]


def reply(conn, obj):
    size = len(json.dumps(obj))
    body = json.dumps(obj, ensure_ascii=False).encode("utf-8")
    conn.sendall(struct.pack("!I", size) + body)


def vehicle(conn, seed):
    rnd = random.Random(seed)
    f = conn.makefile("rb")
    km, v, best = 0.0, 0.0, 0.0
    trip = 0
    for line in f:
        cmd = json.loads(line)
        if cmd["op"] == "reset":
            trip += 1
            v, km = 0.0, rnd.random()
        else:
            v = max(0.0, min(1.5, v + 0.2 * cmd["a"] + rnd.gauss(0, 0.05)))
            km += v
        best += v / 90.0
        for _ in range(40):
            rnd.gauss(0, 1)
        limit = 0.8 + 0.3 * ((int(km) // 10) % 2)
        ort = ORTE[min(int(best / 2.0), len(ORTE) - 1)]
        reply(conn, {"v": v, "limit": limit, "km": km, "slope": rnd.gauss(0, 0.1), "ort": ort, "end": km > 60})


if __name__ == "__main__":
    srv = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    n = 0
    while True:
        conn, _ = srv.accept()
        conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        n += 1
        threading.Thread(target=vehicle, args=(conn, n), daemon=True).start()
