"""What a test runs must not depend on settings of the shell or the job that it is started from.

    from clean_environment import clean_environment
    clean_environment()  # from here on: for this process, and for all that it starts
"""
import os

# Settings of the program and of terminals, and what launchers tell the processes of a job. ./test unsets the same.
NAMES = ("COLUMNS", "LINES", "NO_COLOR", "TL_MODEL", "TL_TP", "TRACELENS_DEMO", "TRACELENS_MAX_MEMORY",
         "TRACELENS_PROGRAM", "TRACELENS_VERBOSE", "TRACELENS_VERBOSE_NATIVE_LOGS", "XDG_STATE_HOME")
PREFIXES = ("OMPI_", "PMI_", "PMIX_", "SLURM_")


def clean_environment():
    for name in list(os.environ):
        if name in NAMES or name.startswith(PREFIXES):
            del os.environ[name]
