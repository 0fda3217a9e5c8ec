"""How a span of time reads on the kitchen clock."""


def face(seconds):
    """Minutes and seconds, the way a kitchen timer shows them."""
    if seconds < 0:
        raise ValueError("the tea is ready")
    minutes, seconds = divmod(seconds, 60)
    return f"{minutes}:{seconds}"
