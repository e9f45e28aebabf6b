import multiprocessing as mp, os, socket, struct, time
import numpy as np, torch, torch.distributed as dist
from torch import nn
PORT = int(os.environ.get("FEATURE_PORT", "42110"))

def recvall(s, n):
    b = bytearray()
    while len(b) < n:
        c = s.recv(n - len(b))
        if not c: raise ConnectionError("feature store closed")
        b += c
    return bytes(b)

def store(ready):
    import threading
    table = np.random.default_rng(1).normal(size=(5000, 64)).astype("f4")
    srv = socket.create_server(("127.0.0.1", PORT), backlog=16); ready.set()
    def serve(c):
        try:
            while True:
                (n,) = struct.unpack("<I", recvall(c, 4))
                ids = np.frombuffer(recvall(c, 4 * n), "<u4")
                c.sendall(table[ids].tobytes())
        except ConnectionError:
            c.close()
    while True:
        threading.Thread(target=serve, args=(srv.accept()[0],), daemon=True).start()

class Features:
    def __init__(self): self.s = socket.create_connection(("127.0.0.1", PORT))
    def get(self, ids):
        self.s.sendall(struct.pack("<I", len(ids)))
        self.s.sendall(np.asarray(ids, "<u4").tobytes())
        return np.frombuffer(recvall(self.s, 256 * len(ids)), "f4").reshape(-1, 64).copy()

def train(rank, world):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(world), LOCAL_RANK=str(rank),
                      MASTER_ADDR="127.0.0.1", MASTER_PORT="42111")
    dist.init_process_group("gloo")
    torch.manual_seed(0); net = nn.parallel.DistributedDataParallel(
        nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 1)))
    opt = torch.optim.Adagrad(net.parameters(), 0.01)
    fs, g = Features(), np.random.default_rng(rank); w = torch.randn(128, generator=torch.Generator().manual_seed(5))
    t0 = time.time()
    for step in range(1, 10**7):
        rows = [fs.get(g.integers(0, 5000, 16)).reshape(8, 128) for _ in range(8)]
        x = torch.from_numpy(np.concatenate(rows)); y = (x @ w > 0).float()
        loss = nn.functional.binary_cross_entropy_with_logits(net(x)[:, 0], y)
        opt.zero_grad(); loss.backward(); opt.step()
        if rank == 0 and step % 10 == 0:
            print(f"[ctr] step={step} bce={loss.item():.4f} steps/s={10 / (time.time() - t0):.2f}", flush=True); t0 = time.time()

if __name__ == "__main__":
    ctx = mp.get_context("spawn"); e = ctx.Event()
    ctx.Process(target=store, args=(e,), daemon=True).start(); e.wait()
    ps = [ctx.Process(target=train, args=(r, 2)) for r in range(2)]
    [p.start() for p in ps]; [p.join() for p in ps]
