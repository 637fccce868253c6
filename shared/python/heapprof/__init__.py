# shared/python/heapprof/__init__.py: lets a Python program query the profiler that it runs under, and report to it.
"""Lets a Python program that runs under heapprof query it, and report to it.

    import heapprof

    before = heapprof.begin_phase()
    parse(file)
    after = heapprof.stats()
    if after is not None:                       # None: not under heapprof run
        print(after.live_bytes - before.live_bytes, "bytes kept")

    with heapprof.scope("parse") as s:          # heapprof run says what was allocated in there
        s.items = parse(file)

    @heapprof.scope("step", category="train")   # functions, coroutines and generators
    async def step(batch): ...

    heapprof.mark("loaded")

    with heapprof.measure() as m:               # which sites took the memory, while the program runs
        step(batch)
    print(m.peak_bytes, m.explain("peak"))

Without the profiler each function returns its default (False, None), and scopes and marks do nothing: such calls may
stay in a program. man heapprof-python says what is counted of Python, what a call costs, and how to set limits for
tests (heapprof.pytest_plugin).
"""
from __future__ import annotations

import collections
import ctypes

from heapprof import _agent, _tensors
from heapprof._measure import Measure
from heapprof._scopes import NoScope, Scope
from heapprof._tensors import TensorSnapshot


__all__ = [
    "HeapprofError", "Stats", "TensorSnapshot", "ThreadStats", "UnavailableError", "UnknownDeviceError", "begin_phase",
    "is_active", "mark", "measure", "name_block", "paused", "scope", "snapshot", "stats", "thread_stats", "version",
]


class HeapprofError(Exception):
    """The profiler is there, but could not do what was asked."""


class UnavailableError(HeapprofError):
    """The profiler could not answer, or did not in time; man 3 heapprof says when (HEAPPROF_UNAVAILABLE)."""


class UnknownDeviceError(HeapprofError, LookupError):
    """No device has that name."""


class Stats(collections.namedtuple("Stats", (
        "live_bytes", "live_blocks", "peak_bytes", "peak_blocks", "phase_peak_bytes", "phase_peak_blocks", "total_bytes",
        "total_blocks"))):
    """Statistics of a device; all are int. A phase begins with begin_phase(); without one, its peak is the peak."""

    __slots__ = ()


class ThreadStats(collections.namedtuple("ThreadStats", ("total_bytes", "total_blocks", "freed_blocks"))):
    """Statistics of the calling thread, on the host; all are int."""

    __slots__ = ()


_functions = _agent.functions
_is_recording = _functions.get("is_recording")
_get_stats = _functions.get("get_stats")
_begin_phase = _functions.get("begin_phase")
_get_thread_stats = _functions.get("get_thread_stats")
_mark = _functions.get("mark")
_name_block = _functions.get("name_block")
_pause_thread = _functions.get("pause_thread")
_resume_thread = _functions.get("resume_thread")
_snapshot = _functions.get("snapshot")
_tell_tensor = _functions.get("tell_tensor")
_version = _functions["version"]().decode() if "version" in _functions else None
_devices: dict = {}  # names of devices that have answered → the same as C strings


def is_active() -> bool:
    """Whether allocations of this process are recorded now."""
    return _is_recording is not None and _is_recording() != 0


def version() -> str | None:
    """The profiler's version, "0.1.0"; None without one."""
    return _version


def stats(device: str = "host") -> Stats | None:
    """The statistics of a device: "host", "mapped", "cuda:0" … as a profile names them.

    None if this process is not recorded. Raises UnknownDeviceError and UnavailableError. Waits for heapprof, usually
    2 ms at most; other threads of the interpreter can run during the wait.
    """
    return _of_device(_get_stats, device)


def begin_phase(device: str = "host") -> Stats | None:
    """Begins a phase of that device: its phase peak is the most that is live from now on, including what is live now.

    Returns the statistics of this moment, which are those of the phase that ends here, as stats() does. A device has
    one phase at a time, in the whole process.
    """
    given = _of_device(_begin_phase, device)
    if given is not None:
        _agent.Measurement.note_phase(device, given.phase_peak_bytes)
    return given


def measure(device: str = "host") -> Measure:
    """Measures what the body of a with statement takes on a device; explain() says which sites took it.

    It begins a phase of the device, as begin_phase() does. Measurements may be nested, and open in several threads.
    """
    return Measure(device)


def thread_stats() -> ThreadStats | None:
    """What the calling thread has allocated and freed on the host; None if this process is not recorded."""
    code, numbers = _agent.ask(_get_thread_stats, 3)
    return _checked(code, "host") and ThreadStats._make(numbers)


