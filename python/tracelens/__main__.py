"""``python -m tracelens ...`` is the command ``tracelens ...``."""

import sys

from tracelens._command import become_program
from tracelens._errors import Error

try:
    become_program()
except Error as error:
    sys.exit(f"error: {error}")
