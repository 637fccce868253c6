// agent/hooks/python_objects.h: with --python-objects the agent wraps the allocator of CPython's objects.
//
// pymalloc takes arenas from the system and cuts objects out of them: the agent sees the pages, but not what uses them.
// The interpreter keeps its allocator's functions in a table that may be exchanged (PyMem_SetAllocator). The agent's
// wrapper calls what was there and records what begins and ends, as inner blocks of wire::kPythonDevice.
//
// Guarantees
//  - Nothing is exchanged where it was not asked for, or once an interpreter runs: other threads may be in the table.
//  - Each block is recorded once, however often the table was exchanged: only the agent's latest wrapper records.
//  - What the program puts into the table, before or after the agent, is called as without the agent.
// Context:  settle: start-up. The rest: wherever the interpreter allocates.
// Cost:     155 ns a block that comes and goes (man/heapprof-run.1).
#pragma once

namespace heapprof::agent {

// Wraps the allocator of an interpreter that the program started with, if that was asked for. From now on it also looks
// for an interpreter that is loaded, or that restores its own allocator before it runs. In a forked child, that has
// been done. pre: the arena is mapped; no dlclose is running in another thread
void settle_python_objects();

// Objects are being unloaded: forgets the functions of an interpreter that is gone. The next one is found as the first
// one was.
void forget_unloaded_objects();

}  // namespace heapprof::agent
