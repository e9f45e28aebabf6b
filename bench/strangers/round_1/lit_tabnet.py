"""Churn model, Lightning. Metrics go to the tracking server of the group."""
import http.server
import json
import logging
import os
import subprocess
import sys
import time
import urllib.request
import warnings

if len(sys.argv) > 1 and sys.argv[1] == "tracking-server":

    class Tracker(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            time.sleep(float(os.environ.get("TRACKER_DELAY", "0.002")))
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Tracker)
    print(server.server_address[1], flush=True)
    server.serve_forever()

import lightning as L
import torch
from lightning.pytorch.loggers.logger import Logger

warnings.filterwarnings("ignore")
torch.set_num_threads(1)


class HttpTracker(Logger):
    name, version = "churn", "17"

    def __init__(self, url):
        super().__init__()
        self.url = url

    def log_hyperparams(self, params, *args, **kwargs):
        pass

    def log_metrics(self, metrics, step=None):
        for key, value in metrics.items():
            body = json.dumps({"run": self.version, "key": key, "value": value, "step": step}).encode()
            urllib.request.urlopen(urllib.request.Request(self.url, body, method="POST"), timeout=30).read()


class Churn(L.LightningModule):
    def __init__(self):
        super().__init__()
        layers = []
        for _ in range(4):
            layers += [torch.nn.Linear(256, 256), torch.nn.BatchNorm1d(256), torch.nn.SiLU()]
        self.net = torch.nn.Sequential(torch.nn.Linear(40, 256), *layers, torch.nn.Linear(256, 1))

    def step(self, batch):
        x, y = batch
        z = self.net(x)[:, 0]
        return torch.nn.functional.binary_cross_entropy_with_logits(z, y), ((z > 0) == (y > 0.5)).float().mean()

    def on_train_start(self):
        print("fit started, metrics go to", self.trainer.logger.url, flush=True)

    def training_step(self, batch, i):
        loss, acc = self.step(batch)
        self.log_dict({"train_loss": loss, "train_acc": acc}, prog_bar=True)
        self.log("grad_scale", float(i % 7))
        return loss

    def validation_step(self, batch, i):
        loss, acc = self.step(batch)
        self.log_dict({"val_loss": loss, "val_acc": acc}, prog_bar=True)

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), 1e-3)
        return [opt], [torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, 10)]


def data(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 40, generator=g)
    y = ((x[:, :5].prod(1) + x[:, 5]) > 0).float()
    return torch.utils.data.TensorDataset(x, y)


def batches(ds, n):
    """Whole batches are indexed at once."""
    return torch.utils.data.DataLoader(ds, batch_size=None, sampler=torch.utils.data.BatchSampler(torch.utils.data.RandomSampler(ds), n, True))


if __name__ == "__main__":
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
    tracker = subprocess.Popen([sys.executable, __file__, "tracking-server"], stdout=subprocess.PIPE, text=True)
    url = f"http://127.0.0.1:{tracker.stdout.readline().strip()}/log"
    every = int(os.environ.get("LOG_EVERY", "50"))
    trainer = L.Trainer(max_epochs=1000, accelerator="cpu", logger=HttpTracker(url), log_every_n_steps=every, enable_checkpointing=False,
                        enable_model_summary=False)
    trainer.fit(Churn(), batches(data(40_000, 1), 256), batches(data(20_000, 2), 512))
