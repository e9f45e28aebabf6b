"""Runs on a spot machine: on SIGTERM it saves and leaves."""
import signal, sys, time, torch

torch.set_num_threads(1)
state = {"stop": False}


def on_term(signum, frame):
    print("Received SIGTERM: the node will be reclaimed, saving a checkpoint before preemption", flush=True)
    state["stop"] = True


signal.signal(signal.SIGTERM, on_term)
net = torch.nn.LSTM(50, 128, batch_first=True)
head = torch.nn.Linear(128, 50)
opt = torch.optim.Adam([*net.parameters(), *head.parameters()], 1e-3)
k = 0
while not state["stop"]:
    x = torch.randn(16, 30, 50)
    loss = ((head(net(x)[0]) - x.roll(1, 1)) ** 2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    k += 1
    if k % 20 == 0:
        print(f"global step {k:6d}   mse {loss.item():.5f}", flush=True)
torch.save(net.state_dict(), "preempted.pt")
print("checkpoint saved, leaving with code 143", flush=True)
sys.exit(143)
