"""The command line, with one thread per job set before anything computes."""

import os
import sys

# A sum over several threads depends on their number, and results must not.
ONE_THREAD = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
    *("NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "BLIS_NUM_THREADS"),
)


def main() -> None:
    """Run the command line, and leave with its exit code."""
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    from credence.app import run_command_line
    from credence.app.ending import Terminated, end_on_signal

    end_on_signal()
    try:
        code = run_command_line()
    except Terminated as message:
        print(f"Stopped by {message.name}.", file=sys.stderr)
        code = message.code
    raise SystemExit(code)


if __name__ == "__main__":
    main()
