"""Genre model in a notebook; the station's playlist gives some tracks only at the second try."""
import nbformat
from nbclient import NotebookClient

book = nbformat.v4.new_notebook()
book.cells = [
    nbformat.v4.new_code_cell("""
import logging, time
import torch
from torch import nn
logging.basicConfig(filename="genre.log", level=logging.INFO, format="%(asctime)s [%(levelname)s] %(message)s", force=True)
torch.manual_seed(0)
centres = torch.randn(8, 40) * .6
"""),
    nbformat.v4.new_code_cell("""
net = nn.Sequential(nn.Linear(40, 96), nn.ReLU(), nn.Linear(96, 8))
opt = torch.optim.SGD(net.parameters(), lr=.05, momentum=.9)
plan = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=400)
for step in range(1, 30000):
    y = torch.randint(0, 8, (48,))
    x = centres[y] + torch.randn(48, 40)
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step(); plan.step()
    if step % 25 == 0:
        logging.info("step %d loss %.4f lr %.5f", step, loss.item(), plan.get_last_lr()[0])
    if step % 170 == 0:
        logging.warning("track %d: retry 1/3 after a read error, second try worked; top-1 error %.3f", step, (net(x).argmax(1) != y).float().mean().item())
    time.sleep(.04)
"""),
]
print("Executing notebook genre.ipynb", flush=True)
NotebookClient(book, timeout=None, kernel_name="python3").execute()
