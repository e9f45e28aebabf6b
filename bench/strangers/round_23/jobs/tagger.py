import argparse, json, socket, threading
import torch, torch.nn as nn

p = argparse.ArgumentParser(); p.add_argument("--port", type=int, default=43010); a = p.parse_args()


class Vocabulary:
    """Answers id requests of the trainer, one JSON list per line."""
    def __init__(self, port):
        self.srv = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        conn, _ = self.srv.accept()
        buf = b""
        while True:
            chunk = conn.recv(4096)
            if not chunk:
                return
            buf += chunk
            if len(chunk) < 4096 and buf.endswith(b"\n"):
                words = json.loads(buf)
                conn.sendall(json.dumps([hash(w) % 5000 for w in words]).encode() + b"\n")
                buf = b""


Vocabulary(a.port)
sock = socket.create_connection(("127.0.0.1", a.port)); rd = sock.makefile("rb")
torch.manual_seed(3)
net = nn.Sequential(nn.EmbeddingBag(5000, 64), nn.Linear(64, 8)); opt = torch.optim.Adam(net.parameters(), 1e-2)
g = torch.Generator().manual_seed(1)
for step in range(100000):
    n = 64 + step
    words = ["w%04d" % i for i in torch.randint(0, 3000, (n,), generator=g).tolist()]
    msg = json.dumps(words).encode() + b"\n"
    sock.sendall(msg)
    ids = torch.tensor(json.loads(rd.readline()))
    y = ids % 8
    loss = nn.functional.cross_entropy(net(ids[:, None]), y)
    opt.zero_grad(); loss.backward(); opt.step()
    if step % 20 == 0:
        print(f"step {step} words {n} loss {loss.item():.4f}", flush=True)
    if n == 440:
        print("curriculum: long documents from here on", flush=True)
