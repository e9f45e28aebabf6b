"""Esporta le righe di fattura, una per riga, con controllo di IBAN e partita IVA."""
import argparse
import random
import signal
import sys
import time
from datetime import date, timedelta

VOCI = "toner carta hosting licenza trasporto consulenza manutenzione energia acqua affitto corso pulizie".split()
AZIENDE = ["Rossi", "Bianchi", "Verdi", "Neri", "Gallo", "Conti", "Greco", "Bruno"]


def cifre(iban):
    return int("".join(str(int(c, 36)) for c in iban[4:] + iban[:4]))


def iban_casuale(rng):
    conto = "X" + "".join(rng.choice("0123456789") for _ in range(22))
    for controllo in range(2, 99):
        iban = f"IT{controllo:02d}{conto}"
        if cifre(iban) % 97 == 1:
            return iban
    return "IT00" + conto


def partita_iva(rng):
    corpo = [rng.randrange(10) for _ in range(10)]
    somma = sum(corpo[0::2]) + sum((2 * c) // 10 + (2 * c) % 10 for c in corpo[1::2])
    return "".join(map(str, corpo)) + str((10 - somma % 10) % 10)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--durata", type=float, default=200)
    args = parser.parse_args()
    signal.alarm(300)
    rng = random.Random(3)
    inizio = time.monotonic()
    giorno = date(2024, 1, 1)
    numero = 0
    while time.monotonic() - inizio < args.durata:
        numero += 1
        voce = rng.choice(VOCI)
        testo = " ".join([voce] + rng.choices(VOCI, k=2))
        classe = VOCI.index(voce) % 4
        riga = [str(numero), (giorno + timedelta(days=numero % 365)).isoformat(), rng.choice(AZIENDE) + " srl",
                partita_iva(rng), iban_casuale(rng), testo, f"{rng.lognormvariate(5, 1):.2f}", str(classe)]
        sys.stdout.write(";".join(riga) + "\n")


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        pass
