"""Perplexity of a GPT-2 (random weights) on long documents with a sliding window. Nothing is trained here."""

import argparse
import math

import torch
from tqdm.auto import tqdm
from transformers import GPT2Config, GPT2LMHeadModel


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--documents", type=int, default=400)
    ap.add_argument("--window", type=int, default=128)
    ap.add_argument("--stride", type=int, default=64)
    ap.add_argument("--seed", type=int, default=0)
    return ap.parse_args()


def build(window, seed):
    torch.manual_seed(seed)
    config = GPT2Config(vocab_size=1200, n_positions=window, n_embd=192, n_layer=6, n_head=6)
    model = GPT2LMHeadModel(config)
    return model.eval()


def documents(count, seed):
    g = torch.Generator().manual_seed(seed + 1)
    for _ in range(count):
        length = int(torch.empty(1).log_normal_(7.0, 0.5, generator=g).clamp(300, 4000))
        steps = torch.randint(0, 5, (length,), generator=g)
        yield (torch.cumsum(steps, 0) * 13) % 1200


@torch.inference_mode()
def score(model, ids, window, stride):
    """Sum of the negative log-likelihoods and the number of tokens that were scored."""
    total, scored, before = 0.0, 0, 0
    for begin in range(0, len(ids), stride):
        end = min(begin + window, len(ids))
        fresh = end - before
        chunk = ids[begin:end].unsqueeze(0)
        logits = model(chunk).logits[0]
        count = min(fresh, chunk.shape[1] - 1)
        if count > 0:
            nll = torch.nn.functional.cross_entropy(logits[-count - 1 : -1], chunk[0, -count:], reduction="sum")
            total, scored = total + nll.item(), scored + count
        before = end
        if end == len(ids):
            break
    return total, scored


def main():
    args = parse()
    model = build(args.window, args.seed)
    total = scored = 0
    bar = tqdm(documents(args.documents, args.seed), total=args.documents, desc="ppl", unit="doc")
    for n, ids in enumerate(bar, 1):
        nll, count = score(model, ids, args.window, args.stride)
        total, scored = total + nll, scored + count
        bar.set_postfix(tokens=scored, ppl=f"{math.exp(total / scored):.1f}")
        if n % 50 == 0:
            tqdm.write(f"after {n} documents: perplexity {math.exp(total / scored):.2f}")
    print(f"perplexity {math.exp(total / scored):.3f} of {scored} tokens")


if __name__ == "__main__":
    main()
