#!/usr/bin/env python3
"""Counts the words in a process's mapped files that lead into the agent's code.

usage: pointers_into_agent.py PID     prints how many; needs what ptrace needs
"""
import struct
import sys

pid = int(sys.argv[1])
mappings = []
with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
    for line in maps:
        parts = line.split()
        start, end = (int(part, 16) for part in parts[0].split("-"))
        mappings.append((start, end, parts[1], parts[5] if len(parts) > 5 else ""))
code = [(start, end) for start, end, flags, name in mappings if "libheapprof" in name and "x" in flags]
count = 0
with open(f"/proc/{pid}/mem", "rb", 0) as memory:
    for start, end, flags, name in mappings:
        if not name.startswith("/") or "libheapprof" in name or "r" not in flags:
            continue
        try:
            memory.seek(start)
            data = memory.read(end - start)
        except OSError:  # unloaded meanwhile
            continue
        words = struct.unpack(f"<{len(data) // 8}Q", data[:len(data) // 8 * 8])
        count += sum(low <= word < high for word in words for low, high in code)
print(count)
