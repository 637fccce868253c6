// agent/hooks/python_objects.h: with --python-objects the agent wraps the allocator of CPython's objects.
//
// pymalloc takes arenas from the system and cuts objects out of them: the agent sees the pages, but not what uses them.
// The interpreter keeps its allocator's functions in a table that may be exchanged (PyMem_SetAllocator). The agent's
// wrapper calls the functions that were in the table before. It records where blocks begin and end, as inner blocks of
// wire::kPythonDevice.
//
// Guarantees
//  - The table is exchanged only if the user asked for it, and never once an interpreter runs, because other threads
//    may be using the table then.
//  - Each block is recorded once, however often the table was exchanged: only the agent's latest wrapper records.
//  - What the program puts into the table, before or after the agent, is called as without the agent.
// Context:  settle: start-up. The rest: wherever the interpreter allocates.
// Cost:     155 ns for each block that is allocated and freed (man/heapprof-run.1).
#pragma once

namespace heapprof::agent {

// If the user asked for it, wraps the allocator of an interpreter that the program started with. From now on the agent
// also looks for an interpreter that is loaded later, or that restores its own allocator before it runs. In a forked
// child this has already been done. pre: the arena is mapped; no dlclose is running in another thread
void settle_python_objects();

// To be called while objects are being unloaded: forgets the functions of an interpreter that is gone. The next
// interpreter is found as the first one was.
void forget_unloaded_objects();

}  // namespace heapprof::agent
