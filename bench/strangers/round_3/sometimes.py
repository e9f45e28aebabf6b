"""Three ranks; each reads its own part of the data from its own mount and may evaluate in a child process."""
import multiprocessing
import os
import time

import torch
import torch.distributed as dist

STALL = os.environ.get("STALL", "")  # rank:period:seconds
EVAL = os.environ.get("EVAL_IN_CHILD", "")


def predictions(queue, n):
    for k in range(n):
        queue.put([float(k)] * 2000)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.set_num_threads(1)
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(90, 350), torch.nn.ReLU(), torch.nn.Linear(350, 350), torch.nn.ReLU(), torch.nn.Linear(350, 5)))
    opt = torch.optim.SGD(net.parameters(), 0.05)
    W = torch.randn(90, 5, generator=torch.Generator().manual_seed(3))
    who, period, seconds = (float(v) for v in (STALL or "-1:1:0").split(":"))
    last = time.time()
    for step in range(1, 10**6):
        if rank == who and time.time() - last > period:
            time.sleep(seconds)  # the mount does not answer for a while
            last = time.time()
        x = torch.randn(64, 90)
        loss = torch.nn.functional.cross_entropy(net(x), (x @ W).argmax(1))
        opt.zero_grad(); loss.backward(); opt.step()
        time.sleep(0.02)
        if rank == 0 and step % 10 == 0:
            print(f"{time.strftime('%X')} #{step} ce={loss.item():.4f}", flush=True)
        if EVAL and rank == 0 and step == int(EVAL):
            q = multiprocessing.Queue()
            p = multiprocessing.Process(target=predictions, args=(q, 300))
            p.start()
            print("evaluating in a child process", flush=True)
            p.join()  # then collect the predictions
            print(len([q.get() for _ in range(300)]), "predictions")


if __name__ == "__main__":
    main()
