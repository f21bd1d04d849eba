"""Many messages of one kind at once: bodies in an Arrow array, framed without passing through Python one by one."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from millpond.values.arrays import Array, pc
from millpond.values.binary_output import fixed_size

_HEADER = np.dtype([("code", "S1"), ("length", ">i4")])
_LENGTH_BYTES = 4


def framed(code: bytes, bodies: Array) -> bytes:
    """The messages that have these bodies, given as bytes."""
    if not len(bodies):
        return b""
    header = np.empty(len(bodies), _HEADER)
    header["code"] = code
    header["length"] = pc.binary_length(bodies).to_numpy(zero_copy_only=False) + _LENGTH_BYTES
    messages = pc.binary_join_element_wise(fixed_size(header), bodies.cast(pa.binary()), b"")
    # The messages lie one behind the other already: an array's data is what is sent.
    _, offsets, data = messages.buffers()
    ends = np.frombuffer(offsets, np.int32, len(messages) + 1, messages.offset * 4)
    return bytes(memoryview(data)[int(ends[0]) : int(ends[-1])])
