# shared/python/heapprof/_tensors.py: which tensors of PyTorch a program has at a moment, and what each of them is for.
"""What the garbage collector's tensors are for: weights, gradients, optimizer state, inputs, activations.

Tensors that share a storage (views) count as one here, by device and address. A storage keeps the first role that it
gets. A tensor that an operation keeps for the backward pass is found if it passed through Python: its object lives on
with it. Others that operations keep are not found. Only numbers and text leave this module: it prolongs no tensor's
life.

Objects of a program are not trusted: proxies lie about their class, and tensors of all kinds raise when their memory is
queried. The class is read as C has it, attributes are read by PyTorch's own getters, and tensors that raise are
counted.
"""
from __future__ import annotations

import collections
import contextlib
import gc
import sys

WEIGHTS, GRADIENTS, OPTIMIZER = "weights", "gradients", "optimizer state"
INPUTS, ACTIVATIONS = "inputs and other data", "activations"
ROLES = (WEIGHTS, GRADIENTS, OPTIMIZER, INPUTS, ACTIVATIONS)
# The agent's numbers: enum TensorRole of shared/scopes.h.
NUMBERS = {WEIGHTS: 1, GRADIENTS: 2, OPTIMIZER: 3, ACTIVATIONS: 4, INPUTS: 5}
LARGEST = 10
_NAMED = 30  # so many of the largest get a name in the profile: names stay in the profiler's memory until its end
_DEPTH = 4  # how deep lists and dicts of an optimizer's state are searched

# Read these as C has them, whatever a metaclass says.
_bases_of = type.__dict__["__mro__"].__get__
_name_of_class = type.__dict__["__name__"].__get__


class RoleSum(collections.namedtuple("RoleSum", ("bytes", "tensors"))):
    """One role on one device: the bytes of its storages, and how many storages they are."""

    __slots__ = ()


class LargeTensor(collections.namedtuple("LargeTensor", (
        "bytes", "device", "role", "name", "dtype", "shape", "requires_grad"))):
    """One of the largest; the name is empty if it is not known."""

    __slots__ = ()


class TensorSnapshot:
    """The tensors at one moment, summed by device and role."""

    __slots__ = ("name", "devices", "largest", "untold_bytes", "unreadable")

    def __init__(self, name, devices, largest, untold_bytes, unreadable):
        self.name = name                  # the snapshot's
        self.devices = devices            # device → role → RoleSum, as in ROLES
        self.largest = largest            # LargeTensor's, the largest first
        self.untold_bytes = untold_bytes  # device → bytes that its allocator gave to tensors that are not in devices
        self.unreadable = unreadable      # how many tensors did not say where their memory is

    def __repr__(self):
        return f"<heapprof.TensorSnapshot {self.name!r}>"

    def __str__(self):
        lines = [f'TENSORS at "{self.name}"']
        for device, roles in self.devices.items():
            untold = self.untold_bytes.get(device)
            whole = sum(one.bytes for one in roles.values()) + (untold or 0)
            lines.append(device)
            for role, one in roles.items():
                lines.append(_row(one.bytes, whole, role, f"{one.tensors}"))
            if untold is None:
                lines.append(f"  {'':>15}         and what Python never saw (heapprof report)")
            else:
                lines.append(_row(untold, whole, "what Python never saw, and rounding", ""))
        lines.append("the largest")
        for one in self.largest:
            shape = "[" + ", ".join(map(str, one.shape)) + "]"
            lines.append(f"  {one.bytes:>15,}  {one.device}  {one.name or one.role}  {one.dtype} {shape}")
        if self.unreadable:
            tensors = "tensor" if self.unreadable == 1 else "tensors"
            lines.append(f"{self.unreadable} {tensors} did not say where their memory is")
        return "\n".join(lines)


def _row(size, whole, what, count):
    return f"  {size:>15,}  {100 * size / whole if whole else 0:5.1f}%  {what:24}  {count}".rstrip()


