# tests/judgement/train.py: what is wrong with it, or not, stands in truth.tsv.
"""train: trains a small regression network and prints the validation curve."""
import torch
from torch import nn

FEATURES = 16
HIDDEN = 64
BATCH = 512


def make_data(count, generator):
    x = torch.randn(count, FEATURES, generator=generator)
    mixing = torch.randn(FEATURES, 3, generator=generator)
    y = torch.sin(x @ mixing).sum(dim=1, keepdim=True)
    return x, y


def batches(x, y):
    for start in range(0, len(x), BATCH):
        yield x[start:start + BATCH], y[start:start + BATCH]


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(FEATURES, HIDDEN)
        self.second = nn.Linear(HIDDEN, HIDDEN)
        self.last = nn.Linear(HIDDEN, 1)

    def forward(self, x):
        hidden = torch.tanh(self.first(x))
        hidden = torch.tanh(self.second(hidden))
        return self.last(hidden)


def train_epoch(model, optimizer, criterion, x, y):
    model.train()
    total = 0.0
    for xb, yb in batches(x, y):
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total


def validate(model, criterion, x, y):
    model.eval()
    losses = []
    for xb, yb in batches(x, y):
        losses.append(criterion(model(xb), yb))
    return torch.stack(losses).mean()


def main():
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(4)
    torch.manual_seed(4)
    train_x, train_y = make_data(8192, generator)
    valid_x, valid_y = make_data(12288, generator)
    model = Regressor()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    criterion = nn.MSELoss()
    train_curve = []
    valid_curve = []
    for epoch in range(10):
        train_curve.append(train_epoch(model, optimizer, criterion, train_x, train_y))
        valid_curve.append(validate(model, criterion, valid_x, valid_y))
    best = min(range(len(valid_curve)), key=lambda e: float(valid_curve[e]))
    print("first %.4f last %.4f best epoch %d" % (float(valid_curve[0]), float(valid_curve[-1]), best))
    print("training loss %.3f -> %.3f" % (train_curve[0], train_curve[-1]))


if __name__ == "__main__":
    main()
