"""The table of teas."""

import csv
from pathlib import Path
from typing import NamedTuple

TABLE = Path(__file__).parent.parent / "data" / "teas.csv"


class Tea(NamedTuple):
    name: str
    celsius: int
    seconds: int


def load(path=TABLE):
    """All teas of a table, by name."""
    with open(path, newline="", encoding="utf-8") as table:
        return {
            row["name"]: Tea(row["name"], int(row["celsius"]), int(row["seconds"]))
            for row in csv.DictReader(table)
        }