class _Book:
    """The storages that have been found."""

    def __init__(self, torch):
        self.told: dict = {}       # (device, address) → [bytes, role, name, dtype, shape, requires_grad]
        self.unreadable: set = set()  # by id(); the objects live while the book is kept
        self._of_tensor = torch.Tensor
        self._untyped = getattr(torch.Tensor, "untyped_storage", None)  # from PyTorch 2.0 on
        getter = torch.Tensor
        self._device, self._dtype, self._layout = getter.device, getter.dtype, getter.layout
        self._shape, self._requires_grad, self._grad_fn, self._grad = (
            getter.shape, getter.requires_grad, getter.grad_fn, getter.grad)
        self._parts = {
            torch.sparse_coo: ("_indices", "_values"),
            **{getattr(torch, f"sparse_{name}"): parts for name, parts in (
                ("csr", ("crow_indices", "col_indices", "values")), ("csc", ("ccol_indices", "row_indices", "values")),
                ("bsr", ("crow_indices", "col_indices", "values")), ("bsc", ("ccol_indices", "row_indices", "values")),
            ) if hasattr(torch, f"sparse_{name}")}}

    def tell(self, tensor, role: str, name: str) -> None:
        try:
            parts = self._parts.get(self._layout.__get__(tensor))
            if parts is None:
                return self._tell_dense(tensor, role, name)
            for part in parts:
                self._tell_dense(getattr(self._of_tensor, part)(tensor), role, name and f"{name}.{part.lstrip('_')}")
        except Exception:  # the tensor has no memory of its own, or does not say where it is
            self.unreadable.add(id(tensor))

    def _tell_dense(self, tensor, role, name):
        device = str(self._device.__get__(tensor))
        if device == "meta":
            return
        if self._untyped is not None:
            storage = self._untyped(tensor)
        else:
            storage = self._of_tensor.storage(tensor).untyped()
        address, size = storage.data_ptr(), storage.nbytes()
        if address == 0 or size == 0 or (device, address) in self.told:
            return
        dtype = str(self._dtype.__get__(tensor)).replace("torch.", "")
        self.told[device, address] = [
            size, role, name, dtype, tuple(self._shape.__get__(tensor)), self._requires_grad.__get__(tensor)]

    def grad_of(self, tensor):
        """The gradient of a leaf tensor, or None."""
        try:
            return self._grad.__get__(tensor) if self._grad_fn.__get__(tensor) is None else None
        except Exception:
            return None

    def rank_of(self, tensor):
        """For tensors that no module and no optimizer has: a storage gets the role of its tensor with the lowest rank.

        The result of an operation often also lives as a detached view, which looks like an input.
        """
        try:
            if self._grad_fn.__get__(tensor) is not None:
                return 1
            return 0 if self._requires_grad.__get__(tensor) else 2
        except Exception:
            return 2


def _sort(objects, torch):
    """The tensors, modules and optimizers among them, with no call into the objects or their classes."""
    optimizer = getattr(getattr(torch, "optim", None), "Optimizer", None)
    found = {torch.Tensor: [], torch.nn.Module: [], optimizer: []}
    wanted = [(base, of_base) for base, of_base in found.items() if base is not None]
    of_class: dict = {}  # by id(): a metaclass may have any __hash__
    for one in objects:
        kind = type(one)
        try:
            where = of_class[id(kind)]
        except KeyError:
            bases = _bases_of(kind)
            where = next((of_base for base, of_base in wanted if any(base is other for other in bases)), None)
            of_class[id(kind)] = where
        if where is not None:
            where.append(one)
    return found[torch.Tensor], found[torch.nn.Module], found[optimizer]


def _entries(owner, attribute) -> list:
    """The items of a dict that is an attribute of the object itself; empty if there is no such dict."""
    try:
        return _pairs_of(object.__getattribute__(owner, "__dict__")[attribute])
    except Exception:
        return []


def _pairs_of(entries) -> list:
    """The items of a dict or something like it; raises for anything else."""
    return [(key, value) for key, value in list(entries.items())]


def _text_of(key) -> str:
    return key if type(key) is str else "?"


def _named_tensors(modules, is_tensor) -> list:
    """Parameters, buffers and their names, as the outermost module that has them calls them."""
    children = {id(child) for module in modules for _, child in _entries(module, "_modules")}
    seen: set = set()
    parameters, buffers = [], []
    outermost = [module for module in modules if id(module) not in children]
    for root in outermost + modules:  # modules that contain each other have no outermost one
        pending = [(root, "")]
        while pending:
            module, prefix = pending.pop()
            if module is None or id(module) in seen:
                continue
            seen.add(id(module))
            parameters += [(one, prefix + _text_of(name)) for name, one in _entries(module, "_parameters")]
            buffers += [(one, prefix + _text_of(name)) for name, one in _entries(module, "_buffers")]
            children_here = reversed(_entries(module, "_modules"))
            pending += [(child, f"{prefix}{_text_of(name)}.") for name, child in children_here]
    return [[(one, name) for one, name in some if is_tensor(one)] for some in (parameters, buffers)]


