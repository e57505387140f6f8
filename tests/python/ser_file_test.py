"""Reading of reordering decisions: three forms, one table; faults name their place."""
import gzip
import io
import itertools
import os
import random
import struct
import subprocess
import unittest
from unittest import mock

import numpy as np

from sm89 import ser, ser_file
from ser_records import (COLUMNS, REPOSITORY, Folder, block_of, compact_of, csv_of, end_of, jsonl_of, record, row_of,
                         some_records)


def as_records(trace):
    """Back to dictionaries of the CSV's columns."""
    columns = [values.tolist() for values in trace.table().values()]
    return [dict(zip(COLUMNS, row)) for row in zip(*columns)]


class Forms(unittest.TestCase):
    def setUp(self):
        self.folder = Folder(self)

    def write_all(self, records):
        return [self.folder.file("t.csv", csv_of(records)), self.folder.file("t.jsonl", jsonl_of(records)),
                self.folder.file("t.bin", compact_of(records))]

    def test_each_form_gives_the_records_that_were_written(self):
        records = some_records(2500, seed=1)
        for path in self.write_all(records):
            self.assertEqual(as_records(ser.load(path)), records, path)

    def test_largest_values_fit(self):
        records = [dict(record(2**64 - 1, 0, 2**32 - 1), sm=65535, launch=2**32 - 1, warp=65535, pc=2**32 - 1,
                        source_scheduler=255, target_scheduler=255, joins_warp=65535)]
        for path in self.write_all(records):
            self.assertEqual(as_records(ser.load(path)), records, path)

    def test_lines_may_cross_the_reader_s_blocks(self):
        records = some_records(300, seed=2)
        paths = self.write_all(records)
        # Longer than any line, shorter than two of them.
        with mock.patch.object(ser_file, "_BLOCK_BYTES", 307):
            for path in paths:
                self.assertEqual(as_records(ser.load(path)), records, path)

    def test_content_decides_and_not_the_name(self):
        records = some_records(20, seed=3)
        for data in (csv_of(records), jsonl_of(records), compact_of(records)):
            self.assertEqual(as_records(ser.load(self.folder.file("any.name", data))), records)

    def test_carriage_returns_and_another_order_of_fields_are_read(self):
        records = some_records(20, seed=4)
        self.assertEqual(as_records(ser.load(self.folder.file("t.csv", csv_of(records).replace(b"\n", b"\r\n")))), records)
        turned = [dict(reversed(item.items())) for item in records]
        self.assertEqual(as_records(ser.load(self.folder.file("t.jsonl", jsonl_of(turned)))), records)

    def test_gzip_files_are_read_in_each_form(self):
        records = some_records(2500, seed=32)
        for path in self.write_all(records):
            with open(path, "rb") as source:
                data = source.read()
            # As one member and, as parallel packers write, as several, of which the first ends inside the magic.
            for packed in (gzip.compress(data), gzip.compress(data[:3]) + gzip.compress(data[3:5000]) + gzip.compress(data[5000:])):
                self.assertEqual(as_records(ser.load(self.folder.file("t.gz", packed))), records, path)

    def test_a_pipe_may_give_its_first_bytes_one_by_one(self):
        class Slow(io.RawIOBase):
            def __init__(self, data):
                super().__init__()
                self.data = io.BytesIO(data)

            def readable(self):
                return True

            def readinto(self, buffer):
                part = self.data.read(1)
                buffer[:len(part)] = part
                return len(part)

        records = some_records(5, seed=33)
        for data in (csv_of(records), jsonl_of(records), compact_of(records), gzip.compress(csv_of(records))):
            with mock.patch("sys.stdin", mock.Mock(buffer=mock.Mock(raw=Slow(data)))):
                self.assertEqual(as_records(ser.load("-")), records)

    def test_no_decision_is_no_row(self):
        for path in self.write_all([]):
            self.assertEqual(len(ser.load(path)), 0, path)

    def test_a_selection_is_what_a_plain_filter_gives(self):
        records = some_records(1000, seed=5)
        parts = {"sm": (None, 1), "launch": (None, 0), "span": ((None, None), (1100, None), (1100, 50))}
        for path in self.write_all(records):
            for sm, launch, (cycle, window) in itertools.product(*parts.values()):
                want = [item for item in records if sm in (None, item["sm"]) and launch in (None, item["launch"]) and
                        (cycle is None or item["cycle"] >= cycle) and (window is None or item["cycle"] < cycle + window)]
                self.assertGreater(len(want), 10)
                self.assertEqual(as_records(ser.load(path, sm=sm, launch=launch, cycle=cycle, window=window)), want)

    def test_limit_is_of_the_selection(self):
        records = [record(cycle, 0, 1, sm=cycle % 2) for cycle in range(100)]
        for path in self.write_all(records):
            self.assertEqual(len(ser.load(path, sm=1, limit=50)), 50)
            with self.assertRaisesRegex(ser.SerLimitError, r"more than 49 decisions \(SM 1\)"):
                ser.load(path, sm=1, limit=49)


