import os, time
import numpy as np
import torch
import torch.utils.data as tud

W = int(os.environ["DETECT_WORKERS"])
HEAVY = int(os.environ.get("AUG_ROUNDS", "1"))


class Boxes(tud.Dataset):
    def __len__(self):
        return 400000

    def __getitem__(self, i):
        rng = np.random.default_rng(i)
        img = rng.random((3, 96, 96), dtype=np.float32) * np.float32(rng.uniform(0.2, 1))
        for _ in range(HEAVY):       # mosaic, jitter, blur
            img = np.roll(img, rng.integers(0, 96), 1)
            img = np.clip(img * rng.uniform(0.8, 1.2) + rng.uniform(-0.1, 0.1), 0, 1)
            img = (img + np.roll(img, 1, 2) + np.roll(img, -1, 1)) / 3
        area = img[:, :48].mean()
        return img.astype("f4"), np.float32(area)


def main():
    dl = tud.DataLoader(Boxes(), 16, num_workers=W, prefetch_factor=2)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 5, 4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(1))
    opt = None
    t = time.time()
    for i, (x, y) in enumerate(dl):
        out = net(x)[:, 0]
        opt = opt or torch.optim.Adam(net.parameters(), 3e-4)
        loss = (out - y).abs().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.05 if HEAVY == 1 else 0)
        if i % 10 == 0:
            print(f"{i=} l1={loss.item():.4f} imgs/s={160 / (time.time() - t):.0f}", flush=True)
            t = time.time()


if __name__ == "__main__":
    main()
