"""The command line, with one thread per job set before anything computes."""

from __future__ import annotations

import os
import sys

# A sum over several threads depends on their number, and results must not.
ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "BLIS_NUM_THREADS",
)


def main() -> None:
    """Run the command line, and leave with its exit code."""
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    from credence.cli import run_command_line
    from credence.cli.ending import Told, end_when_told

    end_when_told()
    try:
        code = run_command_line()
    except Told as told:
        print(f"Stopped by {told.name}.", file=sys.stderr)
        code = told.code
    raise SystemExit(code)


if __name__ == "__main__":
    main()
