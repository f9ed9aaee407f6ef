"""Names of a package that are imported on first use, and may be a module's name at the same time."""

import sys
from importlib import import_module
from types import ModuleType


class _Package(ModuleType):
    """Keeps the import system from putting a module in the place of the class of that name."""

    def __setattr__(self, name, value):
        if name in self.__dict__["_homes"] and isinstance(value, ModuleType):
            return
        super().__setattr__(name, value)

    def __getattr__(self, name):
        home = self.__dict__["_homes"].get(name)
        if home is not None:
            found = getattr(import_module(f"{self.__name__}.{home}"), name)
        elif name in self.__dict__["_packages"]:
            found = import_module(f"{self.__name__}.{name}")
        else:
            found = self.__dict__["_other"](name)
        self.__dict__[name] = found
        return found


def _nothing(package):
    def missing(name):
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return missing


def let_names_be_both(package, homes, packages=(), other=None):
    """`homes`: name -> the module below `package` that has it; `other` is asked for any other name."""
    module = sys.modules[package]
    module.__dict__.update(
        _homes=homes, _packages=frozenset(packages), _other=other or _nothing(package)
    )
    module.__class__ = _Package
