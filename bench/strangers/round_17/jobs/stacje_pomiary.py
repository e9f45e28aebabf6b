import math
import random
import sys
import time

rok = int(sys.argv[1])
los = random.Random(rok)
for godzina in range(24 * 320):
    t = 9 + 10 * math.sin(godzina / 8760 * 6.28 - 1.7) + 4 * math.sin(godzina / 24 * 6.28) + los.gauss(0, 1.2)
    print(f"{rok};{godzina};{t:.2f};{1013 + los.gauss(0, 6):.1f};{max(0, los.gauss(70, 14)):.0f}")
    if godzina % 64 == 63:
        sys.stdout.flush()
        time.sleep(0.07)
