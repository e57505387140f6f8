"""Decisions for the tests, as dictionaries of the CSV's columns, and plain writers of the three forms."""
import json
import os
import random
import struct
import tempfile

import zstandard

COLUMNS = ("cycle", "sm", "launch", "warp", "pc", "lanes", "threads", "reason", "unit", "source_scheduler",
           "target_scheduler", "joins_warp", "issued")
REASONS = ("MEMORY_STALL", "BRANCH_DIV", "IDLE_EXEC_UNIT")
UNITS = ("SP", "SFU", "TC", "MEM")
REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def record(cycle, warp, lanes, reason="IDLE_EXEC_UNIT", unit="SP", target=0, sm=0, launch=0, pc=0x100, joins=None, issued=1):
    """One decision of a warp whose scheduler is its slot's remainder by four."""
    return {"cycle": cycle, "sm": sm, "launch": launch, "warp": warp, "pc": pc, "lanes": lanes,
            "threads": bin(lanes).count("1"), "reason": reason, "unit": unit, "source_scheduler": warp % 4,
            "target_scheduler": target, "joins_warp": warp if joins is None else joins, "issued": issued}


def some_records(count, seed, sms=3, cycles=500, launches=2):
    """Random decisions in the order of their cycles."""
    random_ = random.Random(seed)
    records = []
    for cycle in sorted(random_.randrange(1000, 1000 + cycles) for _ in range(count)):
        reason = random_.choice(REASONS)
        warp = random_.randrange(48)
        joins = random_.choice([slot for slot in range(48) if slot != warp]) if reason == "BRANCH_DIV" else warp
        records.append(record(
            cycle, warp, random_.randrange(1, 1 << 32), reason, "MEM" if reason == "MEMORY_STALL" else random_.choice(UNITS),
            joins % 4 if reason == "BRANCH_DIV" else (warp + random_.randrange(1, 4)) % 4, random_.randrange(sms),
            random_.randrange(launches), 16 * random_.randrange(1000), joins,
            int(reason != "MEMORY_STALL" or random_.random() < 0.7)))
    return records


def csv_of(records):
    lines = [",".join(str(item[column]) for column in COLUMNS) for item in records]
    return ("\n".join([",".join(COLUMNS)] + lines) + "\n").encode()


def jsonl_of(records):
    return "".join(json.dumps(dict(item, issued=bool(item["issued"])), separators=(",", ":")) + "\n"
                   for item in records).encode()


def row_of(item):
    return struct.pack("<QIIIHHHBBBBBB", item["cycle"], item["launch"], item["pc"], item["lanes"], item["sm"], item["warp"],
                       item["joins_warp"], item["source_scheduler"], item["target_scheduler"], REASONS.index(item["reason"]),
                       UNITS.index(item["unit"]), item["issued"], 0)


def block_of(raw):
    packed = zstandard.ZstdCompressor(level=3).compress(raw)
    return struct.pack("<II", len(raw), len(packed)) + packed


def compact_of(records, rows_a_block=1000):
    blocks = [b"".join(map(row_of, records[at:at + rows_a_block])) for at in range(0, len(records), rows_a_block)]
    return b"SM89SER1" + b"".join(map(block_of, blocks)) + end_of(len(records))


def end_of(rows):
    """The end record of the compact form."""
    return struct.pack("<IIQ", 0, 0, rows)


class Folder:
    """A folder of one test; `file` writes and returns the path."""

    def __init__(self, case):
        folder = tempfile.TemporaryDirectory()
        case.addCleanup(folder.cleanup)
        self.path = folder.name

    def file(self, name, data=None):
        path = os.path.join(self.path, name)
        if data is not None:
            with open(path, "wb") as out:
                out.write(data)
        return path
