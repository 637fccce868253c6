# Scopes in Python: which functions of the agent are called, in which order and how, for functions, coroutines and
# generators. An agent that writes down what it is asked stands in for the real one, and the program does the same
# without it.
have gcc || skip "gcc is not installed"
export PYTHONPATH=$SOURCE/shared/python PYTHONDONTWRITEBYTECODE=1
cat >agent.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <heapprof/heapprof.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// Each call is a line: whether the interpreter's lock is held, what was called, and with what.
static void say(const char* format, ...) {
  static FILE* file;
  if (file == NULL) file = fopen(getenv("CALLS"), "a");
  int (*has_lock)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "PyGILState_Check");
  va_list arguments;
  va_start(arguments, format);
  fputs(has_lock() ? "held " : "free ", file);
  vfprintf(file, format, arguments);
  fputc('\n', file);
  fflush(file);
  va_end(arguments);
}

static uint64_t g_scopes, g_names;
static const char* known(heapprof_name* name) {
  static char text[200];
  if (name->key == 0) name->key = ++g_names;
  snprintf(text, sizeof text, "%s/%s=%lu", name->category ? name->category : "", name->text, (unsigned long)name->key);
  return text;
}

// What the thread has allocated since the last begin: with PYTHONMALLOC=malloc, every object.
extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
static __thread unsigned t_blocks;
void* malloc(size_t size) { return ++t_blocks, __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return ++t_blocks, __libc_calloc(count, size); }
void* realloc(void* block, size_t size) { return ++t_blocks, __libc_realloc(block, size); }

static int is_recording(void) { return 1; }
static const char* version(void) { return "9.9.9"; }
static int get_stats(const char* device, heapprof_stats* stats) {
  say("stats %s", device);
  stats->live_bytes = 1ull << 63;
  return HEAPPROF_OK;
}
static int begin_phase(const char* device, heapprof_stats* stats) { return say("phase %s", device), get_stats(device, stats); }
static int get_thread_stats(heapprof_thread_stats* stats) { return stats->freed_blocks = 5, say("thread"), HEAPPROF_OK; }
static void begin_scope(heapprof_scope* scope, heapprof_name* name) {
  scope->id = ++g_scopes << 32;  // the low half of it is zero
  say("begin %lu %s", (unsigned long)g_scopes, known(name));
  t_blocks = 0;
}
static void end_scope(const heapprof_scope* scope) {
  if (getenv("BLOCKS") != NULL) say("%u blocks", t_blocks);
  say("end %lu %lu", (unsigned long)(scope->id >> 32), (unsigned long)scope->items);
}
static void leave_scope(const heapprof_scope* scope) { say("leave %lu", (unsigned long)(scope->id >> 32)); }
static void enter_scope(const heapprof_scope* scope) { say("enter %lu", (unsigned long)(scope->id >> 32)); }
static void mark(heapprof_name* name) { say("mark %s", known(name)); }

const struct heapprof_functions* heapprof_agent_functions(void) {
  static struct heapprof_functions functions = {
      10 /* of before measurements */, is_recording, version, get_stats,   begin_phase, get_thread_stats, begin_scope,
      end_scope,                leave_scope,  enter_scope, mark, 0, 0, 0, 0, 0, 0, 0, 0};
  if (getenv("COUNT") != NULL) functions.count = (uint32_t)atoi(getenv("COUNT"));
  return &functions;
}
C
gcc -Wall -Wextra -Werror -O1 -shared -fPIC -I"$SOURCE/shared/include" agent.c -o agent.so

# calls NAME: runs NAME.py without the agent and with it; the words it says have to be the same. Its calls have to be
# those on stdin.
calls() {
  cat >want.txt
  rm -f calls.txt
  : >calls.txt
  expect_status 0 "$PYTHON" -W error "$1.py"
  cp out.txt without.txt
  CALLS=calls.txt LD_PRELOAD=$PWD/agent.so expect_status 0 "$PYTHON" -W error "$1.py"
  diff without.txt out.txt || fail "$1: says something else with the agent"
  [ -s out.txt ] || fail "$1: says nothing"
  sed 's/^held //' calls.txt | diff want.txt - || fail "$1: other calls"
}

cat >blocks.py <<'PY'
import heapprof

with heapprof.scope("load", category="start") as scope:
    scope.items = 3
    scope.items += 2
    heapprof.mark("read")
again = heapprof.scope("load", category="start")
for _ in range(2):
    with again:
        assert again.items == 0
with heapprof.scope("outer"), heapprof.scope("inner", category="load"):
    heapprof.mark("read", "inside")
try:
    with heapprof.scope("ä\0\udc80"):
        raise KeyError("raised")
