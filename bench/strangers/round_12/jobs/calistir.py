"""Eğitimi N süreçle başlatır: python calistir.py duygu_egitim.py 2"""
import os
import subprocess
import sys

script, n = sys.argv[1], int(sys.argv[2])
procs = []
for r in range(n):
    env = dict(os.environ, RANK=str(r), LOCAL_RANK=str(r), WORLD_SIZE=str(n), MASTER_ADDR="127.0.0.1", MASTER_PORT="31125")
    procs.append(subprocess.Popen([sys.executable, script], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))

# ana sürecin çıktısı ekrana, diğerleri bitince dosyaya
for line in procs[0].stdout:
    sys.stdout.write(line)
    sys.stdout.flush()
for r, p in enumerate(procs[1:], 1):
    with open(f"rank{r}.txt", "w") as f:
        f.write(p.stdout.read())
    p.wait()
