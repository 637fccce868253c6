# tests/gpu/tensors.py: PyTorch's own numbers: of the memory that it took from the driver, "reserved PEAK_BYTES"; and of
# its tensors, "tensors TOTAL_BYTES ALLOCATIONS PEAK_BYTES LIVE_BYTES".
import os

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
print("reserved", torch.cuda.max_memory_reserved())
stats = torch.cuda.memory_stats()
print("tensors", *(stats[key] for key in ("allocated_bytes.all.allocated", "allocation.all.allocated",
                                         "allocated_bytes.all.peak", "allocated_bytes.all.current")), flush=True)
os._exit(0)  # what is left is left
