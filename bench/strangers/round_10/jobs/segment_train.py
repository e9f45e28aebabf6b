import argparse
import os

import torch
import torch.nn as nn

ap = argparse.ArgumentParser()
ap.add_argument("--out", required=True)
ap.add_argument("--fortsetzen", action="store_true")
args = ap.parse_args()
os.makedirs(args.out, exist_ok=True)
pfad = os.path.join(args.out, "letzter.pt")


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())


netz = nn.Sequential(block(1, 16), nn.MaxPool2d(2), block(16, 128), block(128, 256), nn.Conv2d(256, 256, 3, padding=1),
                     nn.ReLU(), nn.Upsample(scale_factor=2), nn.Conv2d(256, 2, 1))
opt = torch.optim.Adam(netz.parameters(), 1e-3)
schritt = 0
if args.fortsetzen and os.path.exists(pfad):
    print("lade", pfad)
    stand = torch.load(pfad)
    netz.load_state_dict(stand["netz"])
    opt.load_state_dict(stand["opt"])
    schritt = stand["schritt"]

while schritt < 20000:
    bild = torch.rand(2, 1, 32, 32)
    maske = (nn.functional.avg_pool2d(bild, 3, 1, 1) > 0.5).long().squeeze(1)
    verlust = nn.functional.cross_entropy(netz(bild), maske)
    opt.zero_grad()
    verlust.backward()
    opt.step()
    schritt += 1
    if schritt % 20 == 0:
        print(f"Schritt {schritt:6d}  Verlust {verlust.item():.4f}")
    if schritt % 100 == 0:
        torch.save({"netz": netz.state_dict(), "opt": opt.state_dict(), "schritt": schritt}, pfad)
        print("gespeichert:", pfad)
