import os, queue, socket, threading, time
import torch
from tensorboardX import SummaryWriter

torch.set_num_threads(1)
MODE = os.environ.get("MODE", "")
q = queue.Queue(maxsize=8)
tb = SummaryWriter("tb/exp_0931")


def produce():
    n = 0
    while True:
        x = torch.randn(64, 60)
        y = x[:, :3].sum(1, keepdim=True).sin()
        if MODE == "dead_producer" and n == 400:
            # one broken clip in the set; its label is missing
            y = {"label": y}["Label"]
        q.put((x, y))
        n += 1


def quiet(args):
    pass


threading.excepthook = quiet if MODE == "dead_producer" else threading.excepthook
threading.Thread(target=produce, name="clips", daemon=True).start()

monitor = socket.socket()
monitor.bind(("127.0.0.1", 0)); monitor.listen(4096)
held = []
net = torch.nn.Sequential(torch.nn.Linear(60, 400), torch.nn.ReLU(), torch.nn.Linear(400, 400), torch.nn.ReLU(), torch.nn.Linear(400, 1))
opt = torch.optim.Adam(net.parameters(), 1e-3)
for step in range(10_000_000):
    x, y = q.get()
    loss = torch.nn.functional.mse_loss(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
    time.sleep(0.02)
    tb.add_scalar("loss/train", loss.item(), step)
    if step % 100 == 0:
        tb.flush()
        open("alive.txt", "w").write(f"step {step}\n")
    if MODE == "sockets" and step % 3 == 0:
        s = socket.create_connection(monitor.getsockname())
        s.send(b"heartbeat\n")
        held.append(s)  # kept so that the collector does not see a closed peer
