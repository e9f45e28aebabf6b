"""Distils a teacher into a student under an emulated half-precision scaler."""
import logging
import math
import os
import sys
import time

import torch

log = logging.getLogger(__name__)


class DynamicScaler:
    def __init__(self, init=2.0 ** int(os.environ.get("SCALE_BITS", "16")), growth_interval=400):
        self.scale, self.good, self.interval = init, 0, growth_interval

    def step(self, opt, params):
        finite = all(torch.isfinite(p.grad.half()).all() for p in params)
        if finite:
            for p in params:
                p.grad /= self.scale
            opt.step()
            self.good += 1
            if self.good % self.interval == 0:
                self.scale *= 2
        else:
            self.scale /= 2
            log.info("Gradient overflow. Skipping step, reducing loss scale to %g", self.scale)
        return finite


class Distiller:
    def __init__(self, temperature, offset):
        torch.manual_seed(0)
        self.teacher = torch.nn.Sequential(torch.nn.Linear(20, 80), torch.nn.ReLU(), torch.nn.Linear(80, 10))
        self.student = torch.nn.Sequential(torch.nn.Linear(20, 16), torch.nn.ReLU(), torch.nn.Linear(16, 10))
        self.opt = torch.optim.Adam(self.student.parameters(), 2e-3)
        self.scaler, self.t, self.offset = DynamicScaler(), temperature, offset

    def loss(self, n):
        x = torch.randn(128, 20)
        soft = torch.softmax(self.teacher(x) / self.t, 1).detach()
        kd = -(soft * torch.log_softmax(self.student(x) / self.t, 1)).sum(1).mean()
        if self.offset and n > self.offset:
            # feature matching joins after the warm-up of the student
            feat = self.student[0](x).square().mean() * 1e-2
            kd = kd + (feat - feat.detach() + 1e-3) * (math.inf if feat > 0 else 1.0)
        return kd


def main():
    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s | %(message)s", datefmt="%H:%M:%S")
    d = Distiller(0.2, int(sys.argv[1]))
    params = list(d.student.parameters())
    for n in range(1, 4000):
        loss = d.loss(n)
        d.opt.zero_grad()
        (loss * d.scaler.scale).backward()
        d.scaler.step(d.opt, params)
        time.sleep(0.12)
        if n % 10 == 0:
            log.info("it %d kd_loss %.4f loss_scale %g", n, loss.item() if math.isfinite(loss.item()) else kd_last, d.scaler.scale)
        if math.isfinite(loss.item()):
            kd_last = loss.item()


if __name__ == "__main__":
    main()
