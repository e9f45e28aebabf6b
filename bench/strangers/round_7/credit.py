"""Scores loan requests with a small MLP; one record per update goes to the audit trail."""
import json
import logging
import os
import sys
import time

import torch


class AuditHandler(logging.Handler):
    """Keeps the full record of each update, as the risk office wants it."""

    def __init__(self, path, rounds):
        super().__init__()
        self.file = open(path, "w")
        self.rounds = rounds

    def emit(self, record):
        body = {"msg": record.getMessage(), "ts": record.created, "state": record.state}
        for _ in range(self.rounds):
            text = json.dumps(body, indent=1, sort_keys=True)
        self.file.seek(0)
        self.file.write(text)
        self.file.flush()
        os.fsync(self.file.fileno())


def main():
    rounds = int(sys.argv[1])
    audit = logging.getLogger("audit")
    audit.setLevel(logging.DEBUG)
    audit.propagate = False
    audit.addHandler(AuditHandler("audit.json", rounds))
    net = torch.nn.Sequential(torch.nn.Linear(40, 128), torch.nn.ReLU(), torch.nn.Linear(128, 1))
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    w = torch.randn(40)
    for i in range(100000):
        for _ in range(20):
            x = torch.randn(1024, 40)
            y = (x @ w > 0).float()
            loss = torch.nn.functional.binary_cross_entropy_with_logits(net(x)[:, 0], y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        audit.debug("update %d", i, extra={"state": {k: v.tolist() for k, v in net.state_dict().items()}})
        if i % 20 == 0:
            print(i, f"bce={loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