class SimulatorsFiles(unittest.TestCase):
    """What sm89-sim writes, in all three forms of one run."""

    def test_forms_of_one_run_are_equal_and_agree_with_its_counters(self):
        folder = Folder(self)
        tables = []
        for name in ("moves.csv", "moves.jsonl", "moves.sertrc"):
            command = [os.path.join(os.environ["SM89_BIN_DIR"], "sm89-sim"), "--config", "RTX4090_SER",
                       "--cubin", "tests/data/kernels/divergent.sm_89.cubin", "--launch", "tests/data/ser/crowded.json",
                       "--ser-trace", folder.file(name), "--csv", folder.file("run.csv")]
            subprocess.run(command, check=True, cwd=REPOSITORY, stdout=subprocess.DEVNULL)
            tables.append(ser.load(folder.file(name)).rows)
        self.assertGreater(len(tables[0]), 10000)
        np.testing.assert_array_equal(tables[0], tables[1])
        np.testing.assert_array_equal(tables[0], tables[2])
        with open(folder.file("run.csv"), encoding="utf-8") as source:
            names, values = (line.rstrip("\n").split(",") for line in itertools.islice(source, 2))
        counters = dict(zip(names, values))
        summary = ser.load(folder.file("moves.csv")).summary()
        self.assertEqual(summary.decisions, int(counters["sm_ser_invocations"]))
        self.assertEqual(summary.moved_threads, int(counters["sm_ser_moved_threads"]))
        self.assertEqual(summary.by("reason")["BRANCH_DIV"].decisions, int(counters["sm_ser_merges"]))


GOOD = record(1000, 5, 0xF0)


def csv_with(**changes):
    return csv_of([GOOD, dict(GOOD, **changes)])


def json_with(old, new):
    return jsonl_of([GOOD]) + jsonl_of([GOOD]).replace(old, new)


