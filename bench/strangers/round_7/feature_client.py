"""Trains from a feature service that is restarted now and then."""
import logging, random, socket, threading, time
import numpy as np, torch

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)-7s %(threadName)s %(message)s")
random.seed(5)


def service(srv):
    while True:
        c, _ = srv.accept()
        for _ in range(random.randrange(60, 120)):
            if c.recv(1) != b"n":
                break
            c.sendall(np.random.rand(64 * 8).astype("f4").tobytes())
        c.close()


srv = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=service, args=(srv,), daemon=True, name="svc").start()


class Source:
    def __init__(self): self.s = None
    def once(self):
        self.s = self.s or socket.create_connection(srv.getsockname())
        self.s.sendall(b"n")
        raw = b""
        while len(raw) < 64 * 8 * 4:
            part = self.s.recv(8192)
            if not part:
                self.s = None
                raise ConnectionError("feature service closed the connection")
            raw += part
        return torch.frombuffer(bytearray(raw), dtype=torch.float32).view(64, 8)
    def get(self):
        for attempt in range(1, 6):
            try:
                return self.once()
            except OSError as e:
                self.s = None
                logging.warning("attempt %d/5 failed: %s; retrying in 0.3 s", attempt, e)
                time.sleep(0.3)
        raise RuntimeError("feature service is gone")


src = Source()
net = torch.nn.Linear(8, 1)
opt = torch.optim.Adam(net.parameters(), 1e-2)
for n in range(1, 2600):
    x = src.get()
    loss = (net(x)[:, 0] - x.sum(1)).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
    time.sleep(0.1)
    if n % 25 == 0:
        logging.info("step %d loss %.5f", n, loss.item())
