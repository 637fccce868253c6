# shared/python/heapprof/_limits.py: parses limits of tests from marks and settings, and writes numbers as heapprof
# does.
"""Limits of tests: sizes, the keys of the mark, and how a measurement is compared with them."""
from __future__ import annotations

import fractions
import re

_UNITS = {"": 1, "B": 1, "kB": 1000}
_UNITS.update({f"{prefix}iB": 1024**power for power, prefix in enumerate("KMGTPE", 1)})
_UNITS.update({f"{prefix}B": 1000**power for power, prefix in enumerate("MGTPE", 2)})

# Key of the mark → the number of a measurement that it limits, whether that is bytes, and its words in messages.
KEYS = {
    "max_peak": ("peak_bytes", True, "above what was live at its begin"),
    "max_leaked": ("kept_bytes", True, "live at its end and not at its begin"),
    "max_bytes": ("total_bytes", True, "allocated, all in all"),
    "max_allocations": ("total_blocks", False, "blocks allocated"),
}
# The measures by which sites are shown: HEAPPROF_PEAK and so on in heapprof/heapprof.h.
MEASURES = {"max_peak": 1, "max_leaked": 4, "max_bytes": 2, "max_allocations": 3}


def parse_limit(key: str, value) -> int | None:
    """A limit as a number; None and the word none mean no limit. Raises ValueError, which says what was expected."""
    if value is None or value == "none":
        return None
    is_bytes = KEYS[key][1]
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str) and is_bytes:
        found = re.fullmatch(r"(\d+(?:\.\d+)?)(?: ?([A-Za-z]+))?", value, re.ASCII)
        if found and (found[2] or "") in _UNITS:
            return int(fractions.Fraction(found[1]) * _UNITS[found[2] or ""])
    if isinstance(value, str) and not is_bytes and re.fullmatch(r"\d+", value, re.ASCII):
        return int(value)
    wanted = "a size with its unit, such as '64MiB', '1.5 GiB' or '4kB', or a number of bytes" if is_bytes else "a number"
    raise ValueError(f"{key} is {wanted}, and not {value!r}")


def format_bytes(count: int) -> str:
    """IEC units and three significant digits, rounded half up: 1.92 GiB, 40.2 MiB, 1010 KiB, 17 B."""
    if count < 0:
        return "-" + format_bytes(-count)
    if count < 1024:
        return f"{count} B"
    for power, prefix in enumerate("KMGTPE", 1):
        unit = 1024**power
        for decimals in (2, 1, 0):
            scaled = (count * 10**decimals * 2 + unit) // (2 * unit)
            if scaled < (1000 if decimals else 1024):
                digits = str(scaled).rjust(decimals + 1, "0")
                number = f"{digits[:-decimals]}.{digits[-decimals:]}" if decimals else digits
                return f"{number} {prefix}iB"
    return f"{count:,} B"


def format_exact(count: int, is_bytes: bool) -> str:
    if not is_bytes:
        return f"{count:,}"
    return format_bytes(count) if abs(count) < 1024 else f"{format_bytes(count)} ({count:,} B)"


def broken(limits: dict, numbers: dict) -> list:
    """The key and a line for each limit that the numbers exceed."""
    lines = []
    for key, (number, is_bytes, what) in KEYS.items():
        limit = limits.get(key)
        if limit is not None and numbers[number] > limit:
            found = format_exact(numbers[number], is_bytes)
            lines.append((key, f"{key}: need at most {format_exact(limit, is_bytes)}, found {found} {what}"))
    return lines
