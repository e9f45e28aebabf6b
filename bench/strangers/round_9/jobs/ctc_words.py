"""Spoken words with CTC loss, two ranks.

    torchrun --nproc-per-node 2 ctc_words.py data.words=200

CTC_DEBUG=<rank> lets an editor attach to that rank.
"""

import os
import sys
from datetime import datetime

import debugpy
import torch
import torch.distributed as dist
from torch import nn

DEFAULTS = {"data.words": "200", "model.width": "96", "optim.lr": "3e-4", "train.steps": "20000"}


def options(argv):
    chosen = dict(DEFAULTS)
    chosen.update(arg.split("=", 1) for arg in argv)
    return chosen


def note(*words):
    print(datetime.now().strftime("%H:%M:%S"), f"<{os.environ['RANK']}>", *words, flush=True)


class Acoustic(nn.Module):
    def __init__(self, width, symbols=28):
        super().__init__()
        self.front = nn.Conv1d(20, width, 5, stride=2, padding=2)
        self.rnn = nn.LSTM(width, width, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * width, symbols)

    def forward(self, frames):
        h = torch.relu(self.front(frames.transpose(1, 2))).transpose(1, 2)
        return self.out(self.rnn(h)[0]).log_softmax(-1)


def words(count):
    g = torch.Generator().manual_seed(1)
    return [torch.randint(1, 28, (int(torch.randint(3, 9, (1,), generator=g)),), generator=g) for _ in range(count)]


def speak(lexicon, voice, n=16):
    picked = [lexicon[i] for i in torch.randint(0, len(lexicon), (n,)).tolist()]
    frames = torch.zeros(n, 100, 20)
    for row, word in enumerate(picked):
        sound = voice[word].repeat_interleave(10, 0)
        frames[row, : len(sound)] = sound
    return frames + 0.7 * torch.randn(frames.shape), torch.cat(picked), torch.tensor([len(w) for w in picked])


def main():
    o = options(sys.argv[1:])
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)
    lexicon = words(int(o["data.words"]))
    note("lexicon of", len(lexicon), "words, longest", max(map(len, lexicon)))
    if os.environ.get("CTC_DEBUG") == str(rank):
        debugpy.listen(("127.0.0.1", 30110))
        debugpy.wait_for_client()
    net = nn.parallel.DistributedDataParallel(Acoustic(int(o["model.width"])))
    opt = torch.optim.Adam(net.parameters(), lr=float(o["optim.lr"]))
    ctc = nn.CTCLoss(zero_infinity=True)
    voice = torch.randn(28, 20, generator=torch.Generator().manual_seed(2))
    for step in range(1, int(o["train.steps"]) + 1):
        frames, target, lengths = speak(lexicon, voice)
        scores = net(frames).transpose(0, 1)
        loss = ctc(scores, target, torch.full((len(lengths),), scores.shape[0]), lengths)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0 and rank == 0:
            note(f"step {step} ctc {loss.item():.3f}")


main()
