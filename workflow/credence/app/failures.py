"""What went wrong, in words: what a user can fix against what is a bug."""

from __future__ import annotations

import errno

from credence.problems import InputError

FIXABLE = 2  # exit codes of DESIGN section 5
BUG = 1

# The last line of whatever a user can fix; `credence run` looks for it in the
# log of a rule that failed, to tell the two exit codes apart.
FIXABLE_LINE = "Fix this and run the command again."

SYSTEM_REMEDIES = {
    errno.ENOSPC: ("the disk is full", "Free some space, then run the command again."),
    errno.EDQUOT: ("your quota is used up", "Free some space, then run the command again."),
    errno.EACCES: ("permission denied", "Give yourself the right to it, or choose another path."),
    errno.EPERM: ("permission denied", "Give yourself the right to it, or choose another path."),
    errno.EROFS: ("the disk is read-only", "Choose a path on a disk that can be written."),
    errno.ENOENT: ("there is no such file", "Fix the path."),
    errno.EISDIR: ("this is a folder", "Name a file."),
    errno.ENOTDIR: ("a file stands where a folder should", "Fix the path."),
    errno.ENAMETOOLONG: ("the name is too long", "Choose a shorter one."),
    errno.EMFILE: ("too many files are open", "Raise the limit with: ulimit -n 4096."),
    errno.EIO: ("the disk does not answer", "Check the disk, then run the command again."),
}


def explain(error: Exception) -> str | None:
    """Return what to tell the user, or None where the error is a bug.

    Examples
    --------
    >>> print(explain(OSError(errno.ENOSPC, "No space left on device", "out.tsv")))
    out.tsv: the disk is full. Free some space, then run the command again.
    Fix this and run the command again.
    >>> explain(KeyError("x")) is None
    True
    """
    if isinstance(error, InputError):
        return f"{error.text()}\n{FIXABLE_LINE}"
    if isinstance(error, OSError) and error.errno in SYSTEM_REMEDIES:
        what, remedy = SYSTEM_REMEDIES[error.errno]
        where = error.filename or "the system"
        return f"{where}: {what}. {remedy}\n{FIXABLE_LINE}"
    if isinstance(error, ModuleNotFoundError):
        return (
            f"The Python package {error.name!r} is not installed here. What installs it is said "
            f"by: credence doctor\n{FIXABLE_LINE}"
        )
    if isinstance(error, MemoryError):
        return (
            "The memory is used up. Close other programs or use a machine with more.\n"
            f"{FIXABLE_LINE}"
        )
    return None