except KeyError as error:
    print(error)
for wrong in (-1, 2**64, 1.5, "1"):
    try:
        with heapprof.scope("wrong") as scope:
            scope.items = wrong
    except (ValueError, TypeError) as error:
        print(type(error).__name__)
scope.items = 5
print(scope.items)
PY
calls blocks <<'CALLS'
begin 1 start/load=1
mark /read=2
end 1 5
begin 2 start/load=1
end 2 0
begin 3 start/load=1
end 3 0
begin 4 /outer=3
begin 5 load/inner=4
mark inside/read=5
end 5 0
end 4 0
begin 6 /ä\x00\udc80=6
end 6 0
begin 7 /wrong=7
end 7 0
begin 8 /wrong=7
end 8 0
begin 9 /wrong=7
end 9 0
begin 10 /wrong=7
end 10 0
CALLS

cat >functions.py <<'PY'
import functools
import inspect

import heapprof

@heapprof.scope("f")
def f(n, *, more=0):
    "what f does"
    return n if n == 0 else f(n - 1) + more
class C:
    @heapprof.scope("method")
    def method(self): return self
    @heapprof.scope("static")
    @staticmethod
    def static(): return 1
    @classmethod
    @heapprof.scope("class")
    def of_class(cls): return cls
@heapprof.scope("raises")
def raises(): raise KeyError("raised")
print(f(1, more=2), f.__name__, f.__doc__, inspect.signature(f))
c = C()
print(c.method() is c, C.static(), C.of_class() is C)
try:
    raises()
except KeyError as error:
    print(error)
print(heapprof.scope("partial")(functools.partial(int, "12"))())
for wrong in (C, 1):
    try:
        heapprof.scope("wrong")(wrong)
    except TypeError as error:
        print(error)
PY
calls functions <<'CALLS'
begin 1 /f=1
begin 2 /f=1
end 2 0
end 1 0
begin 3 /method=2
end 3 0
begin 4 /static=3
end 4 0
begin 5 /class=4
end 5 0
begin 6 /raises=5
end 6 0
begin 7 /partial=6
end 7 0
CALLS

# Two tasks take turns: each scope is left while the other task runs.
cat >tasks.py <<'PY'
import asyncio
import inspect
import types

import heapprof

@heapprof.scope("task")
async def task(name):
    heapprof.mark(name + " begins")
    with heapprof.scope("inner"):
        await asyncio.sleep(0)
    heapprof.mark(name + " goes on")
    return name
async def both():
    print(await asyncio.gather(task("a"), task("b")))
asyncio.run(both())

# One that is cancelled cleans up within its scope, and one that raises has left it.
@heapprof.scope("waits")
async def waits():
    try:
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0)
        heapprof.mark("cleaned up")
async def cancels():
    running = asyncio.ensure_future(waits())
    await asyncio.sleep(0)
    running.cancel()
    try:
        await running
    except asyncio.CancelledError:
        print("cancelled")
asyncio.run(cancels())

@heapprof.scope("raises")
async def raises(): raise KeyError("raised")
try:
    asyncio.run(raises())
except KeyError as error:
    print(error)
print(inspect.iscoroutinefunction(raises))

# Never begun, and begun but dropped.
dropped = waits()
dropped.close()
dropped = raises()
dropped.close()
@heapprof.scope("stops")
async def stops():
    await pause()
@heapprof.scope("pause")
@types.coroutine
def pause():
    yield "paused"
dropped = stops()
print(dropped.send(None))
del dropped
PY
calls tasks <<'CALLS'
begin 1 /task=1
mark /a begins=2
begin 2 /inner=3
leave 1
begin 3 /task=1
mark /b begins=4
begin 4 /inner=3
leave 3
enter 1
end 2 0
mark /a goes on=5
end 1 0
enter 3
end 4 0
mark /b goes on=6
end 3 0
begin 5 /waits=7
leave 5
enter 5
leave 5
enter 5
mark /cleaned up=8
end 5 0
begin 6 /raises=9
end 6 0
begin 7 /stops=10
begin 8 /pause=11
leave 8
leave 7
enter 7
enter 8
end 8 0
end 7 0
CALLS

cat >generators.py <<'PY'
import asyncio
import inspect

import heapprof

@heapprof.scope("numbers")
def numbers():
    try:
        got = yield 1
        print("got", got)
        yield 2
    except KeyError:
        yield 3
    return 4
def around():
    print("returned", (yield from numbers()))
heapprof.mark("for")
print(list(around()))
heapprof.mark("send")
one = numbers()
print(next(one), one.send("x"))
print(one.throw(KeyError()))
one.close()
heapprof.mark("close")
one = numbers()
next(one)
one.close()
numbers().close()
print(inspect.isgeneratorfunction(numbers))

