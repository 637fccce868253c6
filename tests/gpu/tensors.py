# tests/gpu/tensors.py: PyTorch's own numbers of the memory that it took from the driver: "reserved PEAK_BYTES
# ALLOCATED_BYTES".
import torch

device = torch.device("cuda:0")
layers = [torch.nn.Linear(2048, 2048, device=device) for _ in range(8)]
data = torch.randn(4096, 2048, device=device)
for _ in range(5):
    out = data
    for layer in layers:
        out = torch.relu(layer(out))
    out.sum().backward()
torch.cuda.synchronize()
print("reserved", torch.cuda.max_memory_reserved(), torch.cuda.max_memory_allocated())
