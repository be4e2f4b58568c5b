"""Rows of files, a block at a time: JSON lines and arrays, CSV, Parquet."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import zlib

# Rows in a block, bytes in a line, bytes of a JSON file that is one array.
BLOCK = 1 << 15
MAX_LINE = 64 << 20
MAX_ARRAY = 1 << 30
OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError)


class _Counted(io.RawIOBase):
    """A file that reports how far it was read."""

    def __init__(self, path, progress):
        self.file, self.progress = path.open("rb"), progress
        self.done, self.size = 0, path.stat().st_size

    def readable(self):
        return True

    def readinto(self, buffer):
        n = self.file.readinto(buffer)
        self.done += n
        if self.progress is not None:
            self.progress(self.done, self.size)
        return n

    def close(self):
        self.file.close()
        super().close()


def suffix(path):
    """What the name of a file ends in, without that of its compression."""
    parts = [s.lower() for s in path.suffixes]
    return parts[-2] if len(parts) > 1 and parts[-1] in OPENERS else parts[-1] if parts else ""


def binary(path, progress=None):
    """The file, unpacked as it is read."""
    raw = io.BufferedReader(_Counted(path, progress), 1 << 20)
    opener = OPENERS.get(path.suffix.lower())
    return raw if opener is None else io.BufferedReader(opener(raw), 1 << 20)


def start(path, size=1 << 16):
    """The first bytes, unpacked."""
    try:
        with binary(path) as file:
            return file.read(size)
    except BROKEN as error:
        raise ValueError(f"it cannot be unpacked ({error})") from None


def rows(path, progress=None):
    """Yield lists of the objects in a file of JSON lines, or in a JSON array."""
    try:
        with binary(path, progress) as file:
            first = file.peek(64).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
            yield from _array(file) if first == b"[" else _lines(file)
    except BROKEN as error:
        raise ValueError(f"it cannot be read to its end ({error})") from None


def _lines(file):
    block = []
    number = 0
    while line := file.readline(MAX_LINE):
        number += 1
        if len(line) == MAX_LINE:
            raise ValueError(f"line {number} is longer than {MAX_LINE >> 20} MiB")
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"line {number} is not JSON ({error})") from None
        if not isinstance(row, dict):
            raise ValueError(f"line {number} is a {type(row).__name__}, not an object")
        block.append(row)
        if len(block) == BLOCK:
            yield block
            block = []
    if block:
        yield block


def _array(file):
    text = file.read(MAX_ARRAY)
    if len(text) == MAX_ARRAY:
        raise ValueError("a JSON array of more than 1 GiB does not fit in memory: write one object "
                         "a line (.jsonl)")
    try:
        found = json.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is not JSON ({error})") from None
    if not all(isinstance(row, dict) for row in found):
        raise ValueError("it is a JSON array of something else than objects")
    yield found


# -- tables ---------------------------------------------------------------------------------


def arrow():
    """pyarrow, or a clear error."""
    try:
        import pyarrow
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError:
        raise ValueError("tables need the package pyarrow: pip install 'bayeval[io]'") from None
    return pyarrow


def csv_header(path):
    """Names of the columns, the separator, and whether the first line is followed by others."""
    text = start(path, 1 << 20)
    if b"\0" in text:
        raise ValueError("it is binary, or text in UTF-16: CSV must be UTF-8")
    try:
        line = text.decode("utf-8-sig", errors="strict" if len(text) < 1 << 20 else "ignore")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 ({error.reason} at byte {error.start})") from None
    first = line.split("\n", 1)[0]
    separator = max(",;\t|", key=first.count)
    try:
        names = next(csv.reader(io.StringIO(line, newline=""), delimiter=separator), [])
    except csv.Error as error:
        raise ValueError(f"its header cannot be read ({error})") from None
    names = [name.strip() for name in names]
    if len(names) < 2 and not line.strip():
        raise ValueError("it is empty")
    return names, separator


def csv_batches(path, names, separator, wanted, progress=None):
    """Yield dictionaries of the columns at the positions `wanted`, as arrays of text."""
    pa = arrow()
    own = [f"c{i}" for i in range(len(names))]
    use = [own[i] for i in wanted]
    try:
        with binary(path, progress) as file, pa.csv.open_csv(
                file,
                read_options=pa.csv.ReadOptions(column_names=own, skip_rows=1,
                                                block_size=1 << 20, use_threads=False),
                parse_options=pa.csv.ParseOptions(delimiter=separator, newlines_in_values=True),
                convert_options=pa.csv.ConvertOptions(
                    include_columns=use, column_types=dict.fromkeys(use, pa.string()))) as reader:
            for batch in reader:
                yield dict(zip(wanted, batch.columns))
    except pa.ArrowInvalid as error:
        if "Empty CSV file" in str(error):
            return
        raise ValueError(_first_line(error)) from None
    except BROKEN as error:
        raise ValueError(f"it cannot be read to its end ({error})") from None


def parquet_schema(path):
    """Names of the columns of a Parquet file."""
    pa = arrow()
    try:
        return pa.parquet.read_schema(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise ValueError(f"it is no whole Parquet file ({_first_line(error)})") from None


def parquet_batches(path, names, wanted, progress=None):
    """Yield dictionaries of the columns at the positions `wanted`."""
    pa = arrow()
    try:
        with pa.parquet.ParquetFile(path) as file:
            done, total = 0, file.metadata.num_rows
            for batch in file.iter_batches(columns=[names[i] for i in wanted], batch_size=BLOCK,
                                           use_threads=False):
                done += batch.num_rows
                if progress is not None:
                    progress(done, total)
                yield {i: batch.column(names[i]) for i in wanted}
    except (pa.ArrowInvalid, OSError) as error:
        raise ValueError(f"it is no whole Parquet file ({_first_line(error)})") from None


def json_batches(path, names, wanted, progress=None):
    """Yield dictionaries of lists, of the keys at the positions `wanted`."""
    for block in rows(path, progress):
        yield {i: [row.get(names[i]) for row in block] for i in wanted}


def _first_line(error):
    text = str(error).strip().splitlines()
    return text[0][:200] if text else type(error).__name__