def scope(text: str, category: str | None = None) -> Scope | NoScope:
    """A scope with that name, for a with statement or as a decorator.

    What the thread allocates and frees between its begin and its end belongs to the innermost open scope. items, which
    the program may set until the end, says how much work was done. A scope can be used again when it has ended. The
    decorator leaves the scope while a coroutine or generator is suspended; a with statement does not, so use await and
    yield in one only in a function that is decorated.

    The profiler keeps 120 bytes of the names. They stay in memory until the process ends: use a small set of names.
    """
    if type(text) is not str or category is not None:  # otherwise there is nothing to check
        _check_names(text, category)
    return Scope(_agent.name_of(text, category)) if _agent.has_scopes else NoScope()


def mark(text: str, category: str | None = None) -> None:
    """Marks this moment with that name: the profile says how much was live."""
    _check_names(text, category)
    if _mark is not None:
        _mark(_agent.name_of(text, category).ref)


def snapshot(text: str, category: str | None = None, tensors: bool = False) -> TensorSnapshot | None:
    """Marks this moment as mark() does, and saves what is live, by where it was allocated, in the profile
    (heapprof report --snapshots), whatever heapprof run --interval says.

    With tensors=True it also saves what PyTorch's tensors are for: weights, gradients, optimizer state, activations,
    inputs and other data, each by the place that allocated it, and the largest by name, type and shape. It looks at all
    objects of the garbage collector, some ten million a second. Returns what was found; None if this process is not
    recorded, or without tensors=True. Raises HeapprofError if the program has not imported torch.
    """
    _check_names(text, category)
    if _snapshot is None or not is_active():
        return None
    found = None
    if tensors:
        if not _tensors.has_torch():
            raise HeapprofError("tensors=True, but the program has not imported torch: import it before the snapshot")
        with _PAUSED:
            found = _tensors.look(text, _tell, _live_bytes_of_tensors)
    _snapshot(_agent.name_of(text, category).ref, ctypes.c_int(1 if tensors else 0))
    return found


def _tell(address: int, role: int, label: str | None) -> None:
    name = None if label is None else _agent.name_of(label, "tensor").ref
    _tell_tensor(ctypes.c_void_p(address), ctypes.c_uint32(role), name)


def _live_bytes_of_tensors(device: str) -> int | None:
    """What PyTorch's allocator has given out there; None if the profiler does not count that separately."""
    if not device.startswith("cuda:"):
        return None
    try:
        given = stats(device + "/tensors")
    except HeapprofError:
        return None
    return None if given is None else given.live_bytes


def name_block(address: int, text: str, category: str | None = None) -> None:
    """Gives that name to the memory that begins at that address, such as a tensor's data_ptr()."""
    _check_names(text, category)
    if not isinstance(address, int):
        raise TypeError(f"an address is an int, not {type(address).__name__}")
    if _name_block is not None:
        _name_block(ctypes.c_void_p(address), _agent.name_of(text, category).ref)


class _Paused:
    __slots__ = ()

    def __enter__(self) -> None:
        if _pause_thread is not None:
            _pause_thread()

    def __exit__(self, *error) -> None:
        if _resume_thread is not None:
            _resume_thread()


_PAUSED = _Paused()


def paused() -> _Paused:
    """For a with statement: what the calling thread allocates in its body is left out of the profile."""
    return _PAUSED


def _check_names(text, category) -> None:
    if not isinstance(text, str) or not (category is None or isinstance(category, str)):
        raise TypeError("names of scopes, marks and memory, and their categories, are of type str")


def _of_device(function, device):
    name = _devices.get(device)
    if name is None:
        if not isinstance(device, str):
            raise TypeError(f"a device is named by a str, not {type(device).__name__}")
        if function is None:
            return None
        name = device.encode("utf-8", "backslashreplace")
    code, numbers = _agent.ask(function, 8, name)
    if not _checked(code, device):
        return None
    _devices[device] = name
    return Stats._make(numbers)


def _checked(code: int, device: str):
    """True for an answer, None if no profiler records; else raises."""
    if code == _agent.OK:
        return True
    if code == _agent.INACTIVE:
        return None
    if code == _agent.UNKNOWN_DEVICE:
        raise UnknownDeviceError(f"heapprof knows no device '{device}'; devices are host, mapped, cuda:0 and so on")
    raise UnavailableError("heapprof could not answer, or did not in time (man 3 heapprof says when)")
