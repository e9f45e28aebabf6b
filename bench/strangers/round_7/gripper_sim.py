"""Gripper simulator: one client, length-prefixed JSON."""
import json, random, socket, struct, sys, time

contact_limit = int(sys.argv[1]) if len(sys.argv) > 1 else 0
srv = socket.create_server(("127.0.0.1", 0))
print(srv.getsockname()[1], flush=True)
conn, _ = srv.accept()
buf = conn.makefile("rb")
contacts = 0
pos = [0.0] * 6
while True:
    head = buf.read(4)
    if len(head) < 4:
        break
    a = json.loads(buf.read(struct.unpack("<I", head)[0]))["a"]
    contacts += 1
    if contact_limit and contacts > contact_limit:
        continue  # safety latch: motion is ignored until the operator re-arms
    time.sleep(0.02)
    pos = [0.9 * p + 0.1 * a[i % 2] + random.gauss(0, 0.02) for i, p in enumerate(pos)]
    out = json.dumps({"o": pos, "r": -sum(p * p for p in pos)}).encode()
    conn.sendall(struct.pack("<I", len(out)) + out)
