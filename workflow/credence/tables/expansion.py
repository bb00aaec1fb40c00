"""How large a packed file may become: a file of a few kilobytes can hold terabytes of nothing."""

from __future__ import annotations

from credence.problems import InputError, refuse

# Below this nothing is asked: it fits into any memory.
FREE_BYTES = 16 << 20
# A table of ids that count up and scores that are all alike is the most that a
# real one shrinks: 75-fold as text under zstd, 800-fold as Parquet.
MOST_TIMES = 2_000
# Ten thousand million rows of a dozen numbers as text.
MOST_BYTES = 1 << 40
# Ids differ, so that a row takes room: such a table has 9 rows to a byte at most.
FREE_ROWS = 1_000_000
MOST_ROWS_PER_BYTE = 50

REMEDY = "If it is what you think, unpack it and give the plain file; else leave it alone."


def check_bytes(where: str, n_packed: int, n_unpacked: int) -> None:
    """Refuse a packed file that grows beyond all measure.

    Parameters
    ----------
    where : str
        The file, as the user named it.
    n_packed : int
        Bytes of the file.
    n_unpacked : int
        Bytes that it is known to become, or has become so far.
    """
    if n_unpacked <= FREE_BYTES:
        return
    if n_unpacked > MOST_TIMES * n_packed:
        raise _bomb(where, f"more than {MOST_TIMES:,} times its size")
    if n_unpacked > MOST_BYTES:
        raise _bomb(where, f"more than {MOST_BYTES:,} bytes")


def check_rows(where: str, n_packed: int, n_rows: int) -> None:
    """Refuse a Parquet table of more rows than ids that differ leave room for.

    Parameters
    ----------
    where : str
        The file, as the user named it.
    n_packed, n_rows : int
        Its bytes and rows.
    """
    if n_rows > FREE_ROWS and n_rows > MOST_ROWS_PER_BYTE * n_packed:
        raise _bomb(where, f"{n_rows:,} rows, from {n_packed:,} bytes")


def _bomb(where: str, what: str) -> InputError:
    return refuse(where, f"unpacked it becomes {what}, as no table does.", REMEDY)
