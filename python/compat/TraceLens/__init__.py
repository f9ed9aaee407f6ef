"""A stand-in for the Python TraceLens: its names, over the native core of `tracelens`."""

__tracelens_native__ = True
