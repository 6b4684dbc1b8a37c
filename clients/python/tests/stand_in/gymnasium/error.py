class Error(Exception):
    pass


class ResetNeeded(Error):
    """step() before the first reset()."""
