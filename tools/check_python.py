"""Say what is missing before the environment is made. Runs on any Python 3."""

import sys

if sys.version_info < (3, 11):
    sys.exit(
        "Python 3.11 or newer is needed; {} is {}.{}. Name another with `make book "
        "PYTHON=python3.12`.".format(sys.executable, *sys.version_info[:2])
    )
try:
    import ensurepip  # noqa: F401
    import venv  # noqa: F401
except ImportError:
    sys.exit(
        "This Python lacks venv or ensurepip. On Debian and Ubuntu: apt-get install python3-venv."
    )
