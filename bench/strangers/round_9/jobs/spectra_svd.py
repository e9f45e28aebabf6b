"""Low-rank model of stellar spectra, trained with alternating gradient steps. Written for the 16 core nodes."""

import argparse
import logging
import time

import torch

log = logging.getLogger("spectra")


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--threads", type=int, default=16, help="threads of this process, all cores of a node")
    ap.add_argument("--rank", type=int, default=48)
    ap.add_argument("--stars", type=int, default=3000)
    ap.add_argument("--pixels", type=int, default=2200)
    return ap.parse_args()


def observe(stars, pixels):
    grid = torch.linspace(0, 1, pixels)
    lines = torch.rand(60)
    depth = torch.rand(stars, 60) ** 3
    profile = torch.exp(-((grid - lines.unsqueeze(1)) ** 2) / 2e-5)
    flux = 1 - 0.4 * depth @ profile
    missing = torch.rand(stars, pixels) < 0.1
    return flux + 0.02 * torch.randn(stars, pixels), (~missing).float()


class LowRank(torch.nn.Module):
    def __init__(self, stars, pixels, rank):
        super().__init__()
        self.scores = torch.nn.Parameter(0.1 * torch.randn(stars, rank))
        self.spectra = torch.nn.Parameter(0.1 * torch.randn(rank, pixels))
        self.mean = torch.nn.Parameter(torch.ones(pixels))

    def forward(self, rows):
        return self.scores[rows] @ self.spectra + self.mean


def main():
    args = parse()
    logging.basicConfig(level="INFO", format="%(asctime)s %(name)s %(message)s")
    torch.set_num_threads(args.threads)
    torch.manual_seed(6)
    flux, weight = observe(args.stars, args.pixels)
    model = LowRank(args.stars, args.pixels, args.rank)
    opt = torch.optim.Adam(model.parameters(), lr=5e-5)
    log.info("%d stars, %d pixels, %d threads", args.stars, args.pixels, torch.get_num_threads())
    start = time.perf_counter()
    for it in range(1, 100_000):
        rows = torch.randperm(args.stars)[:500]
        residual = (model(rows) - flux[rows]) * weight[rows]
        loss = residual.square().sum() / weight[rows].sum()
        loss = loss + 1e-5 * model.scores[rows].abs().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 10 == 0:
            now = time.perf_counter()
            log.info("iteration %d: chi2 %.6f, %.1f it/s", it, loss.item(), 10 / (now - start))
            start = now


if __name__ == "__main__":
    main()
