# shared/python/heapprof/_steps.py: scopes of coroutines and generators, which are left while those are suspended.
"""Wrappers for functions that suspend and resume.

A coroutine runs in steps: send(), throw() or close() lets it go on until it suspends itself, returns or raises. Its
scope is entered before each step and left after it, so that what other tasks do in between does not belong to the
scope. Any thread may run a step.

The wrappers are themselves a coroutine function, a generator function and so on, so that inspect, asyncio and test
frameworks see the same kind of function as without them.
"""
from __future__ import annotations

import functools
import inspect
import sys
import types


class _Steps:
    """Sits between a coroutine or generator and its caller; both await and yield from accept it."""

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
        except BaseException:  # the work has returned, which is a StopIteration, or raised
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
    """One of several awaitables of a scope: when it ends, the scope is left, not ended."""

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

    # A generator that types.coroutine() has marked can be awaited; its wrapper must be, too.
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
    """Hides the inner generator from the event loop, which closes the outer one; that one closes the inner one."""
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(None, None)
    try:
        return work.asend(None)
    finally:
        sys.set_asyncgen_hooks(*hooks)
