# shared/python/heapprof/_agent.py: finds the preloaded agent, and calls its functions without leaving memory behind.
"""The agent's functions, and the memory of their arguments.

A call by ctypes allocates unless its arguments exist already. So this module makes what a call needs before the call,
and reuses it: between two readings of a program's numbers it allocates nothing that is live at the second one but not
at the first.

A function that waits for heapprof releases the interpreter's lock (CFUNCTYPE). One that does not wait keeps it
(PYFUNCTYPE): releasing it would cost more than the call, and would let other threads run in between.
"""
from __future__ import annotations

import ctypes
import struct
import sys

OK, INACTIVE, UNAVAILABLE, UNKNOWN_DEVICE = 0, -1, -2, -3

# In the order of struct heapprof_functions. An agent with fewer functions is older, one with more is newer.
_FUNCTIONS = (
    ("is_recording", ctypes.PYFUNCTYPE, ctypes.c_int),  # waits in a forked child only, which has one thread
    ("version", ctypes.PYFUNCTYPE, ctypes.c_char_p),
    ("get_stats", ctypes.CFUNCTYPE, ctypes.c_int),
    ("begin_phase", ctypes.CFUNCTYPE, ctypes.c_int),
    ("get_thread_stats", ctypes.CFUNCTYPE, ctypes.c_int),
    ("begin_scope", ctypes.PYFUNCTYPE, None),
    ("end_scope", ctypes.PYFUNCTYPE, None),
    ("leave_scope", ctypes.PYFUNCTYPE, None),
    ("enter_scope", ctypes.PYFUNCTYPE, None),
    ("mark", ctypes.PYFUNCTYPE, None),
    ("begin_measurement", ctypes.CFUNCTYPE, ctypes.c_int),
    ("end_measurement", ctypes.CFUNCTYPE, ctypes.c_int),
    ("explain_measurement", ctypes.CFUNCTYPE, ctypes.c_int),
    ("name_block", ctypes.PYFUNCTYPE, None),
    ("pause_thread", ctypes.PYFUNCTYPE, None),
    ("resume_thread", ctypes.PYFUNCTYPE, None),
    ("tell_tensor", ctypes.PYFUNCTYPE, None),
    ("snapshot", ctypes.PYFUNCTYPE, None),
)
_OF_SCOPES = ("begin_scope", "end_scope", "leave_scope", "enter_scope")


def _find() -> dict:
    """The functions of the agent in this process by name; empty if there is no agent."""
    if sys.platform != "linux":
        return {}
    try:
        give = ctypes.PyDLL(None).heapprof_agent_functions
    except (OSError, AttributeError):  # an interpreter without a dynamic loader, or no such symbol
        return {}
    give.restype = ctypes.c_void_p
    table = give()
    if not table:
        return {}
    # The prototypes name no arguments, so that ctypes passes its arguments unchanged and makes no object for them.
    addresses = (ctypes.c_void_p * ctypes.c_uint32.from_address(table).value).from_address(table + 8)
    return {name: prototype(result)(address) for (name, prototype, result), address in zip(_FUNCTIONS, addresses)}


functions = _find()
has_scopes = all(name in functions for name in _OF_SCOPES)


class Name:
    """A struct heapprof_name. It lives as long as the interpreter does."""

    __slots__ = ("ref", "_parts")

    class _Struct(ctypes.Structure):
        _fields_ = [("category", ctypes.c_char_p), ("text", ctypes.c_char_p), ("key", ctypes.c_uint64)]

    def __init__(self, category, text):
        self._parts = self._Struct(None if category is None else _encoded(category), _encoded(text), 0)
        self.ref = ctypes.byref(self._parts)


def _encoded(text: str) -> bytes:
    """As a C string. Characters that such a string cannot hold become escape sequences."""
    return text.encode("utf-8", "backslashreplace").replace(b"\0", b"\\x00")


_names: dict = {}  # category (may be None) → text → Name; entries are never removed


