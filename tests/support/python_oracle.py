#!/usr/bin/env python3
"""tests/support/python_oracle.py: a program of every way in which Python calls, that keeps books of its own.

usage: python_oracle.py run LIBRARY BOOKS SEED STEPS THREADS    the program
       python_oracle.py compare PROFILE BOOKS…                  its profile beside its books

Every block is taken by one function of LIBRARY. The books say how many blocks and bytes were taken under which Python
frames, by what sys._getframe says at that moment. The profile must say the same, and every call of the evaluator in it
must have the frames that it ran. Python 3.8 and newer, the standard library alone.
"""
import asyncio
import collections
import contextlib
import ctypes
import functools
import gc
import json
import os
import random
import re
import signal
import sys
import threading
import types

TAKE = "heapprof_test_take"


class Books:
    """Of one thread."""

    def __init__(self, library, seed):
        self.random = random.Random(seed)
        self.taken = collections.Counter()  # by the frames, innermost first, and size
        self.give = library.heapprof_test_give
        self.block = library.heapprof_test_take
        self.depth, self.most_depth = 0, 10
        self.left = 0  # steps, until the next one from outside

    def take(self):
        size = self.random.randrange(1, 5000)
        frames, frame = [], sys._getframe(0)
        while frame is not None:
            code = frame.f_code
            # An interrupted function that has not begun is at line 0 (a signal's handler, a finalizer).
            line = frame.f_lineno or code.co_firstlineno
            frames.append((code.co_filename, getattr(code, "co_qualname", code.co_name), line))
            frame = frame.f_back
        frames[0] = (*frames[0][:2], self.taken_at)
        self.taken[tuple(frames), size] += 1
        self.give(self.block(size))

    taken_at = take.__code__.co_firstlineno + 11


def step(books):
    """Takes blocks deeper and deeper, each time called by one of the ways below. Returns 0."""
    books.left -= 1
    if books.depth >= books.most_depth or books.left < 0:
        if books.left >= 0:
            books.take()
        return 0
    books.depth += 1
    try:
        if books.random.random() < 0.3:
            books.take()
        books.random.choice(WAYS)(books)
    finally:
        books.depth -= 1
    return 0


WAYS = []
way = WAYS.append


class Thing:
    def __init__(self, books):
        self.books = books

    def method(self):
        return step(self.books)

    @classmethod
    def of_class(cls, books):
        return step(books)

    @staticmethod
    def static(books):
        return step(books)

    @property
    def attribute(self):
        return step(self.books)

    def __getattr__(self, name):
        return step(self.books)

    def __call__(self, *args, **kwargs):
        return step(self.books)

    def __len__(self):
        step(self.books)
        return 1

    def __eq__(self, other):
        step(self.books)
        return True

    def __hash__(self):
        step(self.books)
        return 7

    def __add__(self, other):
        step(self.books)
        return self

    def __getitem__(self, index):
        step(self.books)
        if index > 1:
            raise IndexError
        return index

    def __enter__(self):
        step(self.books)
        return self

    def __exit__(self, *what):
        step(self.books)
        return True

    def __repr__(self):
        step(self.books)
        return "Thing"


class Dying(Thing):
    def __del__(self):
        step(self.books)


def generator(books):
    for _ in range(2):
        step(books)
        yield step(books)


def delegating(books):
    step(books)
    yield from generator(books)


async def coroutine(books):
    step(books)
    await asyncio.sleep(0)
    return step(books)


def decorated(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)
    return inner


@way
def by_function(books):
    return step(books)


@way
def by_lines(books):
    step(books); step(
        books)
    return [step(books),
            step(books)]


@way
def by_method(books):
    return Thing(books).method()


@way
def by_class(books):
    return Thing.of_class(books) or Thing(books).static(books)


@way
def by_attribute(books):
    thing = Thing(books)
    return thing.attribute, thing.missing


@way
def by_call(books):
    return Thing(books)(1, *[2], three=3, **{"four": 4})


@way
def by_operators(books):
    thing = Thing(books)
    return len(thing) + (thing == 1) + len({thing: 1}), thing + thing, [x for x in thing], f"{thing!r}"


@way
def by_dying(books):
    thing = Dying(books)
    del thing
    return Dying(books) is None


