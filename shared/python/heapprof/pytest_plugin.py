# shared/python/heapprof/pytest_plugin.py: limits on the memory of single tests, for pytest.
"""Limits on the memory of tests, and a table of what each took.

    @pytest.mark.heapprof(max_peak="64MiB", max_leaked=0)
    def test_parse(): ...

    heapprof run -- python3 -m pytest -p heapprof.pytest_plugin --heapprof=required

The plugin measures the call of the test, without its fixtures. A test that failed, or was skipped, is not judged. A
test that exceeds a limit fails as if it had raised an error itself, so marks such as xfail keep their meaning. The
numbers are attached to pytest's reports, so those of pytest-xdist's workers arrive, too.
"""
from __future__ import annotations

import collections
import gc
import sys

import pytest

import heapprof
from heapprof import _agent, _limits

_MODES = ("auto", "required", "off")
_run_key = pytest.StashKey()
_results_key = pytest.StashKey()

_NOT_RECORDED = "nothing is recorded of this process"
_WHY_NOT = {
    _agent.INACTIVE: _NOT_RECORDED,
    _agent.UNKNOWN_DEVICE: "there is no device '{}'",
    _agent.UNAVAILABLE: "heapprof could not answer, or did not in time",
}
_HOW_TO_RUN = "heapprof run -- python3 -m pytest ..."


def pytest_addoption(parser):
    group = parser.getgroup("heapprof", "memory of tests, measured by heapprof")
    group.addoption("--heapprof", choices=_MODES, default="auto", metavar="auto|required|off",
                    help="auto: limits are checked where pytest runs under heapprof, and it is said where they are not; "
                         "required: a test with limits fails where they cannot be checked; off: nothing is measured")
    group.addoption("--heapprof-rows", type=int, default=20, metavar="N",
                    help="how many tests the table at the end shows, the largest first (20; 0: no table)")
    help_of = {
        "max_peak": "SIZE: the most that may be live at once in a test, above what was live at its begin",
        "max_leaked": "SIZE: the most that may be live at a test's end and was not at its begin",
        "max_bytes": "SIZE: the most that a test may allocate, all in all",
        "max_allocations": "N: the most blocks that a test may allocate",
        "device": "the device that is measured: host, mapped, cuda:0 ... (host)",
    }
    for key, text in help_of.items():
        group.addoption("--heapprof-" + key.replace("_", "-"), default=None, metavar=text.split(":")[0]
                        if key != "device" else "DEVICE", help=f"for all tests without a mark of their own: {text}")
        parser.addini("heapprof_" + key, help=text, default=None)


def pytest_configure(config):
    config.addinivalue_line("markers", "heapprof(max_peak=None, max_leaked=None, max_bytes=None, max_allocations=None, "
                            "device='host'): what the test may take; sizes are '64MiB' or a number of bytes")
    if config.option.heapprof_rows < 0:
        raise pytest.UsageError(f"--heapprof-rows is a number from 0, not {config.option.heapprof_rows}")
    run = config.stash[_run_key] = _Run(config)
    if config.option.heapprof != "off":
        config.pluginmanager.register(_Measuring(), "heapprof-measuring")
        config.pluginmanager.register(_Summary(run), "heapprof-summary")


class _Run:
    """Settings for all tests of this process."""

    def __init__(self, config):
        self.is_required = config.option.heapprof == "required"
        self.rows = config.option.heapprof_rows
        self.device = _setting(config, "device") or "host"
        self.defaults = {}
        for key in _limits.KEYS:
            try:
                self.defaults[key] = _limits.parse_limit(key, _setting(config, key))
            except ValueError as error:
                flag = "--heapprof-" + key.replace("_", "-")
                raise pytest.UsageError(f"heapprof: {flag}, or heapprof_{key} of the ini file: {error}") from None


def _setting(config, key):
    """The value from the command line; else from the ini file."""
    given = getattr(config.option, "heapprof_" + key)
    return given if given is not None else config.getini("heapprof_" + key) or None


