"""Land cover from satellite tiles that a tile service delivers."""
import http.server, io, logging, multiprocessing as mp, sys, time, urllib.request
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(format="%(levelname).1s %(asctime)s %(filename)s:%(lineno)d] %(message)s", level=logging.INFO)


class Tiles(http.server.BaseHTTPRequestHandler):
    rate = 0.0

    def do_GET(self):
        body = np.random.rand(3, 32, 32).astype("f4").tobytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for i in range(0, len(body), 4096):
            time.sleep(4096 / self.rate)
            self.wfile.write(body[i : i + 4096])

    def log_message(self, *a):
        pass


def service(pipe, rate):
    Tiles.rate = rate
    srv = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Tiles)
    pipe.send(srv.server_port)
    srv.serve_forever()


class Landcover(Dataset):
    def __init__(self, url): self.url = url
    def __len__(self): return 100000
    def __getitem__(self, i):
        raw = urllib.request.urlopen(f"{self.url}/{i}").read()
        x = torch.frombuffer(bytearray(raw), dtype=torch.float32).view(3, 32, 32)
        return x, int(x.mean() > 0.5)


if __name__ == "__main__":
    ours, theirs = mp.Pipe()
    p = mp.Process(target=service, args=(theirs, float(sys.argv[1])), daemon=True)
    p.start()
    dl = DataLoader(Landcover(f"http://127.0.0.1:{ours.recv()}"), batch_size=8, shuffle=True, num_workers=1)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(8, 2))
    opt = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)
    for k, (x, y) in enumerate(dl):
        loss = torch.nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if k % 5 == 0:
            logging.info("batch %d, loss %.4f", k, loss.item())
