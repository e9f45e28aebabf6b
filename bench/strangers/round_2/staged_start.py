"""Two processes; rank 0 gets the data from the staging service before the group starts to train.

STAGING: fifo = named pipe of the transfer tool, file = a marker file, busy = the port was configured by hand
"""
import os, random, subprocess, sys, time, torch
import torch.distributed as dist

STAGING = os.environ.get("STAGING", "file")
if "RANK" not in os.environ:  # started without a launcher: we are the launcher
    port = int(os.environ.get("TRAIN_PORT", random.randrange(30000, 40000)))
    held = None
    if STAGING == "busy":
        import socket
        held = socket.socket(); held.bind(("127.0.0.1", port)); held.listen(1)  # the colleague's run, still there
    if STAGING == "fifo":
        os.mkfifo("transfer.pipe")
    if STAGING == "file":
        subprocess.Popen(["sh", "-c", "sleep 12; echo ok > staged.ok"])
    ps = [subprocess.Popen([sys.executable, __file__], env=dict(os.environ, RANK=str(r), LOCAL_RANK=str(r), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1",
                                                               MASTER_PORT=str(port))) for r in range(2)]
    codes = [p.wait() for p in ps]
    sys.exit(max(map(abs, codes)))

r = int(os.environ["RANK"])
print(f"[{r}] up", flush=True)
if STAGING == "busy":
    time.sleep(20)  # unpack the container layers
    print(f"[{r}] joining the group on port {os.environ['MASTER_PORT']}", flush=True)
dist.init_process_group("gloo")
torch.set_num_threads(1)
if r == 0:
    if STAGING == "fifo":
        print("[0] reading manifest from transfer.pipe", flush=True)
        manifest = open("transfer.pipe").read()
    else:
        while not os.path.exists("staged.ok"):
            print("[0] WARNING: staged.ok not found, retrying in 2 s", flush=True)
            time.sleep(2)
dist.barrier()
w = torch.nn.Linear(300, 300)
ddp = torch.nn.parallel.DistributedDataParallel(w)
opt = torch.optim.SGD(ddp.parameters(), 0.01)
goal = torch.randn(300, 300, generator=torch.Generator().manual_seed(1)) / 17
for i in range(1, 1_000_000):
    x = torch.randn(256, 300)
    loss = (ddp(x) - x @ goal).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    time.sleep(0.01)
    if i % 25 == 0 and r == 0:
        print(f"[0] i={i} loss={loss.item():.5f}", flush=True)
