"""Reads what `sm89-sim --ser-trace FILE` writes: decisions of the reordering stage (sim/sm/SER.md), a research model.

Three forms, told apart by their content: CSV, JSON lines, and compact, each also packed with gzip. Each gives the same
rows, as numpy arrays of ROW, in blocks of bounded size. A fault names file, line (compact: byte), field, value and what was
expected; of a gzip file the line and byte of what is packed.
"""

import gzip
import io
import json
import re
import struct
import sys
import zlib

import numpy as np

REASONS = ("MEMORY_STALL", "BRANCH_DIV", "IDLE_EXEC_UNIT")
UNITS = ("SP", "SFU", "TC", "MEM")
COLUMNS = ("cycle", "sm", "launch", "warp", "pc", "lanes", "threads", "reason", "unit", "source_scheduler",
           "target_scheduler", "joins_warp", "issued")
HEADER = ",".join(COLUMNS)
MAGIC = b"SM89SER1"

# A row of the compact form, little-endian, 32 bytes. `reason` and `unit` index REASONS and UNITS; `lanes` is a mask
# of the 32 lanes; `threads` is the number of its ones and not stored.
ROW = np.dtype([("cycle", "<u8"), ("launch", "<u4"), ("pc", "<u4"), ("lanes", "<u4"), ("sm", "<u2"), ("warp", "<u2"),
                ("joins_warp", "<u2"), ("source_scheduler", "u1"), ("target_scheduler", "u1"), ("reason", "u1"),
                ("unit", "u1"), ("issued", "u1"), ("zero", "u1")])
