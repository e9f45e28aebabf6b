"""Prints a table like the trainers of the big libraries do. Asks before it overwrites a directory."""
import os, subprocess, sys, time
import torch

if "--child" not in sys.argv:  # the web form starts runs with an open pipe as standard input
    sys.exit(subprocess.Popen([sys.executable, "-u", __file__, "--child"], stdin=subprocess.PIPE).wait())

torch.set_num_threads(1)
net = torch.nn.Sequential(torch.nn.Embedding(300, 64), torch.nn.Flatten(), torch.nn.Linear(64 * 16, 256), torch.nn.ReLU(), torch.nn.Linear(256, 300))
opt = torch.optim.Adam(net.parameters(), 1e-3)
out = "results/checkpoint-last"
print("{:>8} {:>14} {:>16}".format("Step", "Training Loss", "Validation Loss"))
for step in range(1, 400_000):
    x = torch.randint(0, 300, (64, 16))
    loss = torch.nn.functional.cross_entropy(net(x), x[:, 3])
    opt.zero_grad(); loss.backward(); opt.step()
    time.sleep(0.01)
    if step % 50 == 0:
        with torch.no_grad():
            v = torch.randint(0, 300, (128, 16))
            vl = torch.nn.functional.cross_entropy(net(v), v[:, 3])
        print(f"{step:8d} {loss.item():14.6f} {vl.item():16.6f}")
    if step % 300 == 0:
        if os.path.exists(out) and os.environ.get("ASK"):
            if input(f"{out} exists. Overwrite? [y/N] ") != "y":
                out += "x"
        os.makedirs(os.path.dirname(out), exist_ok=True)
        torch.save(net.state_dict(), out)
