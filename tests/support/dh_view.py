#!/usr/bin/env python3
"""tests/support/dh_view.py: opens profiles in Valgrind's own viewer, as a user would, and says what it shows.

usage: dh_view.py VIEWER.html PROFILE.json...

For each profile: loads the page in headless Chromium, gives the profile to its file input, waits for the tree, and
checks that there is no error and that total, t-gmax and t-end are the sums of the profile's own numbers. Exit 0, or 1
with what went wrong. Chromium is driven over a pair of pipes (--remote-debugging-pipe): no driver, no port, no
packages.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

PATIENCE_S = 120

SHOWN = """(() => {
  const error = document.querySelector('.error');
  return {error: error ? error.textContent : null, text: document.body.innerText};
})()"""


class Chromium:
    def __init__(self, binary, flags=()):
        self.profile_dir = tempfile.mkdtemp(prefix="heapprof-chromium-")
        to_child_read, self.to_child = os.pipe()
        self.from_child, from_child_write = os.pipe()
        # The browser expects its commands on descriptor 3 and answers on 4.
        os.set_inheritable(to_child_read, True)
        os.set_inheritable(from_child_write, True)

        def place_pipes():
            spare_read = os.dup(to_child_read)
            spare_write = os.dup(from_child_write)
            os.dup2(spare_read, 3)
            os.dup2(spare_write, 4)

        self.process = subprocess.Popen(
            [binary, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--lang=en-US",
             "--user-data-dir=" + self.profile_dir, "--remote-debugging-pipe", *flags, "about:blank"],
            preexec_fn=place_pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "LANGUAGE": "en_US"})
        os.close(to_child_read)
        os.close(from_child_write)
        self.buffer = b""
        self.next_id = 0
        self.exceptions = []

    def read_message(self, deadline):
        while b"\0" not in self.buffer:
            if time.monotonic() > deadline:
                raise RuntimeError("the browser does not answer")
            piece = os.read(self.from_child, 1 << 16)
            if not piece:
                raise RuntimeError("the browser ended")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **params):
        self.next_id += 1
        request = {"id": self.next_id, "method": method, "params": params}
        if session:
            request["sessionId"] = session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.to_child, data):]
        deadline = time.monotonic() + PATIENCE_S
        while True:
            message = self.read_message(deadline)
            if message.get("method") == "Runtime.exceptionThrown":
                details = message["params"]["exceptionDetails"]
                self.exceptions.append(details.get("exception", {}).get("description", details.get("text", "?")))
            if message.get("id") == self.next_id:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to_child)
        os.close(self.from_child)
        shutil.rmtree(self.profile_dir, ignore_errors=True)


def wait_for(what, question):
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        answer = question()
        if answer:
            return answer
        time.sleep(0.1)
    raise RuntimeError(f"waited {PATIENCE_S} s for {what}")


def expected_lines(path):
    """The lines on which the viewer sums up, from the profile's points."""
    with open(path, encoding="utf-8") as file:
        points = json.load(file)["pps"]
    sums = {key: sum(point[key] for point in points) for key in ("tb", "tbk", "gb", "gbk", "eb", "ebk")}
    return [("Total: ", sums["tb"], sums["tbk"]), ("At t-gmax: ", sums["gb"], sums["gbk"]),
            ("At t-end: ", sums["eb"], sums["ebk"])]


def show(browser, viewer, path):
    browser.exceptions.clear()
    target = browser.call("Target.createTarget", url="file://" + viewer)["targetId"]
    session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    browser.call("Runtime.enable", session)
    evaluate = lambda text: browser.call("Runtime.evaluate", session, expression=text,
                                         returnByValue=True)["result"].get("value")
    wait_for("the viewer",
             lambda: evaluate("document.readyState === 'complete' && !!document.querySelector('input[type=file]')"))
    box = browser.call("Runtime.evaluate", session,
                       expression="document.querySelector('input[type=file]')")["result"]["objectId"]
    browser.call("DOM.setFileInputFiles", session, files=[os.path.abspath(path)], objectId=box)
    shown = wait_for("the tree",
                     lambda: (lambda s: s if s["error"] or "Total:" in s["text"] else None)(evaluate(SHOWN)))
    browser.call("Target.closeTarget", targetId=target)
    return shown, list(browser.exceptions)


def check(browser, viewer, path):
    shown, exceptions = show(browser, viewer, path)
    problems = [f"the viewer says: {shown['error']}"] if shown["error"] else []
    problems += [f"the viewer threw: {exception}" for exception in exceptions]
    lines = [" ".join(line.split()) for line in shown["text"].splitlines()]
    for start, size, blocks in expected_lines(path):
        found = [line for line in lines if start in line]
        if not any(f"{start}{size:,} bytes" in line and f"in {blocks:,} blocks" in line for line in found):
            problems.append(f"expected '{start}{size:,} bytes … in {blocks:,} blocks', found {found[:1]}")
    for problem in problems:
        print(f"{path}: {problem}")
    return not problems


def main():
    viewer, *paths = sys.argv[1:]
    binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    browser = Chromium(binary)
    try:
        results = [check(browser, viewer, path) for path in paths]
    finally:
        browser.close()
    print(f"{sum(results)} of {len(results)} profiles are shown right")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