@heapprof.scope("async")
async def numbers():
    try:
        await asyncio.sleep(0)
        got = yield 1
        print("got", got)
        yield 2
    except KeyError:
        yield 3
    finally:
        await asyncio.sleep(0)
        print("finally")
        heapprof.mark("finally")
async def drive():
    print([number async for number in numbers()])
    heapprof.mark("throw")
    one = numbers()
    print(await one.asend(None), await one.athrow(KeyError()))
    await one.aclose()
    heapprof.mark("break")
    async for number in numbers():
        break
    await asyncio.sleep(0.01)  # the event loop closes what was dropped
    one = numbers()
    await one.asend(None)  # the event loop closes it at its end
    print(number, inspect.isasyncgenfunction(numbers))
    return one
kept = asyncio.run(drive())
print("done")
PY
calls generators <<'CALLS'
mark /for=1
begin 1 /numbers=2
leave 1
enter 1
leave 1
enter 1
end 1 0
mark /send=3
begin 2 /numbers=2
leave 2
enter 2
leave 2
enter 2
leave 2
enter 2
end 2 0
mark /close=4
begin 3 /numbers=2
leave 3
enter 3
end 3 0
begin 4 /async=5
leave 4
enter 4
leave 4
enter 4
leave 4
enter 4
leave 4
enter 4
mark /finally=6
leave 4
enter 4
end 4 0
mark /throw=7
begin 5 /async=5
leave 5
enter 5
leave 5
enter 5
leave 5
enter 5
leave 5
enter 5
mark /finally=6
leave 5
enter 5
end 5 0
mark /break=8
begin 6 /async=5
leave 6
enter 6
leave 6
enter 6
leave 6
enter 6
mark /finally=6
leave 6
enter 6
end 6 0
begin 7 /async=5
leave 7
enter 7
leave 7
enter 7
leave 7
enter 7
mark /finally=6
leave 7
enter 7
end 7 0
CALLS

# Who waits gives up the interpreter's lock, and nobody else does.
cat >lock.py <<'PY'
import heapprof

print(heapprof.version(), heapprof.is_active())
print(heapprof.stats("host").live_bytes, heapprof.begin_phase("cuda:0").live_bytes, heapprof.thread_stats().freed_blocks)
try:
    with heapprof.scope("twice") as scope:
        with scope:
            pass
except RuntimeError as error:
    print(error)
PY
rm -f calls.txt
CALLS=calls.txt LD_PRELOAD=$PWD/agent.so expect_status 0 "$PYTHON" -W error lock.py
expect_eq "calls" "$(tr '\n' ';' <calls.txt)" "free stats host;free phase cuda:0;free stats cuda:0;free thread;held begin 1 /twice=1;held end 1 0;"
expect_eq "what is said" "$(head -n 2 out.txt | tr '\n' ';')" "9.9.9 True;9223372036854775808 9223372036854775808 5;"
expect_in out.txt "this scope has begun already"

# An older agent has fewer functions: what there is is used.
rm -f calls.txt
COUNT=5 CALLS=calls.txt LD_PRELOAD=$PWD/agent.so expect_status 0 "$PYTHON" -W error blocks.py
[ ! -e calls.txt ] || fail "functions of an agent that it does not have were called: $(cat calls.txt)"
COUNT=3 CALLS=calls.txt LD_PRELOAD=$PWD/agent.so expect_status 0 "$PYTHON" -W error -c '
import heapprof
print(heapprof.stats().live_bytes, heapprof.begin_phase(), heapprof.thread_stats())'
expect_eq "of three functions" "$(cat out.txt)" "9223372036854775808 None None"

# Between begin and end the module allocates nothing: what is counted there is the program's. (Python before 3.11 makes
# a frame at the first call of a function, and keeps it.)
cat >nothing.py <<'PY'
import heapprof

@heapprof.scope("function")
def function(): pass
for _ in range(2):
    with heapprof.scope("empty"):
        pass
    with heapprof.scope("items") as scope:
        scope.items = 200
    function()
    with heapprof.scope("object"):
        block = object()
PY
rm -f calls.txt
BLOCKS=1 PYTHONMALLOC=malloc CALLS=calls.txt LD_PRELOAD=$PWD/agent.so expect_status 0 "$PYTHON" -W error nothing.py
expect_eq "blocks in the scopes" "$(grep -o '[0-9]* blocks' calls.txt | tail -n 4 | tr '\n' ';')" "0 blocks;0 blocks;0 blocks;1 blocks;"
