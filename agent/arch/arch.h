// agent/arch/arch.h: what the agent's sources need of the processor and its ABI.
//
// Each architecture has a folder with files of the same names, and arch.h includes the headers of the one that the
// agent is built for. The folder's headers include nothing else of the agent. agent/README.md says what a folder
// brings.
#pragma once

#if defined(__x86_64__)
#include "agent/arch/x86_64/code.h"
#include "agent/arch/x86_64/entries.h"
#include "agent/arch/x86_64/frames.h"
#include "agent/arch/x86_64/inner_entry.h"
#include "agent/arch/x86_64/instructions.h"
#include "agent/arch/x86_64/registers.h"
#elif defined(__aarch64__)
#include "agent/arch/aarch64/code.h"
#include "agent/arch/aarch64/entries.h"
#include "agent/arch/aarch64/frames.h"
#include "agent/arch/aarch64/instructions.h"
#include "agent/arch/aarch64/registers.h"
#else
#error \
    "The agent knows x86-64 and AArch64 alone. Another architecture needs a folder of its own beside these in agent/arch."
#endif