# Data, and what the message says behind the file's name.
BAD_TEXT = {
    "empty": (b"", r":1: not a file of reordering decisions \('', expected the CSV header cycle,sm,.*SM89SER1\)"),
    "other": (b"kernel,id\n1,2\n", r":1: not a file of reordering decisions \('kernel,id', expected"),
    "letters": (csv_with(warp="x1"), r":3: not a number \(warp = 'x1', expected 0 to 65535\)"),
    "sign": (csv_with(cycle="-1"), r":3: not a number \(cycle = '-1', expected 0 to 18446744073709551615\)"),
    "nothing": (csv_with(pc=""), r":3: not a number \(pc = '', expected 0 to 4294967295\)"),
    "too large": (csv_with(sm=65536), r":3: out of range \(sm = '65536', expected 0 to 65535\)"),
    "2^64": (csv_with(cycle=2**64), r":3: out of range \(cycle = '18446744073709551616', expected 0 to"),
    "issued": (csv_with(issued=2), r":3: out of range \(issued = '2', expected 0 to 1\)"),
    "reason": (csv_with(reason="MEM"), r":3: an unknown reason \(reason = 'MEM', expected one of MEMORY_STALL, BRANCH_DIV, "),
    "reason of a length": (csv_with(reason="BRANCH_DIX"), r":3: an unknown reason \(reason = 'BRANCH_DIX', expected"),
    "reason's number": (csv_with(reason=1), r":3: an unknown reason \(reason = '1', expected"),
    "unit": (csv_with(unit="FP64"), r":3: an unknown unit \(unit = 'FP64', expected one of SP, SFU, TC, MEM\)"),
    "threads": (csv_with(threads=5), r":3: threads and lanes differ \(threads = '5', expected 4, the number of ones in lanes 240"),
    "few fields": (csv_of([GOOD]) + b"1,2,3\n", r":3: a row of 3 fields \('1,2,3', expected 13: cycle,"),
    "blank line": (csv_of([GOOD]) + b"\n", r":3: a row of 1 fields"),
    "cut": (csv_of([GOOD])[:-1], r":2: the file ends inside a line \('1000,0,0,5,.*', expected a line end: the file was cut\)"),
    "not UTF-8": (csv_of([GOOD]) + b"\xff\n", r":3: a row of 1 fields"),
    "zstd": (b"\x28\xb5\x2f\xfd\x04\x58", r": packed with zstd \(expected it unpacked, or packed with gzip: the CSV header"),
    "xz": (b"\xfd7zXZ\0\0\4", r": packed with xz \(expected it unpacked"),
    "bytes": (b"\x7fELF\2\1\1\0\0", r": neither text nor the compact form \(first bytes = '7f 45 4c 46 02 01 01 00', expected"),
    "gzip cut": (gzip.compress(csv_of([GOOD]))[:-9], r": the file ends inside its gzip data \(expected its end: it was cut\)"),
    "gzip sum": (gzip.compress(csv_of([GOOD]))[:-8] + bytes(8), r": damaged gzip data: CRC check failed 0x0 != 0x\w+ \(expected what gzip -t"),
    "gzip tail": (gzip.compress(csv_of([GOOD])) + b"x" * 20, r": damaged gzip data: Not a gzipped file \(expected what gzip -t"),
    "gzip method": (b"\x1f\x8b\x01" + bytes(20), r": damaged gzip data: Unknown compression method \("),
    "gzip block": (gzip.compress(b"")[:10] + b"\xff" * 20, r": damaged gzip data: Error -3 while decompressing data: "),
    "gzip line": (gzip.compress(csv_with(warp="x1")), r":3: not a number \(warp = 'x1', expected 0 to 65535\)"),
    "gzip twice": (gzip.compress(gzip.compress(b"", mtime=0)), r": neither text nor the compact form \(first bytes = '1f 8b 08"),
    "json short": (b"{}\n{}\n", r":1: a field is missing \(cycle, expected the fields cycle,"),
    "json cut": (jsonl_of([GOOD])[:-9], r":1: the file ends inside a line"),
    "json text": (json_with(b"{", b"{x"), r":2: not JSON: .* \('\{x\"cycle.*', expected an object a line\)"),
    "json depth": (jsonl_of([GOOD]) + b"[" * 200_000 + b"\n", r":2: not JSON: nested too deeply"),
    "json digits": (json_with(b'"warp":5', b'"warp":' + b"9" * 5000), r":2: not JSON: a number too long"),
    "unprintable": (csv_with(pc="\x1b[2J"), r":3: not a number \(pc = '\?\[2J', expected"),
    "json list": (jsonl_of([GOOD]) + b"[1]\n", r":2: not an object \('\[1\]', expected an object a line\)"),
    "json two": (jsonl_of([GOOD]).replace(b"\n", b"," + jsonl_of([GOOD])), r":1: not JSON: Extra data"),
    "json halves": (jsonl_of([GOOD]).replace(b',"sm"', b'\n"sm"') + jsonl_of([GOOD])[:-1] + b"," + jsonl_of([GOOD]),
                    r":1: not JSON: .* \('\{\"cycle\":1000', expected an object a line\)"),
    "json missing": (json_with(b'"warp":5,', b""), r":2: a field is missing \(warp, expected the fields cycle,"),
    "json unknown": (json_with(b"{", b'{"x":1,'), r":2: an unknown field \(x, expected the fields cycle,"),
    "json text number": (json_with(b'"warp":5', b'"warp":"5"'), r":2: of another type \(warp = '\"5\"', expected a whole number\)"),
    "json fraction": (json_with(b'"warp":5', b'"warp":5.0'), r":2: of another type \(warp = '5.0', expected a whole number\)"),
    "json truth": (json_with(b'"warp":5', b'"warp":true'), r":2: of another type \(warp = 'true', expected a whole number\)"),
    "json issued": (json_with(b"true", b"1"), r":2: of another type \(issued = '1', expected true or false\)"),
    "json negative": (json_with(b'"warp":5', b'"warp":-5'), r":2: out of range \(warp = '-5', expected 0 to 65535\)"),
    "json reason": (json_with(b"IDLE_EXEC_UNIT", b"IDLE"), r":2: an unknown reason \(reason = 'IDLE', expected one of"),
    "json threads": (json_with(b'"threads":4', b'"threads":3'), r":2: threads and lanes differ \(threads = '3', expected 4"),
}

