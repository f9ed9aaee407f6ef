"""What was called meanwhile, as events."""

import types

import torch


class ProfilerActivity:
    CPU, CUDA = "CPU", "CUDA"


class profile:
    def __init__(self, activities):
        self.activities = activities

    def __enter__(self):
        self.before = len(torch.calls)
        return self

    def __exit__(self, *problem):
        self.names = [name for name, _, _ in torch.calls[self.before:]]

    def events(self):
        return [types.SimpleNamespace(name=name, device_type="DeviceType.CPU", cpu_parent=None)
                for name in self.names]
