import argparse
import os
import time

import numpy as np

RANGO = int(os.environ["RANK"])
MUNDO = int(os.environ["WORLD_SIZE"])


def registrar(texto):
    print(f"{time.strftime('%H:%M:%S')} [proceso {RANGO}] {texto}", flush=True)


def leer_cuando_exista(ruta):
    while not os.path.exists(ruta):
        time.sleep(0.1)
    return np.load(ruta)


def paso(pesos, x, y, lr):
    oculta = np.tanh(x @ pesos["w1"] + pesos["b1"])
    salida = oculta @ pesos["w2"] + pesos["b2"]
    error = salida - y
    gw2 = oculta.T @ error / len(x)
    atras = (error @ pesos["w2"].T) * (1 - oculta**2)
    gw1 = x.T @ atras / len(x)
    pesos["w2"] -= lr * gw2
    pesos["b2"] -= lr * error.mean(0)
    pesos["w1"] -= lr * gw1
    pesos["b1"] -= lr * atras.mean(0)
    return float((error**2).mean())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dir", default="pesos")
    args = parser.parse_args()
    azar = np.random.default_rng(RANGO)
    comun = np.random.default_rng(99)
    verdad = comun.normal(size=(64, 1))
    pesos = {
        "w1": comun.normal(size=(64, 256)) * 0.1,
        "b1": np.zeros(256),
        "w2": comun.normal(size=(256, 1)) * 0.1,
        "b2": np.zeros(1),
    }
    registrar("inicio")
    for ronda in range(1, 5000):
        for _ in range(150):
            x = azar.normal(size=(128, 64))
            y = np.sin(x @ verdad * 0.3) + azar.normal(size=(128, 1)) * 0.05
            ecm = paso(pesos, x, y, 0.02)
        destino = f"{args.dir}/r{ronda:05d}_p{RANGO}.npz"
        np.savez(destino + ".tmp.npz", **pesos)
        os.rename(destino + ".tmp.npz", destino)
        otros = [leer_cuando_exista(f"{args.dir}/r{ronda:05d}_p{p}.npz") for p in range(MUNDO)]
        pesos = {k: np.mean([o[k] for o in otros], axis=0) for k in pesos}
        for o in otros:
            o.close()
        viejo = f"{args.dir}/r{ronda - 3:05d}_p{RANGO}.npz"
        if os.path.exists(viejo):
            os.remove(viejo)
        if ronda % 5 == 0:
            registrar(f"ronda {ronda} ecm={ecm:.5f}")


main()
