"""Federated rounds between hospitals: clients train, then wait for the next window."""
import multiprocessing as mp
import time

PERIOD = 24.0


def client(name, inbox, outbox):
    import torch
    torch.manual_seed(len(name))
    net = torch.nn.Linear(12, 2)
    for weights in iter(inbox.get, None):
        net.load_state_dict(weights)
        opt = torch.optim.SGD(net.parameters(), 0.05)
        for _ in range(60):
            x = torch.randn(32, 12)
            loss = torch.nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
            opt.zero_grad(); loss.backward(); opt.step()
            time.sleep(0.08)
        outbox.put((name, {k: v.clone() for k, v in net.state_dict().items()}, loss.item()))


def main():
    import torch
    ctx = mp.get_context("spawn")
    outbox = ctx.Queue()
    names = ["aachen", "lyon"]
    boxes = [ctx.Queue() for _ in names]
    procs = [ctx.Process(target=client, args=(n, b, outbox), daemon=True) for n, b in zip(names, boxes)]
    for p in procs:
        p.start()
    net = torch.nn.Linear(12, 2)
    for rnd in range(1, 12):
        began = time.time()
        for b in boxes:
            b.put({k: v.clone() for k, v in net.state_dict().items()})
        got = [outbox.get() for _ in names]
        net.load_state_dict({k: sum(w[k] for _, w, _ in got) / len(got) for k in net.state_dict()})
        print(f"round {rnd} done, losses " + ", ".join(f"{n}={l:.4f}" for n, _, l in got), flush=True)
        rest = max(0.0, PERIOD - (time.time() - began))
        print(f"next round in {rest:.0f} s (window of the hospitals)", flush=True)
        time.sleep(rest)
    for b in boxes:
        b.put(None)


if __name__ == "__main__":
    main()
