"""TFRecord files with one `tf.train.Example` each, in plain Python and NumPy.

A record is: length (8 bytes), masked CRC-32C of the length, data, masked CRC-32C of the data. TensorFlow reads what this writes.
"""

import functools
import gzip
import io
import struct
import zlib

import numpy

from .report import InputError

POLYNOMIAL = 0x82F63B78


def _table():
    values = numpy.arange(256, dtype=numpy.uint32)
    for _ in range(8):
        values = numpy.where(values & 1, (values >> 1) ^ numpy.uint32(POLYNOMIAL), values >> 1)
    return values


TABLE = _table()


def _apply(matrix, values):
    """Product of a matrix over GF(2), 32 columns, with each of the values."""
    result = numpy.zeros_like(values)
    for bit in range(32):
        result ^= numpy.where(values >> numpy.uint32(bit) & numpy.uint32(1), matrix[bit], numpy.uint32(0))
    return result


def _zeros(count):
    """The matrix that appends `count` zero bytes to a CRC."""
    power = numpy.uint32(1) << numpy.arange(32, dtype=numpy.uint32)
    result = power.copy()
    for _ in range(8):  # one byte
        power = numpy.where(power & 1, (power >> 1) ^ numpy.uint32(POLYNOMIAL), power >> 1)
    while count:
        if count & 1:
            result = _apply(power, result)
        power = _apply(power, power)
        count >>= 1
    return result


@functools.lru_cache(maxsize=64)
def _join(count):
    """Four tables of 256 that append `count` zero bytes to a CRC, one for each of its bytes."""
    matrix, values = _zeros(count), numpy.arange(256, dtype=numpy.uint32)
    return [_apply(matrix, values << numpy.uint32(8 * byte)) for byte in range(4)]


def _append_zeros(crc, count):
    a, b, c, d = _join(count)
    low = numpy.uint32(255)
    return a[crc & low] ^ b[crc >> numpy.uint32(8) & low] ^ c[crc >> numpy.uint32(16) & low] ^ d[crc >> numpy.uint32(24)]


def crc32c(data):
    """CRC-32C: lanes of the data in parallel, then joined two by two. Leading zeros do not change a CRC that starts at 0."""
    data = numpy.frombuffer(data, numpy.uint8)
    lanes = 1 << max(0, min(16, (len(data) // 64).bit_length()))
    width = -(-max(len(data), 1) // lanes)
    padded = numpy.zeros(lanes * width, numpy.uint8)
    padded[len(padded) - len(data) :] = data
    crc = numpy.zeros(lanes, numpy.uint32)
    for column in numpy.ascontiguousarray(padded.reshape(lanes, width).T):
        crc = TABLE[(crc ^ column) & numpy.uint32(255)] ^ (crc >> numpy.uint32(8))
    while len(crc) > 1:
        crc = _append_zeros(crc[0::2], width) ^ crc[1::2]
        width *= 2
    start = _append_zeros(numpy.array([0xFFFFFFFF], numpy.uint32), len(data))  # what the initial value becomes
    return int(crc[0] ^ start[0]) ^ 0xFFFFFFFF


def _masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def _varint(value):
    result = bytearray()
    while value > 127:
        result.append(value & 127 | 128)
        value >>= 7
    result.append(value)
    return bytes(result)


def _field(number, payload):
    return _varint(number << 3 | 2) + _varint(len(payload)) + payload


def encode_example(features):
    """A `tf.train.Example` of bytes and of arrays of float32."""
    entries = b""
    for name, value in features.items():
        if isinstance(value, bytes):
            content = _field(1, _field(1, value))
        else:
            content = _field(2, _field(1, numpy.asarray(value, "<f4").tobytes()))
        entries += _field(1, _field(1, name.encode()) + _field(2, content))
    return _field(1, entries)


def encode_record(features):
    data = encode_example(features)
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


def compress(data):
    """gzip without time and name, so that equal data give equal files."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, compresslevel=1, mtime=0) as file:
        file.write(data)
    return buffer.getvalue()


def _fields(data):
    """Yields (number, content) of the fields of a message; only lengths, numbers and fixed widths that occur here."""
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        kind = key & 7
        if kind == 2:
            size, at = _read_varint(data, at)
            end = at + size
            if end > len(data):
                raise ValueError("a field ends behind its message")
            yield key >> 3, data[at:end]
        elif kind == 5:
            end = at + 4
            yield key >> 3, data[at:end]
        elif kind == 0:
            value, end = _read_varint(data, at)
            yield key >> 3, value
        else:
            raise ValueError(f"unexpected wire type {kind}")
        at = end


def _read_varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data):
            raise ValueError("a number is cut short")
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def decode_example(data):
    """The features of a `tf.train.Example`: bytes, or float32 arrays; integers are left out."""
    result = {}
    for _, features in _fields(data):
        for _, entry in _fields(features):
            parts = dict(_fields(entry))
            for kind, content in _fields(parts[2]):
                if kind == 1:
                    result[bytes(parts[1]).decode()] = b"".join(bytes(value) for _, value in _fields(content))
                elif kind == 2:
                    packed = b"".join(bytes(value) for _, value in _fields(content))
                    result[bytes(parts[1]).decode()] = numpy.frombuffer(packed, "<f4")
    return result


def read_records(place, content):
    """Yields the data of each record of a file's content, compressed or not; `place` names the file in errors."""
    is_compressed = content[:2] == b"\x1f\x8b"
    if is_compressed:
        try:
            content = gzip.decompress(content)
        except (EOFError, OSError, zlib.error) as problem:
            raise InputError(place, f"is cut short or damaged (gzip: {problem})", "fetch or generate the file again") from problem
    view, at = memoryview(content), 0
    while at < len(view):
        if at + 12 > len(view):
            raise InputError(place, f"is cut short: a header of 12 bytes was expected at byte {at}")
        (length,) = struct.unpack_from("<Q", view, at)
        if _masked(view[at : at + 8]) != view[at + 8 : at + 12]:
            raise InputError(place, f"is not a TFRecord file: wrong checksum of the length at byte {at}")
        if at + 16 + length > len(view):
            raise InputError(place, f"is cut short: the record at byte {at} declares {length} bytes, {len(view) - at - 12} are left")
        data = view[at + 12 : at + 12 + length]
        # gzip has verified a checksum of all bytes already.
        if not is_compressed and _masked(data) != view[at + 12 + length : at + 16 + length]:
            raise InputError(place, f"is damaged: wrong checksum of the record at byte {at}")
        yield data
        at += 16 + length
