/** The file that agents change in several places, for tests of taking a part of it. */
export const clock = `"""A kettle that tells when the tea is ready."""
import time

BREAK = 60


def face(seconds):
    if seconds < 0:
        raise ValueError("the tea is ready")
    minutes, seconds = divmod(seconds, 60)
    return f"{minutes}:{seconds}"


def wait(seconds, tick=time.sleep):
    left = seconds
    while left > 0:
        yield face(left)
        tick(1)
        left -= 1


def rest(kind):
    """How long nobody may touch the pot."""
    return BREAK if kind == "green" else 0


def minutes(text):
    number, unit = text.split()
    if unit not in ("min", "minutes"):
        raise ValueError(unit)
    return int(number) * 60
`;