@way
def by_collection(books):
    thing = Dying(books)
    thing.itself = thing
    del thing
    if books.depth < 3:
        gc.collect()


@way
def by_lambda(books):
    return (lambda: step(books))()


@way
def by_closure(books):
    def inner():
        return step(books)
    return inner()


@way
def by_partial(books):
    return functools.partial(functools.partial(step), books)()


@way
def by_native_callers(books):
    return list(map(lambda _: step(books), [1])), sorted([2, 1], key=lambda _: step(books))


@way
def by_regular_expression(books):
    return re.sub("b", lambda _: str(step(books)), "abc")


@way
def by_json(books):
    return json.loads('[{"a": 1}]', object_hook=lambda _: step(books))


@way
def by_ctypes(books):
    return ctypes.CFUNCTYPE(ctypes.c_int)(lambda: step(books))()


@way
def by_comprehensions(books):
    return [step(books) for _ in range(2)], {i: step(books) for i in range(1)}, {step(books) for _ in range(1)}


@way
def by_expression(books):
    return sum(1 for _ in [1, 2] if step(books) == 0)


@way
def by_generators(books):
    return list(generator(books)), next(delegating(books)), generator(books).send(None)


@way
def by_abandoned_generator(books):
    started = generator(books)
    next(started)
    with contextlib.suppress(KeyError):
        started.throw(KeyError)


@way
def by_coroutine(books):
    if asyncio._get_running_loop() is not None:
        return None
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(asyncio.wait_for(coroutine(books), 100))
    finally:
        loop.close()


@way
def by_sent_coroutine(books):
    running = coroutine(books)
    with contextlib.suppress(StopIteration):
        while True:
            running.send(None)


@way
def by_context(books):
    with Thing(books), contextlib.ExitStack() as stack:
        stack.callback(step, books)
        raise ValueError


@way
def by_exception(books):
    try:
        step(books)
        raise KeyError
    except KeyError:
        return step(books)
    finally:
        step(books)


@way
def by_decorator(books):
    return decorated(decorated(step))(books)


@way
def by_cache(books):
    return functools.lru_cache(None)(lambda: step(books))()


@way
def by_class_body(books):
    class Meta(type):
        def __new__(mcs, name, bases, body):
            step(books)
            return super().__new__(mcs, name, bases, body)

        def __call__(cls, *args):
            step(books)
            return super().__call__(*args)

    class Made(metaclass=Meta):
        step(books)

        def __set_name__(self, owner, name):
            step(books)

    return Made()


# Code objects that come and go at the same addresses, with other names and other lines.
@way
def by_executed_code(books):
    name = books.random.choice(["f", "größe", "函数", "g" * 40, "𝔣"])
    file = books.random.choice(["<made>", "/made/ö.py", "/made/" + "x" * 100 + ".py"])
    blank = "\n" * books.random.randrange(40)
    names = {"step": step, "books": books}
    exec(compile(f"{blank}def {name}():\n  return step(books)\n\n\n{name}()\n{blank}step(books)", file, "exec"), names)
    return eval("step(books)", names)


@way
def by_module(books):
    module = types.ModuleType("made")
    module.__dict__.update(step=step, books=books)
    exec(compile("step(books)\nclass A:\n  x = step(books)", f"/made/{books.random.randrange(9)}.py", "exec"), module.__dict__)


@way
def by_deep_recursion(books):
    def sink(left):
        return sink(left - 1) if left else step(books)
    return sink(60) if books.depth < 3 else None


@way
def by_profile_function(books):
    def on_event(frame, event, arg):
        sys.setprofile(None)
        step(books)
    sys.setprofile(on_event)
    len("")
    sys.setprofile(None)


@way
def by_signal(books):
    if threading.current_thread() is not threading.main_thread():
        return None
    signal.signal(signal.SIGUSR1, lambda *_: step(books))
    return os.kill(os.getpid(), signal.SIGUSR1)


@way
def by_greenlet(books):
    if greenlet is None:
        return None

    def switches():
        step(books)
        outer.switch()
        return step(books)

    outer = greenlet.getcurrent()
    inner = greenlet.greenlet(switches)
    inner.switch()
    step(books)
    return inner.switch()


try:
    import greenlet
except ImportError:
    greenlet = None


