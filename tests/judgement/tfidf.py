# tests/judgement/tfidf.py: what is wrong with it, or not, stands in truth.tsv.
"""tfidf: weighs the terms of a document collection and finds the most similar documents."""
import math
import random
import sys
from array import array
from collections import Counter

DOCUMENTS = 3000
SYLLABLES = ["ar", "ben", "cor", "di", "eft", "gol", "ha", "ix", "jun", "kel"]


def make_document(rng):
    words = []
    for _ in range(rng.randrange(80, 240)):
        n = int(12000 * rng.random() ** 3)
        words.append("".join(SYLLABLES[int(d)] for d in "%05d" % n))
    return " ".join(words)


class Collection:
    """Term numbers and counts for each document, in compact arrays."""

    def __init__(self):
        self.term_ids = {}
        self.document_frequency = array("I")
        self.terms = []
        self.counts = []

    def add(self, text):
        counted = Counter(text.split())
        ids = array("I")
        counts = array("H")
        for word, n in counted.items():
            term = self.term_ids.get(word)
            if term is None:
                term = self.term_ids[sys.intern(word)] = len(self.term_ids)
                self.document_frequency.append(0)
            self.document_frequency[term] += 1
            ids.append(term)
            counts.append(n)
        self.terms.append(ids)
        self.counts.append(counts)

    def weights(self):
        """One {term: weight} dictionary for each document, scaled to length one."""
        total = len(self.terms)
        idf = [math.log(total / df) for df in self.document_frequency]
        result = []
        for ids, counts in zip(self.terms, self.counts):
            vector = {t: (1 + math.log(n)) * idf[t] for t, n in zip(ids, counts)}
            length = math.sqrt(sum(w * w for w in vector.values())) or 1.0
            for t in vector:
                vector[t] /= length
            result.append(vector)
        return result


def similarity(a, b):
    if len(a) > len(b):
        a, b = b, a
    return sum(w * b[t] for t, w in a.items() if t in b)


def most_similar(vectors, query, rng, tries=400):
    best = (-1.0, None)
    for _ in range(tries):
        other = rng.randrange(len(vectors))
        if other != query:
            best = max(best, (similarity(vectors[query], vectors[other]), other))
    return best


def main():
    rng = random.Random(99)
    collection = Collection()
    for _ in range(DOCUMENTS):
        collection.add(make_document(rng))
    vectors = collection.weights()
    score = 0.0
    for query in range(0, DOCUMENTS, 40):
        score += most_similar(vectors, query, rng)[0]
    print("%d terms, mean best similarity %.4f" % (len(collection.term_ids), score / (DOCUMENTS / 40)))


if __name__ == "__main__":
    main()
