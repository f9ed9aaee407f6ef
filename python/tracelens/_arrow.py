"""What speaks Arrow: any object with ``__arrow_c_stream__``, and the libraries that read such objects."""

from __future__ import annotations

from typing import Any


class ArrowStream:
    """Gives a class with ``__arrow_c_stream__`` the usual ways out."""

    __slots__ = ()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A capsule with a stream of Arrow's C interface; for other libraries to call."""
        raise NotImplementedError

    def to_arrow(self) -> Any:
        """A pyarrow.Table; needs pyarrow 15 or later."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> Any:
        """A polars.DataFrame; needs polars 1.3 or later."""
        import polars

        return polars.DataFrame(self)
