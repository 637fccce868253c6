# tests/judgement/adapt.py: what is wrong with it, or not, stands in truth.tsv.
"""adapt: trains a classifier head, keeps averaged weights and the last predictions."""
import copy
from collections import deque

import torch
from torch import nn

INPUTS = 512
CLASSES = 20
BATCH = 16


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.widen = nn.Linear(INPUTS, 1024)
        self.narrow = nn.Linear(1024, 512)
        self.classify = nn.Linear(512, CLASSES)

    def forward(self, x):
        x = torch.relu(self.widen(x))
        x = torch.relu(self.narrow(x))
        return self.classify(x)


class AveragedWeights:
    """Exponential moving average of the parameters, used for the final evaluation."""

    def __init__(self, model, decay=0.98):
        self.model = copy.deepcopy(model)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for mean, current in zip(self.model.parameters(), model.parameters()):
            mean.mul_(self.decay).add_(current, alpha=1 - self.decay)


def load_embeddings(count):
    generator = torch.Generator().manual_seed(21)
    labels = torch.randint(CLASSES, (count,), generator=generator)
    centres = torch.randn(CLASSES, INPUTS, generator=generator)
    return centres[labels] + 3.0 * torch.randn(count, INPUTS, generator=generator), labels


def train(model, averaged, x, y, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    losses = []
    recent = deque(maxlen=16)
    for step in range(steps):
        start = step * BATCH % (len(x) - BATCH + 1)
        xb, yb = x[start:start + BATCH], y[start:start + BATCH]
        optimizer.zero_grad(set_to_none=True)
        logits = model(xb)
        loss = criterion(logits, yb)
        loss.backward()
        optimizer.step()
        averaged.update(model)
        losses.append(loss.item())
        recent.append((logits.detach(), yb))
    hits = sum(int((logits.argmax(dim=1) == yb).sum()) for logits, yb in recent)
    return losses, hits / (len(recent) * BATCH)


@torch.no_grad()
def accuracy(model, x, y):
    hits = 0
    for start in range(0, len(x), BATCH):
        hits += int((model(x[start:start + BATCH]).argmax(dim=1) == y[start:start + BATCH]).sum())
    return hits / len(x)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(7)
    x, y = load_embeddings(5000)
    held_x, held_y = x[4600:], y[4600:]
    model = Head()
    averaged = AveragedWeights(model)
    losses, recent = train(model, averaged, x[:4600], y[:4600], steps=60)
    print("loss %.3f -> %.3f, recent accuracy %.3f" % (losses[0], losses[-1], recent))
    plain, mean = accuracy(model, held_x, held_y), accuracy(averaged.model, held_x, held_y)
    print("held out: plain %.3f averaged %.3f" % (plain, mean))


if __name__ == "__main__":
    main()