def _limits_of(item, run: _Run) -> dict:
    """Device → limits of the test: its nearest marks come first, then those of the run. Raises ValueError."""
    limits = {}
    for mark in item.iter_markers("heapprof"):
        device = mark.kwargs.get("device", "host")
        unknown = [key for key in mark.kwargs if key not in _limits.KEYS and key != "device"]
        if mark.args or unknown or not isinstance(device, str):
            wrong = f"there is no key {unknown[0]}" if unknown else "it takes limits by their keys, and a device by a str"
            raise ValueError(f"{wrong}; its keys are {', '.join([*_limits.KEYS, 'device'])}")
        for key, value in mark.kwargs.items():
            if key != "device":
                limits.setdefault(device, {}).setdefault(key, _limits.parse_limit(key, value))
    for key, value in run.defaults.items():
        limits.setdefault(run.device, {}).setdefault(key, value)
    return limits


def _has_limits(of_device: dict) -> bool:
    return any(value is not None for value in of_device.values())


def _small_objects_are_counted() -> bool:
    """Whether each object is a block of the host: Python's own allocator has given out none."""
    return sys.getallocatedblocks() == 0


class _TestRun:
    """One call of a test, measured."""

    def __init__(self, item, run: _Run):
        self.wrong = ""
        try:
            self.limits = _limits_of(item, run)
        except ValueError as error:
            self.wrong, self.limits = f"heapprof: the mark of this test is wrong: {error}", {}
        self.is_required = run.is_required
        self.collects = any(limits.get("max_leaked") is not None for limits in self.limits.values())
        # The host begins last and ends first: its numbers do not include what measuring other devices allocates.
        devices = sorted(self.limits, key=lambda device: device == "host")
        self.measurements = [_agent.Measurement(device) for device in devices] if heapprof.is_active() else []
        self.ending = self.measurements[::-1]
        self.scope = heapprof.scope(item.nodeid, "test")
        self.unchecked = ""  # why limits were not checked, if there are any
        self.unmeasured = ""  # why there are no numbers of a device
        if not self.measurements and any(map(_has_limits, self.limits.values())):
            self.unchecked = _NOT_RECORDED
        self.runtest = item.runtest
        getattr(item.ihook, "pytest_pyfunc_call", None)  # from its first use on, pluggy keeps more memory

    def __call__(self):
        """Replaces the item's own runtest(), so that as little of pytest as possible runs within the measurement."""
        __tracebackhide__ = True
        if self.wrong:
            pytest.fail(self.wrong, pytrace=False)
        self._fail_unchecked()
        self._begin()
        try:
            self.runtest()
        finally:
            self._end()
        self._judge()

    def _begin(self):
        if self.collects and self.measurements:
            gc.collect()
        self.scope.__enter__()
        for one in self.measurements:
            one.begin()

    def _end(self):
        if self.collects and self.measurements:
            gc.collect()
        for one in self.ending:
            one.end()
        self.scope.__exit__(None, None, None)
        for one in self.measurements:
            if one.code != _agent.OK:
                self.unmeasured = _WHY_NOT[one.code].format(one.device)
                if _has_limits(self.limits[one.device]):
                    self.unchecked = self.unmeasured

    def _judge(self):
        """Raises what a failing test raises, if a limit is exceeded."""
        self._fail_unchecked()
        lines = []
        for one in self.measurements:
            if one.numbers:
                for key, line in _limits.broken(self.limits[one.device], one.numbers):
                    lines.append((one.device, line, one.explain(_limits.MEASURES[key])))
        if lines:
            pytest.fail(_words_of_failure(lines), pytrace=False)

    def _fail_unchecked(self):
        if self.is_required and self.unchecked:
            pytest.fail(f"heapprof: the limits of this test cannot be checked: {self.unchecked}\n"
                        f"  fix:     {_HOW_TO_RUN}\n"
                        "  instead: --heapprof=auto, which runs the test without checking them, and says so",
                        pytrace=False)

    def results(self) -> dict:
        """What is attached to the test's report."""
        return {"devices": {one.device: one.numbers for one in self.measurements if one.numbers},
                "unchecked": self.unchecked, "unmeasured": "" if self.unchecked else self.unmeasured}