def _tensors_in(value, is_tensor, depth=_DEPTH):
    if is_tensor(value):
        yield value
    elif depth > 0 and any(type(value) is kind for kind in (list, tuple, dict)):  # "in" would ask a metaclass
        for one in list(value.values() if type(value) is dict else value):
            yield from _tensors_in(one, is_tensor, depth - 1)


def _tell_all(book, objects, torch) -> None:
    tensors, modules, optimizers = _sort(objects, torch)

    def is_tensor(one):
        return any(base is torch.Tensor for base in _bases_of(type(one)))

    parameters, buffers = _named_tensors(modules, is_tensor)
    name_by_id = {id(one): name for one, name in parameters}
    for optimizer in optimizers:  # a tensor that it trains is a weight, in a module or not
        groups = _entries_of_groups(optimizer)
        for index, one in enumerate(_tensors_in(groups, is_tensor)):
            if id(one) not in name_by_id:
                name_by_id[id(one)] = f"parameter {index} of {_name_of_class(type(optimizer))}"
                parameters.append((one, name_by_id[id(one)]))
    is_parameter = getattr(torch.nn, "Parameter", None)
    parameters += [(one, "") for one in tensors
                   if id(one) not in name_by_id and any(base is is_parameter for base in _bases_of(type(one)))]
    for one, name in parameters + buffers:
        book.tell(one, WEIGHTS, name)
    for one, name in parameters:
        gradient = book.grad_of(one)
        if gradient is not None:
            book.tell(gradient, GRADIENTS, name and f"{name}.grad")
    for optimizer in optimizers:
        for owner, state in _entries(optimizer, "state"):
            of = name_by_id.get(id(owner), "")
            try:
                values = _pairs_of(state)
            except Exception:  # the state is not a dict
                values = [("", state)]
            for key, value in values:
                name = f"{_name_of_class(type(optimizer))} {_text_of(key)}" + (of and f" of {of}")
                for one in _tensors_in(value, is_tensor):
                    book.tell(one, OPTIMIZER, name)
    for one in tensors:
        gradient = book.grad_of(one)
        if gradient is not None:
            book.tell(gradient, GRADIENTS, "")
    ranked = [(one, book.rank_of(one)) for one in tensors]
    for rank in (0, 1, 2):
        for one, of_it in ranked:
            if of_it == rank:
                book.tell(one, ACTIVATIONS if rank == 1 else INPUTS, "")


def _entries_of_groups(optimizer) -> list:
    try:
        return [group["params"] for group in object.__getattribute__(optimizer, "__dict__")["param_groups"]]
    except Exception:
        return []


def _label(entry) -> str:
    """"fc1.weight float32 [512, 256]"."""
    _, _, name, dtype, shape, _ = entry
    return f"{name} {dtype} [{', '.join(map(str, shape))}]".lstrip()


def look(name: str, tell, live_bytes_of) -> TensorSnapshot:
    """The tensors at this moment. Calls tell(address, role's number, label or None) for each storage found.
    live_bytes_of(device) may return None."""
    torch = sys.modules["torch"]
    book = _Book(torch)
    with getattr(torch._C, "DisableTorchFunction", contextlib.nullcontext)():
        objects = gc.get_objects()
        _tell_all(book, objects, torch)
        del objects
    by_size = sorted(book.told.items(), key=lambda item: (-item[1][0], item[0]))
    named = dict(by_size[:_NAMED])
    devices: dict = {}
    for key, entry in book.told.items():
        size, role = entry[:2]
        tell(key[1], NUMBERS[role], _label(entry) if key in named else None)
        roles = devices.setdefault(key[0], dict.fromkeys(ROLES, RoleSum(0, 0)))
        roles[role] = RoleSum(roles[role].bytes + size, roles[role].tensors + 1)
    untold = {}
    for device, roles in devices.items():
        live_bytes = live_bytes_of(device)
        if live_bytes is not None:
            untold[device] = max(0, live_bytes - sum(one.bytes for one in roles.values()))
    return TensorSnapshot(
        name, dict(sorted(devices.items())),
        [LargeTensor(entry[0], device, *entry[1:]) for (device, _), entry in by_size[:LARGEST]], untold,
        len(book.unreadable))


def has_torch() -> bool:
    torch = sys.modules.get("torch")  # it may be half imported
    return all(hasattr(torch, name) for name in ("Tensor", "nn", "_C")) and hasattr(torch.nn, "Module")
