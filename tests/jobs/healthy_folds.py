"""Healthy: cross-validation; each fold begins anew, with step 1 and the loss of an untrained model.

Symptom: none. Start: python.
"""

import random
import signal
import time

signal.alarm(300)
for fold in range(1, 100):
    print(f"===== fold {fold} =====", flush=True)
    for step in range(1, 81):
        time.sleep(0.06)
        loss = 0.15 + 2.2 * 0.94**step + random.gauss(0, 0.01)
        print(f"fold {fold} step {step}/80 loss {loss:.4f} lr {1e-3 * (1 - step / 80):.2e}", flush=True)