def run_steps(books, steps, failed):
    failed.append(books)
    for _ in range(steps):
        books.left = 60
        step(books)
    books.left = 0  # what the interpreter's end finalizes takes nothing
    failed.remove(books)


def main_run(library_path, books_path, seed, steps, threads):
    sys.setrecursionlimit(20000)
    # Collections that come by themselves interrupt calls that have not begun, too, whose frames sys._getframe hides.
    gc.disable()
    library = ctypes.CDLL(library_path)
    library.heapprof_test_take.restype = ctypes.c_void_p
    library.heapprof_test_take.argtypes = [ctypes.c_size_t]
    library.heapprof_test_give.argtypes = [ctypes.c_void_p]
    all_books = [Books(library, int(seed) * 1000 + i) for i in range(int(threads))]
    failed = []
    started = [threading.Thread(target=run_steps, args=(books, int(steps), failed)) for books in all_books[1:]]
    for thread in started:
        thread.start()
    run_steps(all_books[0], int(steps), failed)
    for thread in started:
        thread.join()
    assert not failed
    sums = collections.defaultdict(lambda: [0, 0])
    for books in all_books:
        for (frames, size), blocks in books.taken.items():
            counted = sums["\n".join(f"{name} ({file}:{line})" for file, name, line in frames)]
            counted[0] += blocks
            counted[1] += blocks * size
    with open(books_path, "w", encoding="utf-8") as out:
        json.dump(sums, out)


def is_inlined(texts, frames, i):
    """Whether the next frame has the same address."""
    address, separator, _ = texts[frames[i]].partition(": ")
    return bool(separator) and i + 1 < len(frames) and texts[frames[i + 1]].startswith(address + ": ")


def main_compare(profile_path, *books_paths):
    with open(profile_path, encoding="utf-8") as file:
        profile = json.load(file)
    texts, modules = profile["ftbl"], profile["heapprof"]["modules"]
    of_module = profile["heapprof"]["frames"]["module"]
    python_module = next((i for i, module in enumerate(modules) if module["path"] == "[Python]"), None)
    is_python = [False] + [module == python_module for module in of_module]
    # ftbl[0] is the root, which has no module.
    assert len(is_python) == len(texts), (len(is_python), len(texts))
    evaluators = {i for i, text in enumerate(texts) if re.search(r": _PyEval_EvalFrameDefault\b", text)}
    found, calls, without_frames = collections.defaultdict(lambda: [0, 0]), 0, set()
    for site in profile["pps"]:
        frames = site["fs"]
        if not any(TAKE in texts[frame] for frame in frames):
            continue
        python = [texts[frame] for frame in frames if is_python[frame]]
        counted = found["\n".join(python)]
        counted[0] += site["tbk"]
        counted[1] += site["tb"]
        # Innermost first: what an evaluator runs stands before it, and before what was inlined into it.
        outside = [frame for i, frame in enumerate(frames) if not is_inlined(texts, frames, i) or is_python[frame]]
        for inner, outer in zip(outside, outside[1:]):
            if "_greenlet" in texts[outer]:
                break  # a greenlet's frames end with it, while the C stack goes on into that of its parent
            if outer in evaluators:
                calls += 1
                if not is_python[inner]:
                    without_frames.add((texts[inner], texts[outer]))
    books = collections.defaultdict(lambda: [0, 0])
    for path in books_paths:
        with open(path, encoding="utf-8") as file:
            for frames, (blocks, size) in json.load(file).items():
                books[frames][0] += blocks
                books[frames][1] += size
    wrong = [frames for frames in {*books, *found} if books.get(frames) != found.get(frames)]
    for frames in sorted(wrong)[:3]:
        print(f"books {books.get(frames)}, profile {found.get(frames)}:\n{frames}\n")
    print(f"stacks {len(books)} blocks {sum(b for b, _ in books.values())} wrong {len(wrong)} "
          f"evaluators {'some' if calls else 'none'} without frames {len(without_frames)}")
    for pair in sorted(without_frames)[:5]:
        print("without frames:", *pair)
    return 1 if wrong or without_frames or not books else 0


if __name__ == "__main__":
    sys.exit({"run": main_run, "compare": main_compare}[sys.argv[1]](*sys.argv[2:]))
