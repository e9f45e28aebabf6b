"""Online-Lernen: Restreichweite der Fahrzeugflotte. Alle vier Sekunden kommt ein Fenster mit Messwerten."""
import json
import sys
import time

import numpy as np
from sklearn.linear_model import SGDRegressor
from sklearn.preprocessing import StandardScaler

TAKT = 4.0
gen = np.random.default_rng(5)
wahr = gen.normal(size=30)
skala, modell = StandardScaler(), SGDRegressor(learning_rate="constant", eta0=2e-3, random_state=0)


def fenster(n):
    x = gen.normal(size=(n, 30)) * 4 + 1
    return x, x @ wahr + gen.normal(0, 2.0, n) + 20


naechstes, nr = time.monotonic(), 0
while True:
    x, y = fenster(int(gen.integers(3000, 9000)))
    skala.partial_fit(x)
    z = skala.transform(x)
    fehler = float(np.abs(modell.predict(z) - y).mean()) if nr else None
    beginn = time.monotonic()
    for _ in range(300):
        modell.partial_fit(z, y)
    nr += 1
    naechstes += TAKT
    pause = max(0.0, naechstes - time.monotonic())
    print(json.dumps({"fenster": nr, "zeilen": len(x), "mae_km": fehler, "lernzeit_s": round(time.monotonic() - beginn, 2),
                      "naechstes_fenster_in_s": round(pause, 2)}), file=sys.stdout, flush=True)
    time.sleep(pause)
