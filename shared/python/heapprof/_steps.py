# shared/python/heapprof/_steps.py: scopes of coroutines and generators, which are left while those are suspended.
"""Functions that stop and go on.

A coroutine runs in steps: send(), throw() or close() lets it go on until it suspends itself, returns or raises. Its
scope is entered before each step and left after it, so that what other tasks do meanwhile is not the scope's. What a
step runs in is whatever thread takes it.

The wrappers are a coroutine function, a generator function and so on themselves, so that inspect, asyncio and test
frameworks see what they saw without.
"""
from __future__ import annotations

import functools
import inspect
import sys
import types


class _Steps:
    """Stands between a coroutine or generator and who drives it; both await and yield from take it."""

    __slots__ = ("_work", "_scope")

    def __init__(self, work, scope):
        self._work = work
        self._scope = scope

    def __iter__(self):
        return self

    __await__ = __iter__

    def _step(self, act, *what):
        scope = self._scope
        scope.go_on()
        try:
            given = act(*what)
        except BaseException:  # it has returned, which is a StopIteration, or raised
            self._over()
            raise
        scope.leave()
        return given

    def _over(self):
        self._scope.end()

    def __next__(self):
        return self._step(self._work.__next__)

    def send(self, value):
        return self._step(self._work.send, value)

    def throw(self, *what):
        return self._step(self._work.throw, *what)

    def close(self):
        self._scope.go_on()
        try:
            self._work.close()
        finally:
            self._over()


class _PartOfSteps(_Steps):
    """One of several awaitables that a scope goes through: at its end the scope is left, and not over."""

    __slots__ = ()

    def _over(self):
        self._scope.leave()


def wrap_coroutine(function, name, make_scope):
    @functools.wraps(function)
    async def wrapper(*args, **kwargs):
        return await _Steps(function(*args, **kwargs).__await__(), make_scope(name))

    return wrapper


def wrap_generator(function, name, make_scope):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return (yield from _Steps(iter(function(*args, **kwargs)), make_scope(name)))

    # What types.coroutine() has marked can be awaited, and stays so.
    is_awaited = getattr(getattr(function, "__code__", None), "co_flags", 0) & inspect.CO_ITERABLE_COROUTINE
    return types.coroutine(wrapper) if is_awaited else wrapper


def wrap_async_generator(function, name, make_scope):
    @functools.wraps(function)
    async def wrapper(*args, **kwargs):
        scope = make_scope(name)
        work = function(*args, **kwargs)
        step = _first_step(work)
        try:
            while True:
                try:
                    given = await _PartOfSteps(step.__await__(), scope)
                except StopAsyncIteration:
                    return
                try:
                    sent = yield given
                except GeneratorExit:
                    await _PartOfSteps(work.aclose().__await__(), scope)
                    raise
                except BaseException as error:
                    step = work.athrow(error)
                else:
                    step = work.asend(sent)
        finally:
            scope.go_on()
            scope.end()

    return wrapper


def _first_step(work):
    """The event loop is not told of the generator inside: it closes the one around it, which closes this one."""
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(None, None)
    try:
        return work.asend(None)
    finally:
        sys.set_asyncgen_hooks(*hooks)