def _words_of_failure(lines) -> str:
    text = "heapprof: this test takes more memory than it may\n"
    for device, line, sites in lines:
        text += f"  {device} {line}\n"
        text += "".join(f"    {site}\n" for site in sites)
    text += "  fix:     find all of them by heapprof report FILE, where FILE is what heapprof run has saved"
    if any(device in ("host", "mapped") for device, _, _ in lines) and not _small_objects_are_counted():
        text += "\n  note:    " + _PYMALLOC
    return text


_PYMALLOC = ("Python objects of up to 512 bytes are on the device mapped here, in arenas; with PYTHONMALLOC=malloc in the\n"
             "           environment each is a block of the host's")


class _Measuring:
    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_call(self, item):
        # pytest allocates a little between its hooks and the test, and keeps some of it: an environment variable.
        kept = vars(item).get("runtest")
        item.runtest = item.stash[_results_key] = _TestRun(item, item.config.stash[_run_key])
        yield
        del item.runtest
        if kept is not None:
            item.runtest = kept

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        if call.when == "call" and _results_key in item.stash:
            outcome.get_result().heapprof = item.stash[_results_key].results()
            del item.stash[_results_key]


class _Summary:
    """Collects the results in the reports of all tests, including those that ran in other processes."""

    def __init__(self, run: _Run):
        self._run = run
        self._rows = {}       # device → (nodeid, numbers) of each test
        self._lacks = {lack: collections.Counter() for lack in ("unchecked", "unmeasured")}  # why → how many tests

    def pytest_report_header(self):
        if not heapprof.is_active():
            return None
        where = "host" if _small_objects_are_counted() else "mapped (PYTHONMALLOC=malloc: on host)"
        return f"heapprof: {heapprof.version()}, small Python objects are on {where}"

    def pytest_runtest_logreport(self, report):
        results = getattr(report, "heapprof", None)
        if results is None:
            return
        for device, numbers in results["devices"].items():
            self._rows.setdefault(device, []).append((report.nodeid, numbers))
        for lack, counts in self._lacks.items():
            if results[lack]:
                counts[results[lack]] += 1

    def pytest_terminal_summary(self, terminalreporter):
        if self._run.rows:
            for device in sorted(self._rows):
                self._write_table(terminalreporter, device)
        if any(self._lacks.values()):
            terminalreporter.section("heapprof: what was not checked", sep="=")
        for lack, counts in self._lacks.items():
            for why, count in counts.items():
                tests = "1 test" if count == 1 else f"{count} tests"
                what = f"the limits of {tests} were not checked" if lack == "unchecked" else f"not measured: {tests}"
                how = f" (to check them: {_HOW_TO_RUN})" if why == _NOT_RECORDED else ""
                terminalreporter.write_line(f"{what}: {why}{how}")

    def _write_table(self, terminalreporter, device: str):
        rows = sorted(self._rows[device], key=lambda row: (-row[1]["peak_bytes"], -row[1]["total_bytes"], row[0]))
        terminalreporter.section(f"heapprof: memory of tests on {device}", sep="=")
        terminalreporter.write_line(f"{'peak above begin':>16}  {'allocated':>10}  {'kept':>10}  {'allocations':>11}  test")
        for nodeid, numbers in rows[:self._run.rows]:
            sizes = [_limits.format_bytes(numbers[key]) for key in ("peak_bytes", "total_bytes", "kept_bytes")]
            terminalreporter.write_line(
                f"{sizes[0]:>16}  {sizes[1]:>10}  {sizes[2]:>10}  {numbers['total_blocks']:>11,}  {nodeid}")
        if len(rows) > self._run.rows:
            more = len(rows) - self._run.rows
            terminalreporter.write_line(f"and {more} more (--heapprof-rows={len(rows)} shows all)")