def name_of(text, category) -> Name:
    try:
        return _names[category][text]
    except KeyError:
        # If two threads add the same name at once, both get the one that was put in first.
        return _names.setdefault(category, {}).setdefault(text, Name(category, text))


class Slot:
    """A struct heapprof_scope that is reused."""

    __slots__ = ("ref", "id", "items", "_parts")

    def __init__(self):
        self._parts = (ctypes.c_uint64 * 4)()
        self.ref = ctypes.byref(self._parts)
        # Such an object is false if all its bytes are zero. Testing that allocates nothing, while reading the number
        # would.
        self.id = ctypes.c_uint64.from_buffer(self._parts)
        self.items = ctypes.c_uint64.from_buffer(self._parts, 8)


class Answer:
    """Where the agent writes numbers: a struct heapprof_stats, or heapprof_thread_stats."""

    __slots__ = ("ref", "_parts", "_layout")

    def __init__(self, count: int):
        self._parts = (ctypes.c_uint64 * count)()
        self._layout = struct.Struct(f"={count}Q")
        self.ref = ctypes.byref(self._parts)

    def numbers(self) -> tuple:
        return self._layout.unpack(self._parts)


_idle_answers = {count: [Answer(count)] for count in (3, 8)} if functions else {}


def ask(function, count: int, *arguments):
    """What the function returned, and its numbers (INACTIVE and no numbers if it does not exist)."""
    if function is None:
        return INACTIVE, ()
    idle = _idle_answers[count]
    try:
        answer = idle.pop()
    except IndexError:  # other threads use them all
        answer = Answer(count)
    code = function(*arguments, answer.ref)
    numbers = answer.numbers() if code == OK else ()
    idle.append(answer)
    return code, numbers


class Measurement:
    """What a stretch of a program's work takes on a device. It allocates nothing between its begin and its end.

    running: all that have begun and not ended. They are notified of phases that others begin in that time.
    """

    running: list = []

    def __init__(self, device: str):
        self.device = device
        self.code = INACTIVE     # result of the last query
        self.numbers: dict = {}  # filled when it has ended
        self._name = _encoded(device)
        self._before, self._after = Answer(8), Answer(8)
        self._peaks: list = []  # peaks of the phases that others began
        self._id = ctypes.c_uint64(0)
        self._id_ref = ctypes.byref(self._id)
        self._yes = ctypes.c_int(1)

    def begin(self) -> None:
        Measurement.running.append(self)
        begin = functions.get("begin_measurement")
        self.code = begin(self._name, self._yes, self._before.ref, self._id_ref) if begin else INACTIVE
        if len(Measurement.running) > 1 and self.code == OK:  # other measurements are running
            self.note_phase(self.device, self._before.numbers()[4], self)

    def end(self) -> None:
        if self.code == OK:
            self.code = functions["end_measurement"](self._name, self._id, self._after.ref)
        Measurement.running.remove(self)
        if self.code == OK:
            before, after = self._before.numbers(), self._after.numbers()
            self.numbers = {
                "peak_bytes": max([after[4], *self._peaks]) - before[0],
                "total_bytes": after[6] - before[6],
                "kept_bytes": after[0] - before[0],
                "total_blocks": after[7] - before[7],
            }

    def explain(self, measure: int) -> list:
        """The sites, as lines; empty if they are not known. Waits for names: tenths of a second, 20 s at most."""
        text = ctypes.create_string_buffer(4096)
        explain = functions.get("explain_measurement")
        if not self.numbers or explain is None or explain(self._id, measure, text, ctypes.c_uint64(len(text))) != OK:
            return []
        return text.value.decode("utf-8", "replace").splitlines()

    @classmethod
    def note_phase(cls, device: str, phase_peak_bytes: int, by=None) -> None:
        """The program, or the measurement `by`, ended the device's phase."""
        for one in cls.running:
            if one.device == device and one is not by:
                one._peaks.append(phase_peak_bytes)
