#!/usr/bin/env python3
"""tests/support/speedscope.py: opens exports in speedscope itself, as its own command does, and says what it shows.

usage: speedscope.py RELEASE FILE...     RELEASE: the folder with its index.html

For each file: loads the page in headless Chromium, hands it the file, turns to the table of functions, and checks that
no error is shown, that the profiles are listed with their totals, and that the functions in view have the first one's,
in bytes.
"""
import base64
import collections
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dh_view import Chromium, wait_for

ROWS = """[...document.querySelectorAll('tr')].map(row => [...row.querySelectorAll('td')].map(cell => cell.innerText))
  .filter(cells => cells.length >= 3)"""


def as_speedscope_writes(value):
    """Bytes as its table has them: powers of 1024, named KB, MB, GB."""
    for unit in ("B", "KB", "MB", "GB"):
        if value < 1024 or unit == "GB":
            return f"{value:.0f} B" if unit == "B" else f"{value:.2f} {unit}"
        value /= 1024
    return ""


def expectations(path):
    """What the list of profiles shows (name and total), and for each function's name of the first profile what was
    allocated below it, one amount for each line that it was called from."""
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    frames = data["shared"]["frames"]
    profiles = {profile["name"]: as_speedscope_writes(sum(profile["weights"])) if profile["unit"] == "bytes"
                else f"{sum(profile['weights']):,}"
                for profile in data["profiles"]}
    first = data["profiles"][data["activeProfileIndex"]]
    sums = collections.Counter()
    for stack, weight in zip(first["samples"], first["weights"]):
        for index in set(stack):
            sums[index] += weight
    functions = collections.defaultdict(set)
    for index, value in sums.items():
        functions[frames[index]["name"]].add(as_speedscope_writes(value))
    return first["name"], profiles, functions


def check(browser, release, path, work):
    name, profiles, functions = expectations(path)
    browser.exceptions.clear()
    script = os.path.join(work, "profile.js")
    with open(path, "rb") as source, open(script, "w", encoding="ascii") as target:
        content = base64.b64encode(source.read()).decode()
        target.write(f"speedscope.loadFileFromBase64({json.dumps(os.path.basename(path))}, {json.dumps(content)})")
    page = f"file://{release}/index.html#localProfilePath={script}&view=sandwich"
    target_id = browser.call("Target.createTarget", url=page)["targetId"]
    session = browser.call("Target.attachToTarget", targetId=target_id, flatten=True)["sessionId"]
    browser.call("Runtime.enable", session)
    evaluate = lambda text: browser.call("Runtime.evaluate", session, expression=text,
                                         returnByValue=True)["result"].get("value")
    text = wait_for("the profile", lambda: (lambda t: t if name in t or "went wrong" in t
                                            else None)(evaluate("document.body.innerText") or ""))
    evaluate("window.dispatchEvent(new KeyboardEvent('keydown', {key: '3'}))")
    rows = wait_for("the table", lambda: evaluate(ROWS))
    browser.call("Target.closeTarget", targetId=target_id)
    problems = [f"speedscope says: {text.strip()}"] if "went wrong" in text else []
    problems += [f"speedscope threw: {exception}" for exception in browser.exceptions]
    shown = 0
    for cells in rows:
        cells = [cell.replace("\u00a0", " ").strip() for cell in cells]
        if cells[0].isdigit():  # the list of profiles: number, name, total
            known = {profiles.get(cells[1])}
            label, amount = cells[1], cells[2]
        else:  # the table: total, self, function
            known = functions.get(cells[2], set())
            label, amount = cells[2], cells[0].split(" (")[0]
            shown += 1
        if amount not in known:
            problems.append(f"{label}: {amount} is shown, expected {known}")
    if shown == 0:
        problems.append("no functions are shown")
    for problem in problems:
        print(f"{path}: {problem}")
    print(f"{path}: {name} is shown first; {shown} functions are in view, {len(problems)} wrong")
    return not problems


def main():
    release, *paths = sys.argv[1:]
    binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    work = tempfile.mkdtemp(prefix="heapprof-speedscope-")
    browser = Chromium(binary, ["--allow-file-access-from-files", "--enable-unsafe-swiftshader"])
    try:
        results = [check(browser, os.path.abspath(release), path, work) for path in paths]
    finally:
        browser.close()
        shutil.rmtree(work, ignore_errors=True)
    sys.exit(0 if all(results) else 1)


main()
