"""Minutes until delivery from parcel records that live at the depot service."""
import atexit, http.client, json, os, subprocess, sys, time
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

PORT = 33900
here = os.path.dirname(os.path.abspath(__file__))


class Parcels(Dataset):
    link = None

    def __len__(self):
        return 40000

    def __getitem__(self, i):
        if self.link is None:
            self.link = http.client.HTTPConnection("127.0.0.1", PORT)
        self.link.request("GET", f"/parcel/{i}")
        rec = json.loads(self.link.getresponse().read())
        return torch.tensor(rec["features"]), torch.tensor(rec["minutes"])


def main():
    depot = subprocess.Popen([sys.executable, os.path.join(here, "e_depot.py"), str(PORT)])
    atexit.register(depot.kill)
    time.sleep(1.5)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(24, 256), nn.SiLU(), nn.Linear(256, 256), nn.SiLU(), nn.Linear(256, 1))
    optim = torch.optim.AdamW(model.parameters(), 1e-3)
    loader = DataLoader(Parcels(), batch_size=8, shuffle=True, num_workers=1)
    seen = 0
    for step, (x, minutes) in enumerate(loader):
        loss = nn.functional.huber_loss(model(x).squeeze(1), minutes)
        optim.zero_grad()
        loss.backward()
        optim.step()
        seen += len(x)
        print(json.dumps({"ts": round(time.time(), 2), "step": step, "loss": round(loss.item(), 4), "parcels": seen}))


if __name__ == "__main__":
    main()
