# shared/python/heapprof/_tensors.py: what PyTorch's tensors are to the program, told to the agent by their addresses.
"""Tensors by role.

The garbage collector's objects are looked at once. Modules say which tensors are weights, weights which are gradients,
optimizers which are their state; what has a history is an activation; any other is an input, or data. Objects may be
anybody's: what raises is left out, and nothing is kept.
"""
from __future__ import annotations

import collections
import ctypes
import gc
import sys

from heapprof import _agent

WEIGHT, GRADIENT, OPTIMIZER, ACTIVATION, INPUT = 1, 2, 3, 4, 5
_ROLES = {WEIGHT: "weights", GRADIENT: "gradients", OPTIMIZER: "optimizer state", ACTIVATION: "activations",
          INPUT: "inputs and other data"}
_MOST_NAMED = 30  # of each snapshot: names stay in the profiler's memory for ever

TensorCounts = dict  # device ("cpu", "cuda:0") -> role -> bytes of storages


class _Found:
    """A storage: one block of memory, whichever views there are of it."""

    __slots__ = ("address", "bytes", "device", "role", "label", "tensor")

    def __init__(self, address, size_bytes, device, role, label, tensor):
        self.address, self.bytes, self.device = address, size_bytes, device
        self.role, self.label, self.tensor = role, label, tensor


def _storages(torch, tensor):
    """(address, bytes) of each block that the tensor lies in; none for one without memory (meta, fake, wrapped)."""
    if tensor.layout is not torch.strided:
        if tensor.layout is torch.sparse_coo:
            parts = [tensor._indices(), tensor._values()]
        elif hasattr(tensor, "crow_indices") and tensor.layout is torch.sparse_csr:
            parts = [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
        else:
            return
        for part in parts:
            yield from _storages(torch, part)
        return
    storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
    storage = storage.untyped() if hasattr(storage, "untyped") else storage
    address, size_bytes = storage.data_ptr(), storage.nbytes()
    if address and size_bytes:
        yield address, size_bytes


def _label(found) -> str:
    """"fc1.weight float32 [512, 256]"."""
    try:
        text = f"{str(found.tensor.dtype).replace('torch.', '')} {list(found.tensor.shape)}"
        if found.role == ACTIVATION and not found.label:
            history = type(found.tensor.grad_fn).__name__
            text += f" of {history}" if history != "NoneType" else ""
    except Exception:  # anybody's object
        text = ""
    return f"{found.label} {text}".strip()


class _Walk:
    def __init__(self, torch):
        self.torch = torch
        self.found: dict = {}  # (device, address) -> _Found; the first role stays

    def add(self, tensor, role, label="") -> None:
        try:
            device = str(tensor.device)
            if device == "meta":
                return
            for address, size_bytes in _storages(self.torch, tensor):
                self.found.setdefault((device, address), _Found(address, size_bytes, device, role, label, tensor))
        except Exception:  # a tensor that is another's work: without memory that can be told
            return

    def add_modules(self, modules) -> dict:
        """Gives the names of parameters, by id."""
        names: dict = {}
        inner = {id(child) for module in modules for child in _children(module)}
        # The outermost first: it has whole names.
        for module in sorted(modules, key=lambda module: id(module) in inner):
            try:
                named = list(module.named_parameters()) + list(module.named_buffers())
            except Exception:  # a module in the making, or one that overrides this
                continue
            for name, tensor in named:
                if names.setdefault(id(tensor), name) is name:
                    self.add(tensor, WEIGHT, name)
                gradient = getattr(tensor, "grad", None) if getattr(tensor, "is_leaf", False) else None
                if gradient is not None:
                    self.add(gradient, GRADIENT, f"{name}.grad")
        return names

    def add_optimizers(self, optimizers, names) -> None:
        for optimizer in optimizers:
            try:
                state = list(optimizer.state.items())
            except Exception:
                continue
            for parameter, values in state:
                name = names.get(id(parameter), "")
                for key, value in list(values.items()) if isinstance(values, dict) else ():
                    if isinstance(value, self.torch.Tensor):
                        of = f" of {name}" if name else ""
                        self.add(value, OPTIMIZER, f"{type(optimizer).__name__} {key}{of}")


def _children(module):
    try:
        return list(module.modules())[1:]
    except Exception:
        return []


def _kind(thing, kinds):
    """Which of the classes it is of, by its type alone: __class__ and __instancecheck__ may be anybody's code."""
    mro = type(thing).__mro__
    return next((kind for kind in kinds if kind in mro), None)


def tell(is_recorded: bool) -> TensorCounts | None:
    """Tells the agent of all tensors that can be found; what is behind an address is looked up at the snapshot."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "Tensor"):
        raise RuntimeError("tensors=True needs PyTorch, which this program has not imported (heapprof.snapshot)")
    tell_tensor = _agent.functions.get("tell_tensor")
    if not is_recorded or tell_tensor is None:
        return None
    kinds = (torch.nn.Module, torch.optim.Optimizer, torch.Tensor)
    things: dict = {kind: [] for kind in kinds}
    for thing in gc.get_objects():
        kind = _kind(thing, kinds)
        if kind is not None:
            things[kind].append(thing)
    del thing
    walk = _Walk(torch)
    names = walk.add_modules(things[torch.nn.Module])
    walk.add_optimizers(things[torch.optim.Optimizer], names)
    for tensor in things[torch.Tensor]:
        try:
            is_parameter = isinstance(tensor, torch.nn.Parameter)
            gradient = tensor.grad if tensor.is_leaf and tensor.requires_grad else None
            role = WEIGHT if is_parameter else ACTIVATION if tensor.grad_fn is not None else INPUT
        except Exception:  # anybody's subclass
            continue
        walk.add(tensor, role)
        if gradient is not None:
            walk.add(gradient, GRADIENT)
    # In the order of roles: where a block has two, the first one stays.
    told = sorted(walk.found.values(), key=lambda found: found.role)
    named = {id(found) for found in sorted(told, key=lambda found: -found.bytes)[:_MOST_NAMED]}
    counts: TensorCounts = {}
    for found in told:
        name = _agent.name_of(_label(found), "tensor").ref if id(found) in named else None
        tell_tensor(ctypes.c_void_p(found.address), ctypes.c_uint32(found.role), name)
        by_role = counts.setdefault(found.device, collections.Counter())
        by_role[_ROLES[found.role]] += found.bytes
    return {device: dict(by_role) for device, by_role in counts.items()}
