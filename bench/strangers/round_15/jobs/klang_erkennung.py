"""Geräusche erkennen. Die Ausschnitte kommen vom Medienserver."""
import argparse
import io
import subprocess
import sys
import time
import urllib.request

PORT = 31150
LAENGE = 8000


def server():
    import threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    import numpy as np

    class Ausschnitt(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            nummer = int(self.path.rsplit("/", 1)[1])
            rng = np.random.default_rng(nummer)
            t = np.arange(LAENGE) / 8000
            welle = np.sin(2 * np.pi * (200 + 30 * (nummer % 8)) * t) + 4 * rng.normal(size=LAENGE)
            daten = welle.astype("float32").tobytes()
            self.send_response(200)
            self.send_header("Content-Length", str(len(daten)))
            self.end_headers()
            if nummer == 3141:
                self.wfile.write(daten[:12000])
                self.wfile.flush()
                threading.Event().wait()
            self.wfile.write(daten)

        def log_message(self, *args):
            pass

    dienst = ThreadingHTTPServer(("127.0.0.1", PORT), Ausschnitt)
    dienst.daemon_threads = True
    dienst.serve_forever()


def training():
    import numpy as np
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, Dataset
    from tqdm import tqdm

    class Klaenge(Dataset):
        def __len__(self):
            return 20_000

        def __getitem__(self, i):
            with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/ausschnitt/{i}") as antwort:
                welle = np.frombuffer(antwort.read(), dtype="float32")
            return torch.from_numpy(welle.copy())[None], i % 8

    dienst = subprocess.Popen([sys.executable, __file__, "--server"])
    time.sleep(1.5)
    netz = nn.Sequential(
        nn.Conv1d(1, 16, 64, 8), nn.ReLU(), nn.Conv1d(16, 32, 16, 4), nn.ReLU(), nn.Conv1d(32, 64, 8, 2), nn.ReLU(),
        nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(64, 8),
    )
    optimierer = torch.optim.Adam(netz.parameters(), 1e-3)
    lader = DataLoader(Klaenge(), batch_size=32, num_workers=2, prefetch_factor=2)
    try:
        for epoche in range(1, 21):
            balken = tqdm(lader, desc=f"Epoche {epoche}", mininterval=2)
            for schritt, (x, y) in enumerate(balken):
                verlust = nn.functional.cross_entropy(netz(x), y)
                optimierer.zero_grad()
                verlust.backward()
                optimierer.step()
                if schritt % 10 == 0:
                    balken.set_postfix(verlust=f"{verlust.item():.3f}")
                    tqdm.write(f"Schritt {schritt}: Verlust {verlust.item():.4f}")
    finally:
        dienst.terminate()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--server", action="store_true")
    server() if p.parse_args().server else training()
