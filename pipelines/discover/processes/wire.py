"""What parent and parser process say to each other: length-prefixed messages over pipes, JSON and raw bytes.

child   {"ready": true}                                   once, when its imports are done
parent  {"repo": key, "types": {table: [type, ..]},       a batch, followed by one message of bytes for each file
         "files": [[path, language], ..]}
child   nothing, an empty message                         after each file, so that it is known which one is being parsed
child   {"outcomes": [[column of parse.Outcome, ..], ..], after the last file: what became of each,
         "tables": {table: {"counts": [rows, ..],           the rows of each file,
                            "sizes": [bytes, ..]}}}         and the buffers of each column, which are
child   buffers                                             one more message, one after the other
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

_LENGTH = struct.Struct("<Q")


def frame(payload: bytes) -> bytes:
    """Return a message with its length before it."""
    return _LENGTH.pack(len(payload)) + payload


def read_frame(stream: BinaryIO) -> bytes | None:
    """Read one message; None where the stream ends, be it inside a message."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    payload = stream.read(length)
    return payload if len(payload) == length else None


def take_frames(buffer: bytearray) -> Iterator[bytes]:
    """Cut the complete messages off the front of a buffer and yield them."""
    position = 0
    while len(buffer) - position >= _LENGTH.size:
        (length,) = _LENGTH.unpack_from(buffer, position)
        end = position + _LENGTH.size + length
        if end > len(buffer):
            break
        yield bytes(buffer[position + _LENGTH.size : end])
        position = end
    del buffer[:position]
