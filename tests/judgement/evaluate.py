# tests/judgement/evaluate.py: what is wrong with it, or not, stands in truth.tsv.
"""evaluate: measures a trained network on many batches and prints the mean loss and the worst batches."""
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


def batch_loss(model, criterion, x, y):
    return criterion(model(x), y)


def measure(model, samples):
    criterion = nn.CrossEntropyLoss()
    model.eval()
    losses = []
    for x, y in samples:
        losses.append(batch_loss(model, criterion, x, y))
        time.sleep(0.01)
    return losses


def worst(losses, n):
    order = sorted(range(len(losses)), key=lambda i: -float(losses[i]))
    return order[:n]


def main():
    model = Net(32, 128, 10)
    samples = Samples(32 * SCALE, 2048, 32, 10)
    losses = measure(model, samples)
    mean = sum(float(loss) for loss in losses) / len(losses)
    print(f"mean loss {mean:.3f}, worst batches {worst(losses, 3)}")


if __name__ == "__main__":
    main()
