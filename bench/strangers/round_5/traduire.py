"""Banc d'essai du décodage glouton (traduction, poids tirés au hasard) sur plusieurs jeux de test."""

import random
import time

import torch
from torch import nn

torch.set_num_threads(1)
random.seed(0)
JEUX = {"newstest": 420, "ted": 300, "medical": 260, "subtitles": 600}


class Traducteur(nn.Module):
    def __init__(self, mots=4000, dim=128):
        super().__init__()
        self.plonger = nn.Embedding(mots, dim)
        self.encoder = nn.GRU(dim, dim, batch_first=True)
        self.cellule = nn.GRUCell(dim, dim)
        self.sortie = nn.Linear(dim, mots)

    @torch.inference_mode()
    def decoder(self, source, longueur):
        h = self.encoder(self.plonger(source))[1][0]
        mot = torch.zeros(len(source), dtype=torch.long)
        phrase = []
        for _ in range(longueur):
            h = self.cellule(self.plonger(mot), h)
            mot = self.sortie(h).argmax(-1)
            phrase.append(mot)
        return torch.stack(phrase, 1)


def main():
    modele = Traducteur().eval()
    tour = 0
    while True:
        tour += 1
        for jeu, phrases in JEUX.items():
            debut = time.time()
            accord = total = faites = 0
            while faites < phrases:
                longueur = random.randint(6, 60)
                source = torch.randint(0, 4000, (8, longueur))
                hypothese = modele.decoder(source, longueur + 4)
                accord += int((hypothese[:, :longueur] == source).sum())
                total += source.numel()
                faites += 8
                if faites % 40 == 0:
                    print(f"  {jeu} : {faites}/{phrases} phrases ({faites / (time.time() - debut):.1f}/s)", flush=True)
            print(f"[tour {tour}] {jeu} : exactitude {100 * accord / total:.2f} %", flush=True)


if __name__ == "__main__":
    main()