_BLOCK = block_of(row_of(GOOD))
_END = 8 + len(_BLOCK)
BAD_COMPACT = {
    "begin": (b"SM89SER1", r": at byte 8: the file ends without its end record \(expected .* that count 0 rows: it was cut\)"),
    "no end": (b"SM89SER1" + _BLOCK, rf": at byte {_END}: the file ends without its end record \(expected .* count 1 rows"),
    "end": (compact_of([GOOD])[:-1], rf": at byte {_END}: the file ends inside its end record \(expected 16 bytes: it was cut\)"),
    "fewer rows": (b"SM89SER1" + _BLOCK + end_of(2), rf": at byte {_END}: the end record counts other rows \(rows = '2', expected 1\)"),
    "more rows": (b"SM89SER1" + _BLOCK * 2 + end_of(1), rf"the end record counts other rows \(rows = '1', expected 2\)"),
    "other count": (b"SM89SER1" + end_of(2**64 - 1), r": at byte 8: .* \(rows = '18446744073709551615', expected 0\)"),
    "tail": (compact_of([GOOD]) + b"\0", rf": at byte {_END + 16}: bytes behind the end record \(expected the file's end\)"),
    "two files": (compact_of([GOOD]) * 2, rf": at byte {_END + 16}: bytes behind the end record"),
    "no rows": (b"SM89SER1" + struct.pack("<II", 0, 9) + b"012345678", r": at byte 8: a block of no whole rows \(raw bytes = '0'"),
    "gzip": (gzip.compress(b"SM89SER1" + _BLOCK), rf": at byte {_END}: the file ends without its end record"),
    "head": (b"SM89SER1" + _BLOCK + b"123", rf": at byte {_END}: the file ends inside a block's head"),
    "block": (b"SM89SER1" + _BLOCK[:-1], r": at byte 8: the file ends inside a block \(packed bytes = '\d+', expected"),
    "rows": (b"SM89SER1" + block_of(row_of(GOOD)[:-1]), r": at byte 8: a block of no whole rows \(raw bytes = '31', expected a"),
    "raw size": (b"SM89SER1" + struct.pack("<II", 2**31, 10) + b"0123456789", r": at byte 8: a block of no whole rows"),
    "packed size": (b"SM89SER1" + struct.pack("<II", 32, 2**31), r": at byte 8: a block larger than its rows can be"),
    "frame": (b"SM89SER1" + struct.pack("<II", 32, 10) + b"0123456789", r": at byte 8: a damaged block: .*expected a zstd"),
    "frame's size": (b"SM89SER1" + struct.pack("<I", 64) + _BLOCK[4:], r": at byte 8: a damaged block: its frame holds 32 bytes"),
    "reason": (b"SM89SER1" + block_of(row_of(GOOD) + row_of(GOOD)[:28] + b"\x03\0\1\0"),
               r": at byte 8: row 1 of the block: out of range \(reason = '3', expected 0 to 2\)"),
    "unit": (b"SM89SER1" + block_of(row_of(GOOD)[:29] + b"\x04\1\0"), r"row 0 of the block: out of range \(unit = '4', expected 0"),
    "issued": (b"SM89SER1" + block_of(row_of(GOOD)[:30] + b"\x02\0"), r"row 0 of the block: out of range \(issued = '2'"),
}


