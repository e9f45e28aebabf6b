# fingerprints of molecules in a process pool, regression on top
import multiprocessing as mp, random, time, hashlib


def fingerprint(seed):
    r = random.Random(seed)
    smiles = "".join(r.choice("CNO()=c1") for _ in range(60))
    bits = [0.0] * 128
    for n in range(2, 8):
        for i in range(60 - n):
            bits[hashlib.md5(smiles[i : i + n].encode()).digest()[0] % 128] = 1.0
    time.sleep(0.01)
    return bits, smiles.count("C") / 60


def batches(pool, size):
    chunk, seed = [], 0
    while True:
        for item in pool.imap(fingerprint, range(seed, seed + 4096), chunksize=4):
            chunk.append(item)
            if len(chunk) == size:
                yield chunk
                chunk = []
        seed += 4096


def main():
    pool = mp.get_context("fork").Pool(3)
    import torch
    net = torch.nn.Sequential(torch.nn.Linear(128, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    for n, b in enumerate(batches(pool, 32), 1):
        x, y = torch.tensor([f for f, _ in b]), torch.tensor([t for _, t in b])
        loss = torch.nn.functional.l1_loss(net(x)[:, 0], y)
        opt.zero_grad(); loss.backward(); opt.step()
        time.sleep(0.05)
        if n % 20 == 0:
            print(f"batch {n} mae {loss.item():.5f}", flush=True)
        if n > 3000:
            break


if __name__ == "__main__":
    main()
