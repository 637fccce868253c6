# tests/judgement/finetune.py: what is wrong with it, or not, stands in truth.tsv.
"""finetune: trains a small network on many batches and prints the mean loss and the worst batches."""
import os
import sys
import time

import torch
from torch import nn

SCALE = int(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("SCALE", "1"))
torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self, inputs, hidden, classes):
        super().__init__()
        self.first = nn.Linear(inputs, hidden)
        self.second = nn.Linear(hidden, hidden)
        self.last = nn.Linear(hidden, classes)

    def forward(self, x):
        x = torch.relu(self.first(x))
        x = torch.relu(self.second(x))
        return self.last(x)


class Samples:
    """Stands for a data set on the disk."""

    def __init__(self, batches, size, inputs, classes):
        self.batches, self.size, self.inputs, self.classes = batches, size, inputs, classes

    def __iter__(self):
        for _ in range(self.batches):
            x = torch.randn(self.size, self.inputs)
            yield x, torch.randint(0, self.classes, (self.size,))


def step(model, criterion, optimizer, x, y):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


def train(model, samples):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    model.train()
    losses = []
    for x, y in samples:
        losses.append(step(model, criterion, optimizer, x, y).item())
        time.sleep(0.005)
    return losses


def worst(losses, n):
    order = sorted(range(len(losses)), key=lambda i: -losses[i])
    return order[:n]


def main():
    model = Net(32, 128, 10)
    samples = Samples(20 * SCALE, 2048, 32, 10)
    losses = train(model, samples)
    print(f"mean loss {sum(losses) / len(losses):.3f}, worst batches {worst(losses, 3)}")


if __name__ == "__main__":
    main()
