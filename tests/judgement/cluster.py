# tests/judgement/cluster.py: what is wrong with it, or not, stands in truth.tsv.
"""cluster: groups customers with k-means and prints the quality of the grouping."""
import time

import numpy as np

CUSTOMERS = 12000
FEATURES = 16
GROUPS = 48
BATCH = 500


def load_customers(rng):
    centres = rng.normal(0, 6, size=(GROUPS, FEATURES))
    labels = rng.integers(0, GROUPS, size=CUSTOMERS)
    return centres[labels] + rng.normal(0, 1.0, size=(CUSTOMERS, FEATURES))


def standardise(points):
    points -= points.mean(axis=0)
    points /= points.std(axis=0)
    return points


def nearest_group(points, centres):
    """Index of the nearest centre for each point, in batches."""
    owner = np.empty(len(points), dtype=np.int32)
    half_norm = 0.5 * (centres ** 2).sum(axis=1)
    for start in range(0, len(points), BATCH):
        part = points[start:start + BATCH]
        owner[start:start + BATCH] = np.argmax(part @ centres.T - half_norm, axis=1)
    return owner


def move_centres(points, owner, centres):
    for g in range(len(centres)):
        members = points[owner == g]
        if len(members):
            centres[g] = members.mean(axis=0)
    return centres


def fit(points, rng, rounds=40):
    centres = points[rng.choice(len(points), GROUPS, replace=False)].copy()
    owner = None
    for _ in range(rounds):
        new_owner = nearest_group(points, centres)
        if owner is not None and (owner == new_owner).all():
            break
        owner = new_owner
        centres = move_centres(points, owner, centres)
    return centres, owner


def silhouette(points, centres, owner):
    """Simplified silhouette: distance to the own centre against the next best one."""
    diff = points[:, None, :] - centres[None, :, :]
    dist = np.sqrt(np.einsum("ngf,ngf->ng", diff, diff))
    own = dist[np.arange(len(points)), owner].copy()
    dist[np.arange(len(points)), owner] = np.inf
    other = dist.min(axis=1)
    return (other - own) / np.maximum(other, own)


def stability(points, rng, repeats):
    """How often pairs of customers stay together when the run is repeated on a sample."""
    agree = []
    for _ in range(repeats):
        sample = points[rng.choice(len(points), 3000, replace=False)]
        first = fit(sample, rng, rounds=12)[1]
        second = fit(sample, rng, rounds=12)[1]
        a, b = rng.integers(0, len(sample), size=(2, 5000))
        agree.append(((first[a] == first[b]) == (second[a] == second[b])).mean())
    return float(np.mean(agree))


def main():
    rng = np.random.default_rng(12)
    started = time.perf_counter()
    points = standardise(load_customers(rng))
    centres, owner = fit(points, rng)
    quality = silhouette(points, centres, owner)
    print("silhouette %.4f, worst group %.4f" % (
        quality.mean(), min(quality[owner == g].mean() for g in range(GROUPS) if (owner == g).any())))
    print("stability %.4f" % stability(points, rng, 12))
    assert time.perf_counter() > started


if __name__ == "__main__":
    main()