class Faults(unittest.TestCase):
    def setUp(self):
        self.folder = Folder(self)

    def test_each_names_file_place_field_value_and_what_was_expected(self):
        for name, (data, message) in {**BAD_TEXT, **BAD_COMPACT}.items():
            path = self.folder.file("bad", data)
            with self.subTest(name), self.assertRaisesRegex(ser.SerError, "^" + path + ".*" + message):
                ser.load(path)

    def test_the_fast_way_never_reads_what_the_slow_way_refuses(self):
        random_ = random.Random(28)
        forms = ((csv_of(some_records(4, seed=29)).split(b"\n", 1)[1], ser_file._csv_fast, ser_file._csv_by_line),
                 (jsonl_of(some_records(4, seed=29)), ser_file._json_fast, ser_file._json_by_line))
        read = refused = 0
        for data, fast, slow in forms:
            for _ in range(3000):
                changed = bytearray(data)
                for _ in range(random_.randrange(1, 3)):
                    at = random_.randrange(len(changed))
                    changed[at:at + random_.randrange(3)] = random_.choice(
                        (b"", b"0", b"1", b"9", b",", b"\n", b" ", b"-", b'"', b"}", b"e1", b"."))
                if not changed.endswith(b"\n"):
                    changed += b"\n"
                rows = fast(bytes(changed))
                try:
                    wanted = slow("t", bytes(changed), 1)
                    read += 1
                except ser.SerError:
                    refused += 1
                    self.assertIsNone(rows, changed)
                    continue
                if rows is not None:
                    np.testing.assert_array_equal(rows, wanted)
        self.assertGreater(min(read, refused), 100)

    def test_damaged_compact_files_are_refused_or_read(self):
        random_ = random.Random(30)
        data = compact_of(some_records(50, seed=31), 20)
        refused = 0
        for _ in range(1000):
            changed = bytearray(data[:random_.randrange(9, len(data) + 1)])
            changed[random_.randrange(8, len(changed))] ^= 1 << random_.randrange(8)
            try:
                self.assertLessEqual(len(ser.load(self.folder.file("t.bin", bytes(changed)))), 50)
            except ser.SerError:
                refused += 1
        self.assertGreater(refused, 500)

    def test_a_compact_file_is_refused_wherever_it_is_cut(self):
        for records in ([], some_records(50, seed=34)):
            data = compact_of(records, 20)
            for size in range(len(data)):
                with self.assertRaisesRegex(ser.SerError, "at byte|:1: not a file of reordering decisions", msg=size):
                    ser.load(self.folder.file("t.bin", data[:size]))

    def test_lines_are_counted_over_blocks(self):
        records = some_records(500, seed=6)
        data = csv_of(records) + csv_with(warp="x").split(b"\n")[2] + b"\n"
        with mock.patch.object(ser_file, "_BLOCK_BYTES", 4096), self.assertRaisesRegex(ser.SerError, r":502: not a number"):
            ser.load(self.folder.file("t.csv", data))

    def test_a_line_without_end_is_not_read_into_memory(self):
        with mock.patch.object(ser_file, "_BLOCK_BYTES", 1000), self.assertRaisesRegex(ser.SerError, r":2: a line of more than"):
            ser.load(self.folder.file("t.csv", csv_of([]) + b"1" * 5000))

    def test_no_file(self):
        with self.assertRaisesRegex(ser.SerError, r"none.csv: cannot be read: No such file"):
            ser.load(self.folder.file("none.csv"))
        with self.assertRaisesRegex(ser.SerError, r"cannot be read: Is a directory"):
            ser.load(self.folder.path)


if __name__ == "__main__":
    unittest.main()
