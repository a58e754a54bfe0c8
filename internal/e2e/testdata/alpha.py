"""Krippendorff's alpha, nominal, from a long CSV: python3 alpha.py FILE MODALITY

By its definition, 1 - observed / expected disagreement, over all pairs of votes:
within an item, and among all votes of items with two or more.
"""
import csv
import itertools
import sys

items = {}
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        if row["modality"] == sys.argv[2]:
            items.setdefault(row["item"], []).append(row["label"])
items = [votes for votes in items.values() if len(votes) > 1]
votes = [vote for of in items for vote in of]
n = len(votes)
observed = sum(
    sum(a != b for a, b in itertools.permutations(of, 2)) / (len(of) - 1) for of in items
) / n
expected = sum(a != b for a, b in itertools.permutations(votes, 2)) / (n * (n - 1))
print(repr(1 - observed / expected))
