"""Bewertungsnetz fuer Eroeffnungen; Stellungen liegen in einer SQLite-Datei."""
import atexit, os, random, sqlite3, subprocess, sys, time
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

FILE = os.path.abspath("buch.db")


def build():
    if os.path.exists(FILE):
        os.remove(FILE)
    db = sqlite3.connect(FILE)
    db.execute("create table stellung (id integer primary key, brett blob, wert real)")
    r = random.Random(2)
    for i in range(4000):
        b = bytes(r.randrange(13) for _ in range(64))
        db.execute("insert into stellung values (?,?,?)", (i, b, (b.count(6) - b.count(12)) / 5))
    db.commit()
    db.close()


class Book(IterableDataset):
    def __iter__(self):
        db = sqlite3.connect(FILE, timeout=7200)
        while True:
            rows = [db.execute("select brett, wert from stellung where id=?", (random.randrange(4000),)).fetchone() for _ in range(64)]
            time.sleep(0.15)
            yield torch.tensor([list(b) for b, _ in rows]), torch.tensor([w for _, w in rows])


def statistics():
    db = sqlite3.connect(FILE, timeout=60, isolation_level=None)
    time.sleep(14)
    db.execute("begin exclusive")
    db.execute("update stellung set wert = wert * 0.99")
    answer = subprocess.run(["cat", "freigabe"], capture_output=True)
    db.execute("commit" if answer.returncode == 0 else "rollback")


def main():
    build()
    if not os.path.exists("freigabe"):
        os.mkfifo("freigabe")
    helper = subprocess.Popen([sys.executable, os.path.abspath(__file__), "statistik"])
    atexit.register(helper.kill)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Embedding(13, 8), nn.Flatten(), nn.Linear(512, 128), nn.ReLU(), nn.Linear(128, 1))
    opt = torch.optim.SGD(net.parameters(), 0.02, momentum=0.9)
    for i, (x, y) in enumerate(DataLoader(Book(), batch_size=None, num_workers=2)):
        fehler = (net(x).squeeze(1) - y).pow(2).mean()
        opt.zero_grad()
        fehler.backward()
        opt.step()
        if i % 4 == 0:
            print(f"[{time.strftime('%H:%M:%S')}] Schritt {i:5d}  Verlust {fehler.item():.4f}  Lernrate 0.02")


if __name__ == "__main__":
    statistics() if sys.argv[1:] == ["statistik"] else main()
