# shared/python/heapprof/_scopes.py: scopes as context managers and decorators, with the agent and without.
"""Scopes.

Between the agent's begin and its end this module allocates nothing: a scope takes a slot from a list before it begins,
and puts it back when it has ended.
"""
from __future__ import annotations

import functools
import operator

from heapprof._agent import Slot, functions

_begin_scope = functions.get("begin_scope")
_end_scope = functions.get("end_scope")
_leave_scope = functions.get("leave_scope")
_enter_scope = functions.get("enter_scope")
_MOST_ITEMS = 2**64 - 1
_idle = [Slot() for _ in range(8)] if _begin_scope else []


def _checked_items(count) -> int:
    count = operator.index(count)
    if not 0 <= count <= _MOST_ITEMS:
        raise ValueError(f"items of a scope are a number from 0 to 2^64 - 1, not {count}")
    return count


def _check_decorated(function) -> None:
    if isinstance(function, type):
        raise TypeError(f"heapprof.scope decorates functions, and {function.__name__} is a class: decorate its methods")
    if not callable(function) and not isinstance(function, (staticmethod, classmethod)):
        raise TypeError(f"heapprof.scope decorates functions, not {type(function).__name__}")


class NoScope:
    """A scope without an agent: it keeps items, and does nothing else."""

    _items = 0

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        return None

    def __call__(self, function):
        _check_decorated(function)
        return function

    @property
    def items(self) -> int:
        return self._items

    @items.setter
    def items(self, count):
        self._items = _checked_items(count)


class Scope:
    """A scope of the agent. It may be used again once it has ended."""

    __slots__ = ("_name", "_slot", "_items")

    def __init__(self, name):
        self._name = name
        self._slot = None
        self._items = 0

    def __enter__(self):
        if self._slot is not None:
            raise RuntimeError("this scope has begun already; each heapprof.scope() is one scope at a time")
        self.begin()
        return self

    def __exit__(self, kind, value, traceback):
        self.end()

    def __call__(self, function):
        _check_decorated(function)
        return _decorated(function, self._name)

    @property
    def items(self) -> int:
        return self._items

    @items.setter
    def items(self, count):
        self._items = count = _checked_items(count)
        if self._slot is not None:
            self._slot.items.value = count

    def begin(self) -> None:
        try:
            slot = _idle.pop()
        except IndexError:
            slot = Slot()
        self._slot = slot
        self._items = slot.items.value = 0
        _begin_scope(slot.ref, self._name.ref)

    def end(self) -> None:
        slot = self._slot
        if slot is None:
            return
        if slot.id:
            _end_scope(slot.ref)
            slot.id.value = 0
        self._slot = None
        _idle.append(slot)

    def go_on(self) -> None:
        """Begins the scope the first time; enters it if it was left."""
        if self._slot is None:
            self.begin()
        elif self._slot.id:
            _enter_scope(self._slot.ref)

    def leave(self) -> None:
        if self._slot.id:
            _leave_scope(self._slot.ref)


def _decorated(function, name):
    """The function with a scope around each of its calls."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(_decorated(function.__func__, name))

    # These take time to import, and are not needed without an agent.
    import inspect

    from heapprof import _steps

    for is_kind, wrap in (
        (inspect.iscoroutinefunction, _steps.wrap_coroutine),
        (inspect.isasyncgenfunction, _steps.wrap_async_generator),
        (inspect.isgeneratorfunction, _steps.wrap_generator),
    ):
        if is_kind(function):
            return wrap(function, name, Scope)

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        scope = Scope(name)
        scope.begin()
        try:
            return function(*args, **kwargs)
        finally:
            scope.end()

    return wrapper
