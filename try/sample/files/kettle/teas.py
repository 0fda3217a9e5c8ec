"""The table of teas."""

import csv
from pathlib import Path
from typing import NamedTuple

TABLE = Path(__file__).parent.parent / "data" / "teas.csv"


class Tea(NamedTuple):
    name: str
    celsius: int
    seconds: int
    extra: int

    def steep(self, number=1, strength=1.0):
        """Seconds for the first, second, … cup from the same leaves."""
        if number < 1:
            raise ValueError(f"there is no steep {number}, the first is 1")
        return round((self.seconds + self.extra * (number - 1)) * strength)


def load(path=TABLE):
    """All teas of a table, by name."""
    with open(path, newline="", encoding="utf-8") as table:
        return {
            row["name"]: Tea(row["name"], int(row["celsius"]), int(row["seconds"]), int(row["extra"]))
            for row in csv.DictReader(table)
        }
