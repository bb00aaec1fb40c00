"""Ending on a signal: what was started ends too, and nothing half-written is left."""

import contextlib
import os
import select
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType

SHELL = 128  # and the number of a signal: the exit code of what it ended
INTERRUPTED = SHELL + signal.SIGINT
SECONDS_TO_END_RUN = 15.0  # an engine is given ten
SECONDS_BETWEEN = 0.1
CONTROLLER = "CREDENCE_CONTROLLER"  # PID@HOST of the Snakemake that a job belongs to
PARENT = "CREDENCE_PARENT"  # the same of the `credence run` that a Snakemake belongs to


class Terminated(BaseException):
    """A signal asked the process to end."""

    def __init__(self, number: int) -> None:
        self.code = SHELL + number
        self.name = signal.Signals(number).name
        super().__init__(self.name)


def _notify(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # a second one would end the tidying up
    raise Terminated(number)


def end_on_signal() -> None:
    """Let SIGTERM and SIGHUP end this process like an error, with all tidying up."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:  # nohup ignores SIGHUP
            signal.signal(number, _notify)


def me() -> str:
    """Return this process as PID@HOST."""
    return f"{os.getpid()}@{socket.gethostname()}"


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let what is started meanwhile hear SIGINT, which shells mute for what runs behind them."""
    before = signal.getsignal(signal.SIGINT)
    if before == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def end_with(name: str, end: Callable[[], object]) -> None:
    """End when another process does, even where it is killed without a warning."""
    text, _, host = os.environ.get(name, "").partition("@")
    if not text.isdigit() or host != socket.gethostname() or not hasattr(os, "pidfd_open"):
        return
    try:
        descriptor = os.pidfd_open(int(text))
    except ProcessLookupError:
        end()
        return
    except OSError:
        return

    def wait() -> None:
        select.select([descriptor], [], [])  # readable as soon as the process ends
        end()

    threading.Thread(target=wait, daemon=True).start()


def end_me() -> None:
    """Ask this process to end."""
    os.kill(os.getpid(), signal.SIGTERM)


def end_my_group() -> None:
    """Interrupt this process and all that it started, where it leads a group of its own."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGINT)
    else:
        os.kill(os.getpid(), signal.SIGINT)


def end_group(process: subprocess.Popen[str]) -> None:
    """End a process that leads a group, and everything in the group.

    It is interrupted first: to Snakemake SIGTERM means to wait for the jobs at
    work, on a cluster too, where nobody else ends them.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired, ValueError):
            process.wait(timeout=SECONDS_TO_END_RUN)
        until = time.monotonic() + SECONDS_TO_END_RUN
        while process.poll() is not None and time.monotonic() < until:
            try:
                os.killpg(process.pid, 0)
            except (ProcessLookupError, PermissionError):
                return
            time.sleep(SECONDS_BETWEEN)