_STORED = ROW.names[:-1]
_BLOCK_BYTES = 1 << 22
# What the simulator's reader allows, too (sim/tools/ser_trace_file.cc): a block of a MiB and a row.
_COMPACT_BLOCK_BYTES = (1 << 20) + ROW.itemsize
_SHOWN = 60
_GZIP = b"\x1f\x8b"
# What else a trace may have been packed with, and is not read.
_PACKED = {b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\0": "xz", b"BZh": "bzip2", b"PK\3\4": "zip", b"\x04\x22\x4d\x18": "lz4"}
_ONES = np.array([bin(n).count("1") for n in range(1 << 16)], dtype=np.uint8)


class SerError(Exception):
    """Input that cannot be used: its text says where and why, in one line."""


class SerLimitError(SerError):
    """More rows than the caller's bound."""


class SerEmptyError(SerError):
    """Nothing to show: no decision in the file, or none in the selection."""


def fault(path, line, what, field="", value=None, expected=""):
    """A SerError in the words of sm89's programs: FILE:LINE: what (field = 'value', expected ...)."""
    details = field
    if value is not None:
        shown = "".join(letter if letter.isprintable() else "?" for letter in str(value)[:_SHOWN])
        details += f"{' = ' if details else ''}'{shown}'"
    if expected:
        details += f"{', ' if details else ''}expected {expected}"
    where = f"{path}:{line}" if line else str(path)
    return SerError(f"{where}: {what}{f' ({details})' if details else ''}")


def threads_of(rows):
    """Threads (lanes) of each row."""
    lanes = rows["lanes"]
    return _ONES[lanes & 0xFFFF].astype(np.int64) + _ONES[lanes >> 16]


def moved_of(rows):
    """Threads that each row moved: 0 where the decision was refused. Of rows that are all refused, what was to move."""
    threads = threads_of(rows)
    return threads * (rows["issued"] != 0) if rows["issued"].any() else threads


def read_blocks(path):
    """Yields arrays of ROW, in the file's order. `path` is a file, or '-' for standard input."""
    name = "standard input" if str(path) == "-" else str(path)
    try:
        stream = sys.stdin.buffer.raw if str(path) == "-" else open(path, "rb", buffering=0)
        with io.BufferedReader(stream, _BLOCK_BYTES) as stream:
            first = stream.read(len(MAGIC))
            if first.startswith(_GZIP):
                stream = gzip.GzipFile(fileobj=_Begun(first, stream), mode="rb")
                first = stream.read(len(MAGIC))
            yield from _blocks(name, stream, first)
    except EOFError:
        raise SerError(f"{name}: the file ends inside its gzip data (expected its end: it was cut)") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        # Python's words for what follows a member quote its bytes in brackets.
        raise SerError(f"{name}: damaged gzip data: {str(error).split(' (', 1)[0]} (expected what gzip -t accepts)") from None
    except OSError as error:
        raise SerError(f"{name}: cannot be read: {error.strerror} (expected a file of sm89-sim --ser-trace)") from None


class _Begun:
    """A stream whose first bytes were read before."""

    def __init__(self, first, stream):
        self._first, self._stream = first, stream

    def read(self, size=-1):
        if not self._first:
            return self._stream.read(size)
        size = len(self._first) if size < 0 else size
        part, self._first = self._first[:size], self._first[size:]
        return part


def _blocks(name, stream, first):
    """The rows of any form; `first` was read of `stream`."""
    if first == MAGIC:
        yield from _compact_blocks(name, stream)
    elif first.startswith(b"{") or (not first and name.endswith(".jsonl")):
        yield from _text_blocks(name, stream, 1, _json_rows, first)
    else:
        _check_header(name, first if b"\n" in first else first + stream.readline(4096))
        yield from _text_blocks(name, stream, 2, _csv_rows)


def _check_header(path, line):
    expected = f"the CSV header {HEADER}, JSON lines, or the compact form, which begins with SM89SER1"
    for begin, program in _PACKED.items():
        if line.startswith(begin):
            raise fault(path, 0, f"packed with {program}", expected=f"it unpacked, or packed with gzip: {expected}")
    text = line.split(b"\n", 1)[0].decode("utf-8", "replace").rstrip("\r")
    if text == HEADER and line.endswith(b"\n"):
        return
    if not all(letter.isprintable() and letter != "\ufffd" for letter in text.replace("\t", " ")):
        raise fault(path, 0, "neither text nor the compact form", "first bytes", line[:len(MAGIC)].hex(" "), expected)
    raise fault(path, 1, "not a file of reordering decisions", value=text, expected=expected)


def _text_blocks(path, stream, line, parse, first=b""):
    """Whole lines of about _BLOCK_BYTES at a time; `line` is the number of the first, which begins with `first`."""
    rest = b""
    while True:
        block = first + stream.read(_BLOCK_BYTES - len(first))
        first = b""
        if not block:
            break
        end = block.rfind(b"\n") + 1
        if end == 0:
            if len(rest) + len(block) > _BLOCK_BYTES:
                raise fault(path, line, f"a line of more than {_BLOCK_BYTES} bytes")
            rest += block
            continue
        whole = (rest + block[:end]).replace(b"\r\n", b"\n")
        rest = block[end:]
        yield parse(path, whole, line)
        line += whole.count(b"\n")
    if rest:
        raise fault(path, line, "the file ends inside a line", value=rest[:_SHOWN].decode("utf-8", "replace"),
                    expected="a line end: the file was cut")


def _limit_of(field):
    return {"threads": 32, "issued": 1}.get(field) or np.iinfo(ROW[field]).max


# --- CSV ------------------------------------------------------------------------------------------------------------

def _csv_rows(path, block, line):
    rows = _csv_fast(block)
    return rows if rows is not None else _csv_by_line(path, block, line)


def _csv_fast(block):
    """All lines at once, or None if any of them is not exactly as the simulator writes it."""
    buf = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero((buf == ord(",")) | (buf == ord("\n")))
    width = len(COLUMNS)
    count = block.count(b"\n")
    if len(ends) != count * width or not (buf[ends[width - 1::width]] == ord("\n")).all():
        return None
    starts = np.empty_like(ends)
    starts[:1] = 0
    starts[1:] = ends[:-1] + 1
    starts, ends = starts.reshape(count, width), ends.reshape(count, width)
    rows = np.zeros(count, ROW)
    for index, field in enumerate(COLUMNS):
        at, length = starts[:, index], ends[:, index] - starts[:, index]
        if field in ("reason", "unit"):
            values = _words(buf, at, length, REASONS if field == "reason" else UNITS)
        else:
            values = _numbers(buf, at, length, _limit_of(field))
        if values is None:
            return None
        if field != "threads":
            rows[field] = values
        else:
            threads = values
    return rows if (threads == threads_of(rows)).all() else None


def _numbers(buf, at, length, limit):
    """Decimal numbers up to `limit`, of at most 18 digits; None if one is anything else."""
    digits = int(length.max(initial=1))
    if int(length.min(initial=1)) < 1 or digits > 18:
        return None
    values = np.zeros(len(at), np.int64)
    for k in range(digits):
        inside = k < length
        # Behind a field's end there is at least its separator; a longer reach is cut and not used.
        digit = buf[np.minimum(at + k, len(buf) - 1)].astype(np.int64) - ord("0")
        if ((digit < 0) | (digit > 9))[inside].any():
            return None
        values = np.where(inside, values * 10 + digit, values)
    return values if int(values.max(initial=0)) <= limit else None


def _words(buf, at, length, names):
    values = np.full(len(at), 255, np.uint8)
    for code, name in enumerate(names):
        of = np.flatnonzero(length == len(name))
        spelled = np.ones(len(of), bool)
        for k, letter in enumerate(name.encode()):
            spelled &= buf[at[of] + k] == letter
        values[of[spelled]] = code
    return None if (values == 255).any() else values


def _csv_by_line(path, block, line):
    """Slowly, with the fault's place."""
    rows = []
    for number, text in enumerate(block.decode("utf-8", "replace").split("\n")[:-1], line):
        fields = text.split(",")
        if len(fields) != len(COLUMNS):
            raise fault(path, number, f"a row of {len(fields)} fields", value=text, expected=f"{len(COLUMNS)}: {HEADER}")
        values = {}
        for field, value in zip(COLUMNS, fields):
            if field in ("reason", "unit"):
                values[field] = value
            elif re.fullmatch(r"[0-9]{1,20}", value):
                values[field] = int(value)
            else:
                raise fault(path, number, "not a number", field, value, f"0 to {_limit_of(field)}")
        rows.append(_checked(path, number, values))
    return np.array(rows, ROW)


def _checked(path, number, values):
    """A ROW's tuple of a dictionary with all columns, numbers as int."""
    for field in COLUMNS:
        value = values[field]
        if field in ("reason", "unit"):
            names = REASONS if field == "reason" else UNITS
            if value not in names:
                raise fault(path, number, f"an unknown {field}", field, value, f"one of {', '.join(names)}")
        elif not 0 <= value <= _limit_of(field):
            raise fault(path, number, "out of range", field, value, f"0 to {_limit_of(field)}")
    threads = bin(values["lanes"]).count("1")
    if values["threads"] != threads:
        raise fault(path, number, "threads and lanes differ", "threads", values["threads"],
                    f"{threads}, the number of ones in lanes {values['lanes']}")
    stored = dict(values, reason=REASONS.index(values["reason"]), unit=UNITS.index(values["unit"]))
    return tuple(stored[field] for field in _STORED) + (0,)


# --- JSON lines -----------------------------------------------------------------------------------------------------

def _json_rows(path, block, line):
    rows = _json_fast(block)
    return rows if rows is not None else _json_by_line(path, block, line)


def _json_fast(block):
    """All lines at once, or None if any of them is not exactly as the simulator writes it."""
    lines = block.split(b"\n")[:-1]
    # Else two halves of an object, and two objects on a line, could make up for each other below.
    if not all(line.startswith(b"{") and line.endswith(b"}") for line in lines):
        return None
    try:
        objects = json.loads(b"[" + b",".join(lines) + b"]")
    except (ValueError, RecursionError):
        return None
    if len(objects) != len(lines):
        return None
    rows = np.zeros(len(objects), ROW)
    codes = {"reason": {name: code for code, name in enumerate(REASONS)},
             "unit": {name: code for code, name in enumerate(UNITS)}}
    try:
        if any(len(item) != len(COLUMNS) for item in objects):
            return None
        for field in COLUMNS:
            values = [item[field] for item in objects]
            if field in codes:
                rows[field] = [codes[field][value] for value in values]
                continue
            if set(map(type, values)) - {bool if field == "issued" else int}:
                return None
            if min(values, default=0) < 0 or max(values, default=0) > _limit_of(field):
                return None
            numbers = np.fromiter(values, np.uint64, len(values))
            if field != "threads":
                rows[field] = numbers
            else:
                threads = numbers
    except (KeyError, TypeError, OverflowError):
        return None
    return rows if (threads == threads_of(rows)).all() else None


def _json_by_line(path, block, line):
    rows = []
    for number, text in enumerate(block.decode("utf-8", "replace").split("\n")[:-1], line):
        try:
            values = json.loads(text)
        except (ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else getattr(error, "msg", "a number too long")
            raise fault(path, number, f"not JSON: {reason}", value=text, expected="an object a line") from None
        if not isinstance(values, dict):
            raise fault(path, number, "not an object", value=text, expected="an object a line")
        for field in COLUMNS:
            if field not in values:
                raise fault(path, number, "a field is missing", field, expected=f"the fields {HEADER}")
            value = values[field]
            kind = str if field in ("reason", "unit") else bool if field == "issued" else int
            if type(value) is not kind:
                names = {str: "a name", bool: "true or false", int: "a whole number"}
                raise fault(path, number, "of another type", field, json.dumps(value), names[kind])
        for field in values:
            if field not in COLUMNS:
                raise fault(path, number, "an unknown field", field, expected=f"the fields {HEADER}")
        rows.append(_checked(path, number, dict(values, issued=int(values["issued"]))))
    return np.array(rows, ROW)


# --- compact --------------------------------------------------------------------------------------------------------

def _compact_blocks(path, stream):
    """What follows the magic: blocks of {raw bytes, packed bytes: 32 bits each; a zstd frame of rows}, and the end record:
    a block's head of two zeros, and the number of rows, 64 bits."""
    try:
        import zstandard
    except ImportError:
        raise SerError(f"{path}: the compact form needs the Python package zstandard (Debian: python3-zstandard); "
                       "or let sm89-sim --ser-trace write NAME.csv") from None
    at, count = len(MAGIC), 0
    unpacker = zstandard.ZstdDecompressor()
    while True:
        head = stream.read(8)
        if not head:
            raise SerError(f"{path}: at byte {at}: the file ends without its end record (expected a block, or 16 bytes that "
                           f"count {count} rows: it was cut)")
        if len(head) < 8:
            raise SerError(f"{path}: at byte {at}: the file ends inside a block's head (expected 8 bytes: it was cut)")
        raw, packed = struct.unpack("<II", head)
        if raw == 0 and packed == 0:
            _check_end(path, at, stream, count)
            return
        if raw == 0 or raw % ROW.itemsize != 0 or raw > _COMPACT_BLOCK_BYTES:
            raise SerError(f"{path}: at byte {at}: a block of no whole rows (raw bytes = '{raw}', expected a multiple of "
                           f"{ROW.itemsize} from {ROW.itemsize} to {_COMPACT_BLOCK_BYTES})")
        # A frame is never much larger than its content; what says otherwise is not read into memory.
        if packed > 2 * _COMPACT_BLOCK_BYTES:
            raise SerError(f"{path}: at byte {at}: a block larger than its rows can be (packed bytes = '{packed}', "
                           f"expected 0 to {2 * _COMPACT_BLOCK_BYTES})")
        frame = stream.read(packed)
        if len(frame) < packed:
            raise SerError(f"{path}: at byte {at}: the file ends inside a block (packed bytes = '{packed}', expected "
                           f"{len(frame)} or fewer: it was cut)")
        rows = _unpacked(path, at, unpacker, frame, raw)
        yield rows
        at += 8 + packed
        count += len(rows)


def _check_end(path, at, stream, count):
    """Behind the head of the end record at byte `at`: `count` rows were read."""
    number = stream.read(8)
    if len(number) < 8:
        raise SerError(f"{path}: at byte {at}: the file ends inside its end record (expected 16 bytes: it was cut)")
    rows, = struct.unpack("<Q", number)
    if rows != count:
        raise SerError(f"{path}: at byte {at}: the end record counts other rows (rows = '{rows}', expected {count})")
    if stream.read(1):
        raise SerError(f"{path}: at byte {at + 16}: bytes behind the end record (expected the file's end)")


def _unpacked(path, at, unpacker, frame, raw):
    import zstandard
    try:
        # The size is the head's: a frame that says another one fails before anything is reserved for it.
        content = zstandard.frame_content_size(frame)
        if content not in (-1, raw):
            raise zstandard.ZstdError(f"its frame holds {content} bytes")
        text = unpacker.decompress(frame, max_output_size=raw)
    except zstandard.ZstdError as error:
        raise SerError(f"{path}: at byte {at}: a damaged block: {error} (expected a zstd frame of {raw} bytes)") from None
    if len(text) != raw:
        raise SerError(f"{path}: at byte {at}: a damaged block: {len(text)} bytes (expected {raw})")
    rows = np.frombuffer(text, ROW)
    for field, limit in (("reason", len(REASONS) - 1), ("unit", len(UNITS) - 1), ("issued", 1), ("zero", 0)):
        bad = np.flatnonzero(rows[field] > limit)
        if len(bad):
            raise SerError(f"{path}: at byte {at}: row {bad[0]} of the block: out of range "
                           f"({field} = '{rows[field][bad[0]]}', expected 0 to {limit})")
    return rows
