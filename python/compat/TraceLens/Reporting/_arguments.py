"""Command lines whose flags are the parameters of a function."""

import argparse


class Arguments:
    """`flags.add("world_size", type=int)`, ...; `parse()` gives keyword arguments."""

    def __init__(self, program, description):
        self._parser = argparse.ArgumentParser(prog=program, description=description)

    def add(self, name, short=None, alias=None, **how):
        names = [*([short] if short else []), f"--{name}", *([f"--{alias}"] if alias else [])]
        self._parser.add_argument(*names, **how)

    def positional(self, name, **how):
        self._parser.add_argument(name, **how)

    def switch(self, name, help, dest=None, off=None):
        """A flag; `off` names a parameter that it switches off."""
        how = {"dest": off, "action": "store_false"} if off else {"action": "store_true"}
        if dest:
            how["dest"] = dest
        self._parser.add_argument(f"--{name}", help=help, **how)

    def either(self, *names, required=False, **how):
        group = self._parser.add_mutually_exclusive_group(required=required)
        for name in names:
            group.add_argument(f"--{name}", **how)

    def output(self):
        self.add("output_xlsx_path", help="workbook to write")
        self.add("output_csvs_dir", help="folder for one CSV file per sheet")

    def gpu(self):
        self.either("gpu_arch_json_path", "gpu_arch_platform", help="figures of the GPU")

    def parse(self, argv=None):
        return vars(self._parser.parse_args(argv))
