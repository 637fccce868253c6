# tests/support/stays_at_snapshots.py PROFILE.json…: what stays say was live at a snapshot's bound is what the snapshot
# itself says, of each site of each device, in bytes and in blocks: the two are counted in different ways. Fails where
# none could be compared.
import json
import sys


def lists_of(sites, names, values):
    return dict(zip(sites.get(names, []), sites.get(values, [])))


def at_snapshot(steps, snapshot):
    amount = (0, 0)
    for i in range(0, len(steps), 3):
        if steps[i] > snapshot:
            break
        amount = (steps[i + 1], steps[i + 2])
    return amount


wrong = 0
for name in sys.argv[1:]:
    extension = json.load(open(name))["heapprof"]
    snapshots = extension["snapshots"]["snapshots"]
    compared = {}
    for device in extension["devices"]:
        bounds, sites = device.get("bounds_ns", []), device["sites"]
        steps, stays = lists_of(sites, "stepped", "steps"), lists_of(sites, "stayed", "stays")
        for number, snapshot in enumerate(snapshots):
            near = [i for i, bound in enumerate(bounds) if abs(bound - snapshot["at_ns"]) <= 2]
            if not near:
                continue  # given up for others
            for site in set(steps) | set(stays):
                want = at_snapshot(steps.get(site, []), number)
                of = stays.get(site, [])
                got = set()
                for bound in near:  # of bounds that lie together one is the snapshot's
                    live = [0, 0]
                    for i in range(0, len(of), 4):
                        if of[i] < bound <= of[i + 1]:
                            live[0] += of[i + 2]
                            live[1] += of[i + 3]
                    got.add(tuple(live))
                compared[device["name"]] = compared.get(device["name"], 0) + 1
                # A piece of a mapping that is unmapped before the rest has bytes and no block: a block counts to its
                # last page.
                same = want in got or (device["name"].startswith("mapped") and want[0] in {live[0] for live in got})
                if not same:
                    wrong += 1
                    if wrong < 6:
                        where = f"{name}: {device['name']} site {site} at snapshot {number}"
                        print(f"FAIL: {where}: {sorted(got)}, the snapshot has {want}")
    print(name, " ".join(f"{device} {count}" for device, count in compared.items()) or "nothing to compare")
    if not compared:
        wrong += 1
print(f"{wrong} wrong")
sys.exit(1 if wrong else 0)
