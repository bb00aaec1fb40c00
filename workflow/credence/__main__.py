"""The command line, with one thread per job set before anything computes."""

import io
import os
import sys
from typing import Any, TextIO

# A sum over several threads depends on their number, and results must not.
ONE_THREAD = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
    *("NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "BLIS_NUM_THREADS"),
)


class _Unread(io.FileIO):
    """A stream that takes what nobody reads any more: `credence … | head -1` ends nothing."""

    def write(self, text: Any) -> int:
        try:
            return super().write(text)
        except BrokenPipeError:
            return len(text)


def _stream(descriptor: int, stream: TextIO | None) -> TextIO:
    """Return standard output or error once more, so that its reader may leave."""
    encoding, errors = ("utf-8", "replace") if stream is None else (stream.encoding, stream.errors)
    raw: Any = _Unread(descriptor, "wb", closefd=False)  # nothing waits that might fail at the end
    return io.TextIOWrapper(raw, encoding, errors, write_through=True)


def _open_streams() -> None:
    """Let a command do its work where standard streams are closed, or nobody reads them."""
    while (
        descriptor := os.open(os.devnull, os.O_RDWR)
    ) <= 2:  # else the next file takes the place
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    sys.stdout, sys.stderr = _stream(1, sys.stdout), _stream(2, sys.stderr)


def main() -> None:
    """Run the command line, and leave with its exit code."""
    _open_streams()
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    from credence.app import run_command_line
    from credence.app.ending import CONTROLLER, Terminated, end_me, end_on_signal, end_with

    end_on_signal()
    end_with(CONTROLLER, end_me)  # of a run: a job ends with the Snakemake that started it
    try:
        code = run_command_line()
    except Terminated as message:
        print(f"Stopped by {message.name}.", file=sys.stderr)
        code = message.code
    raise SystemExit(code)


if __name__ == "__main__":
    main()
