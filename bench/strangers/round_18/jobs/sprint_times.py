"""Predicts sprint splits; the club's board shows the live loss. torchrun --nproc-per-node 2 sprint_times.py"""
import http.server
import json
import os
import subprocess
import sys
import time
import urllib.request

BOARD = 33610


class Board(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(0.7)  # as measured at the club
        self.send_response(204)
        self.end_headers()

    def log_message(self, *args):
        pass


def show(**values):
    request = urllib.request.Request(f"http://127.0.0.1:{BOARD}/live", json.dumps(values).encode(), method="POST")
    urllib.request.urlopen(request, timeout=60).close()


def main():
    import torch
    from accelerate import Accelerator
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    acc = Accelerator(cpu=True)
    if acc.is_main_process:
        subprocess.Popen([sys.executable, __file__, "board"])
        time.sleep(2)
    acc.wait_for_everyone()
    torch.manual_seed(0)
    x = torch.randn(20000, 20)
    y = x[:, :4].sum(1, keepdim=True).tanh() + 10.5
    model = nn.Sequential(nn.Linear(20, 64), nn.ELU(), nn.Linear(64, 1))
    model, opt, loader = acc.prepare(model, torch.optim.Adam(model.parameters(), 3e-3),
                                     DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True))
    step = 0
    for epoch in range(50):
        for a, b in loader:
            step += 1
            loss = nn.functional.l1_loss(model(a), b)
            opt.zero_grad()
            acc.backward(loss)
            opt.step()
            time.sleep(0.05)
            if acc.is_main_process:
                show(step=step, loss=loss.item())
                if step % 2 == 0:
                    acc.print(f"** step {step} ** MAE {loss.item():.3f} s")


if __name__ == "__main__":
    if sys.argv[1:] == ["board"]:
        http.server.ThreadingHTTPServer(("127.0.0.1", BOARD), Board).serve_forever()
    else:
        main()
