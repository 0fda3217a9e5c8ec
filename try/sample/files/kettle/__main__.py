"""brew.sh TEA [STEEP]"""

import configparser
import sys
from pathlib import Path

from kettle import clock, teas

SETTINGS = Path(__file__).parent.parent / "kettle.ini"


def main(name, number="1"):
    settings = configparser.ConfigParser()
    settings.read(SETTINGS, encoding="utf-8")
    table = teas.load()
    if name not in table:
        return f"no {name} in the cupboard; there is {', '.join(sorted(table))}"
    tea = table[name]
    which = name if number == "1" else f"{name}, steep {number}"
    celsius = min(tea.celsius, settings.getint("kettle", "boiling"))
    seconds = tea.steep(int(number), settings.getfloat("taste", "strength"))
    print(f"{which}: {celsius} °C, {clock.face(seconds)}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(f"usage: {__doc__}")
    sys.exit(main(*sys.argv[1:]))
