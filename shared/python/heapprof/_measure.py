# shared/python/heapprof/_measure.py: what a with statement's body takes, and at which sites.
"""A measurement for programs; tests have the plugin for pytest."""
from __future__ import annotations

from heapprof import _agent, _limits

_MEASURES = {"peak": _limits.MEASURES["max_peak"], "bytes": _limits.MEASURES["max_bytes"],
             "allocations": _limits.MEASURES["max_allocations"], "kept": _limits.MEASURES["max_leaked"]}


class Measure:
    """What the body of a with statement takes on a device; all threads count.

    After it: peak_bytes (above what was live at its begin), total_bytes and total_blocks (allocated), kept_bytes (live
    at its end and not at its begin, negative if more was freed). None if this process is not recorded.
    """

    def __init__(self, device: str = "host"):
        if not isinstance(device, str):
            raise TypeError(f"a device is named by a str, not {type(device).__name__}")
        self._device = device
        self._of = _agent.Measurement(device)

    def __enter__(self) -> Measure:
        self._of = _agent.Measurement(self._device)
        self._of.begin()
        return self

    def __exit__(self, *exception) -> None:
        self._of.end()
        if exception == (None, None, None):
            from heapprof import _checked
            _checked(self._of.code, self._device)

    def explain(self, what: str = "peak") -> str | None:
        """The sites, the largest first, with their stacks, as lines of text: of the "peak", of "bytes" or "allocations"
        (all that was allocated), or of "kept".

        Stacks are those of native code. The call looks up names: it usually waits some tenths of a second, and 20 s at
        most. None if the measurement has not ended, or the sites are not known.
        """
        if what not in _MEASURES:
            raise ValueError(f"what is one of {', '.join(_MEASURES)}, not {what!r}")
        return "\n".join(self._of.explain(_MEASURES[what])) or None


def _number(name: str) -> property:
    return property(lambda self: self._of.numbers.get(name))


for _name in ("peak_bytes", "total_bytes", "total_blocks", "kept_bytes"):
    setattr(Measure, _name, _number(_name))
