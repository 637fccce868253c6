# Scopes and marks of Python programs are in the profile, to the byte: two tasks that take turns, a generator whose
# caller allocates between its steps.
export PYTHONPATH=$SOURCE/shared/python PYTHONDONTWRITEBYTECODE=1
cat >scopes.py <<'PY'
import asyncio

import heapprof

kept = []
@heapprof.scope("task", category="async")
async def task(size):
    for _ in range(3):
        kept.append(bytearray(size))
        await asyncio.sleep(0)
async def both():
    await asyncio.gather(task(1_000_000), task(2_000_000))
with heapprof.scope("all") as scope:
    scope.items = 7
    asyncio.run(both())
heapprof.mark("done")

@heapprof.scope("generator")
def generator():
    for _ in range(4):
        kept.append(bytearray(500_000))
        yield
for _ in generator():
    kept.append(bytearray(100_000))
PY
profile "$PYTHON" -W error scopes.py
expect_eq "exit status" "$status" 0
# A bytearray takes a byte more than was asked for.
scope() { json profile.json "[.heapprof.scopes.scopes[] | select(.name == \"$1\")][0] | \"\(.category) \(.begun_count) \(.ended_count) \(.left_open_count) \(.items_count) \(.memory[0].allocated_bytes) \(.memory[0].freed_bytes)\""; }
expect_eq "the tasks" "$(scope task)" "async 2 2 0 0 9000006 0"
expect_eq "the generator" "$(scope generator)" " 1 1 0 0 2000004 0"
expect_eq "the scope around the tasks" "$(scope all | cut -d' ' -f1-5)" " 1 1 0 7"
expect_eq "the mark" "$(json profile.json '[.heapprof.scopes.marks[].name] | join(",")')" done
