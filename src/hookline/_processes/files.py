"""Files that no directory lists: gone when the last descriptor is closed, however this program ends."""

import errno
import os
from pathlib import Path


def nameless_file() -> int:
    """The descriptor of an empty file, in memory where the system can do that."""
    try:
        # Random, so that whoever holds this one open can be told from whoever holds another.
        return os.memfd_create(f"hookline-{os.urandom(8).hex()}")
    except AttributeError:  # not Linux
        pass
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.EPERM):  # else a sandbox does not let us
            raise
    import tempfile

    fd, path = tempfile.mkstemp(prefix="hookline-")
    Path(path).unlink()
    return fd
