"""The build backend of tracelens-compat: that of tracelens-native, on other files."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))  # in a checkout; a source archive has the module here
import tracelens_build  # noqa: E402

compat = tracelens_build.Compat(HERE)
