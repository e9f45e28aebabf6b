# Clasificación de hojas enfermas - tesis de maestría
# python entrenar.py --trabajadores 2
import argparse, http.server, json, logging, math, os, random, threading, time, urllib.request
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)-8s %(message)s", datefmt="%d/%m/%Y %H:%M:%S")
registro = logging.getLogger("hojas")
torch.set_num_threads(1)


class Almacen(http.server.BaseHTTPRequestHandler):
    """imita el almacén de objetos del laboratorio"""
    def do_GET(self):
        time.sleep(float(os.environ.get("LATENCIA", "0.004")))
        n = int(self.path.strip("/")) if self.path.strip("/").isdigit() else 0
        cuerpo = random.Random(n).randbytes(3 * 24 * 24)
        self.send_response(200); self.send_header("Content-Length", str(len(cuerpo))); self.end_headers()
        self.wfile.write(cuerpo)
    def log_message(self, *a): pass


def decodificar(crudo, calidad):
    """descompresión + corrección de color, píxel a píxel"""
    salida = []
    for _ in range(calidad):
        salida = [math.pow(b / 255.0, 1 / 2.2) for b in crudo]
    return torch.tensor(salida).view(3, 24, 24)


class Hojas(Dataset):
    def __init__(self, url, calidad): self.url, self.calidad = url, calidad
    def __len__(self): return 400_000
    def __getitem__(self, i):
        if self.url:
            crudo = urllib.request.urlopen(f"{self.url}/{i}").read()
        else:
            crudo = random.Random(i).randbytes(3 * 24 * 24)
        x = decodificar(crudo, self.calidad)
        x[0, :, i % 5 * 4] += 0.5
        return x, i % 5


def principal():
    p = argparse.ArgumentParser()
    p.add_argument("--trabajadores", type=int, default=2)
    p.add_argument("--calidad", type=int, default=1)
    p.add_argument("--remoto", action="store_true")
    p.add_argument("--lote", type=int, default=32)
    a = p.parse_args()
    url = None
    if a.remoto:
        # el almacén corre en otro proceso
        import subprocess, sys
        s = subprocess.Popen([sys.executable, __file__, "--servidor"], stdout=subprocess.PIPE, text=True)
        url = f"http://127.0.0.1:{s.stdout.readline().strip()}"
    red = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 48, 3, 2), nn.ReLU(), nn.Flatten(), nn.Linear(48 * 100, 5))
    opt = torch.optim.Adam(red.parameters(), 3e-4)
    datos = DataLoader(Hojas(url, a.calidad), a.lote, shuffle=True, num_workers=a.trabajadores)
    registro.info("Comienza el entrenamiento, %d trabajadores", a.trabajadores)
    for epoca in range(100):
        t0 = time.time()
        for paso, (x, y) in enumerate(datos, 1):
            opt.zero_grad()
            perdida = nn.functional.cross_entropy(red(x), y)
            perdida.backward()
            opt.step()
            if paso % 10 == 0:
                registro.info("época %d paso %d pérdida=%.4f (%.1f imágenes/s)", epoca, paso, perdida.item(), 10 * a.lote / (time.time() - t0))
                t0 = time.time()


if __name__ == "__main__":
    import sys
    if "--servidor" in sys.argv:
        s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Almacen)
        print(s.server_address[1], flush=True)
        s.serve_forever()
    principal()
