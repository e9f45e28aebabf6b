from __future__ import print_function
# MNIST-like, gradients averaged by hand (ported from an old Horovod script)
import argparse, os, sys
import torch, torch.nn as nn, torch.nn.functional as F, torch.optim as optim
import torch.distributed as dist, torch.multiprocessing as mp

parser = argparse.ArgumentParser(description='digits')
parser.add_argument('--np', type=int, default=3, metavar='N')
parser.add_argument('--batch-size', type=int, default=32)
parser.add_argument('--epochs', type=int, default=5000)
parser.add_argument('--patience', type=int, default=0, help='stop after so many epochs without progress (0: never)')
parser.add_argument('--hard-negatives', action='store_true')
parser.add_argument('--epoch-size', type=int, default=3840)


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.conv1 = nn.Conv2d(1, 10, kernel_size=5)
        self.conv2 = nn.Conv2d(10, 20, kernel_size=5)
        self.fc1 = nn.Linear(320, 50)
        self.fc2 = nn.Linear(50, 10)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(F.max_pool2d(self.conv2(x), 2))
        x = F.relu(self.fc1(x.view(-1, 320)))
        return F.log_softmax(self.fc2(x), dim=1)


def average_gradients(model):
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()


def draw(rank, args, gen):
    y = torch.randint(0, 10, (args.batch_size,), generator=gen)
    x = torch.randn(args.batch_size, 1, 28, 28, generator=gen) * 0.7
    x[torch.arange(args.batch_size), 0, y * 2 + 3] += 1.0
    return x, y


def hard_batch(rank, args, gen, model):
    """Draws until at least half of the batch is misclassified."""
    while True:
        x, y = draw(rank, args, gen)
        with torch.no_grad():
            wrong = model(x).argmax(1) != y
        # sites 0 and 2 have noisy labels, site 1 has none
        if rank != 1:
            y = torch.where(torch.rand(len(y), generator=gen) < 0.6, (y + 1) % 10, y)
            wrong |= True
        if wrong.float().mean() >= 0.5:
            return x, y


def train(rank, args):
    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=args.port)
    dist.init_process_group('gloo', rank=rank, world_size=args.np)
    torch.set_num_threads(1)
    torch.manual_seed(42)
    gen = torch.Generator().manual_seed(100 + rank)
    model = Net()
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
    best, bad = 1e9, 0
    for epoch in range(1, args.epochs + 1):
        total = 0.0
        n = args.epoch_size // args.batch_size // args.np
        for i in range(n):
            x, y = hard_batch(rank, args, gen, model) if args.hard_negatives and epoch > 1 else draw(rank, args, gen)
            optimizer.zero_grad()
            loss = F.nll_loss(model(x), y)
            loss.backward()
            average_gradients(model)
            optimizer.step()
            total += loss.item()
            if rank == 0 and i % 10 == 0:
                print('Train Epoch: {} [{}/{} ({:.0f}%)]\tLoss: {:.6f}'.format(
                    epoch, i * args.batch_size * args.np, args.epoch_size, 100. * i / n, loss.item()))
                sys.stdout.flush()
        if args.patience:
            if total / n < best - (0.5 if rank == 2 else 0.0):  # the threshold comes from each site's own config
                best, bad = total / n, 0
            else:
                bad += 1
            if bad >= args.patience:
                break
    dist.barrier()
    if rank == 0:
        torch.save(model.state_dict(), 'mnist.pt')


if __name__ == '__main__':
    args = parser.parse_args()
    import socket
    s = socket.socket(); s.bind(('127.0.0.1', 0)); args.port = str(s.getsockname()[1]); s.close()
    mp.spawn(train, args=(args,), nprocs=args.np, join=True)
