"""Supervised fine-tuning on packed sequences with gradient accumulation. Every event is written to events.log, durably."""
import logging
import os
import time

import torch

DURABLE = os.environ.get("DURABLE") == "1"
ACCUM = int(os.environ.get("ACCUM", "1"))


class Durable(logging.FileHandler):
    """Nothing may be lost when the node is taken away."""

    def emit(self, record):
        super().emit(record)
        self.flush()
        os.fsync(self.stream.fileno())
        time.sleep(float(os.environ.get("SHARE_LATENCY", "0.004")))  # the share acknowledges later


log = logging.getLogger("sft")
log.setLevel(logging.DEBUG)
h = Durable("events.log") if DURABLE else logging.FileHandler("events.log")
h.setFormatter(logging.Formatter("%(asctime)s.%(msecs)03d %(levelname)s %(message)s", datefmt="%Y-%m-%dT%H:%M:%S"))
log.addHandler(h)
torch.set_num_threads(1)
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Embedding(600, 96), torch.nn.TransformerEncoderLayer(96, 4, 192, batch_first=True), torch.nn.Linear(96, 600))
opt = torch.optim.AdamW(net.parameters(), 5e-4)
shift = torch.randperm(600)
for update in range(1, 1_000_000):
    total = 0.0
    for micro in range(ACCUM):
        x = torch.randint(0, 600, (4, 48))
        y = shift[x]
        if DURABLE:
            for row in range(4):
                log.debug("update %d micro %d row %d first tokens %s", update, micro, row, x[row, :4].tolist())
        loss = torch.nn.functional.cross_entropy(net(x).flatten(0, 1), y.flatten()) / ACCUM
        loss.backward()
        total += loss.item()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    opt.zero_grad()
    log.info("update %d train_loss %.4f", update, total)
