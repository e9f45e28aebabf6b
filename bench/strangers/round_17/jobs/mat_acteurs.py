"""Acteurs asynchrones sur CartPole, un apprenant REINFORCE ; une ligne JSON par mise à jour."""
import asyncio
import json
import signal
import sys
import time

import gymnasium as gym
import numpy as np


class Depot:
    """Poids courants, partagés entre les acteurs et l'apprenant."""

    def __init__(self, taille):
        self.poids = np.zeros(taille)
        self.version = 0
        self.verrou = asyncio.Lock()

    async def lire(self):
        async with self.verrou:
            return self.version, self.poids.copy()

    async def ecrire(self, poids):
        async with self.verrou:
            self.poids = poids
            self.version += 1
            return self.version


class Apprenant:
    def __init__(self, boucle, depot):
        self.boucle = boucle
        self.depot = depot
        self.meilleur = -1.0

    def poids_publies(self):
        return asyncio.run_coroutine_threadsafe(self.depot.lire(), self.boucle).result()

    def gradient(self, lot):
        _, poids = self.poids_publies()
        total = np.zeros_like(poids)
        retours = np.array([sum(t["r"]) for t in lot])
        base = retours.mean()
        for t, r in zip(lot, retours):
            total += (r - base) * t["g"]
        return poids + 0.02 * total / (len(lot) * max(retours.std(), 1.0)), float(base)

    def archiver(self, moyenne):
        if moyenne > self.meilleur:
            self.meilleur = moyenne
        version, poids = self.poids_publies()
        np.save("politique.npy", poids)
        return version


async def acteur(numero, depot, file):
    env = gym.make("CartPole-v1")
    rng = np.random.default_rng(numero)
    while True:
        version, poids = await depot.lire()
        w = poids.reshape(2, 4)
        obs, _ = env.reset(seed=int(rng.integers(1 << 30)))
        gains, g = [], np.zeros((2, 4))
        fini = False
        while not fini:
            logits = w @ obs
            p = np.exp(logits - logits.max())
            p /= p.sum()
            a = int(rng.random() < p[1])
            g += np.outer(np.eye(2)[a] - p, obs)
            obs, r, coupe, limite, _ = env.step(a)
            gains.append(r)
            fini = coupe or limite
            if len(gains) % 16 == 0:
                await asyncio.sleep(0.01)
        await file.put({"r": gains, "g": g.ravel(), "v": version})


async def main():
    signal.alarm(240)
    boucle = asyncio.get_running_loop()
    depot = Depot(8)
    file = asyncio.Queue(maxsize=32)
    taches = [asyncio.create_task(acteur(k, depot, file)) for k in range(6)]
    apprenant = Apprenant(boucle, depot)
    debut = time.time()
    for maj in range(1, 100000):
        lot = [await file.get() for _ in range(12)]
        poids, moyenne = await asyncio.to_thread(apprenant.gradient, lot)
        version = await depot.ecrire(poids)
        await asyncio.sleep(0.05)
        print(json.dumps({"maj": maj, "version": version, "retour": round(moyenne, 2), "t": round(time.time() - debut, 1)}), flush=True)
        if maj % 150 == 0:
            print(json.dumps({"maj": maj, "archive": "politique.npy"}), flush=True)
            apprenant.archiver(moyenne)
    for t in taches:
        t.cancel()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
