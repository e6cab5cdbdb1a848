"""Writes an archive that import has to refuse: make_hostile.py CASE OUT.pt2"""

import io
import sys
import warnings
import zipfile

warnings.simplefilter("ignore")  # of the name that is there twice
MODEL = "m/models/model.json"


def archive(*entries, compression=zipfile.ZIP_STORED):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", compression) as out:
        for name, text in entries:
            out.writestr(name, text)
    return data.getvalue()


def patched(offset, value):
    """The directory's entry with four bytes replaced."""
    data = bytearray(archive((MODEL, "{}")))
    at = data.rfind(b"PK\1\2") + offset
    data[at : at + 4] = value.to_bytes(4, "little")
    return bytes(data)


CASES = {
    "truncated": lambda: archive((MODEL, "{}" * 500))[:300],
    "compressed": lambda: archive((MODEL, "{}" * 5000), compression=zipfile.ZIP_DEFLATED),
    "dots": lambda: archive(("m/../models/model.json", "{}")),
    "twice": lambda: archive((MODEL, "{}"), (MODEL, "{}")),
    "folders": lambda: archive((MODEL, "{}"), ("other/file", "")),
    "missing": lambda: archive(("m/byteorder", "little")),
    "order": lambda: archive((MODEL, "{}"), ("m/byteorder", "big")),
    "size": lambda: patched(24, 0x7FFFFFFF),
    "offset": lambda: patched(42, 0x7FFFFFFF),
    "deep": lambda: archive((MODEL, "[" * 100000)),
    "text": lambda: archive((MODEL, "{")),
    "version": lambda: archive((MODEL, '{"schema_version": {"major": 9, "minor": 1}, "torch_version": "9.9"}')),
    "fields": lambda: archive((MODEL, '{"schema_version": {"major": 8, "minor": 1}, "range_constraints": 3}')),
}

with open(sys.argv[2], "wb") as out:
    out.write(CASES[sys.argv[1]]())
