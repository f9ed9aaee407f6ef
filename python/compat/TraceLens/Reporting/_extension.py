"""Extension files: a Python module of the user's with hooks of fixed names."""

import importlib.util
import os
import warnings

from ..PerfModel.torch_op_mapping import (
    OP_CATEGORY_REGISTRY,
    op_to_perf_model_class_map,
    register_op_categories,
    register_perf_model_categories,
)


def load_extension(path):
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or not os.path.exists(path):
        raise FileNotFoundError(f"{path}: no such extension file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _dict_of(module, name):
    found = getattr(module, name, None)
    if found is not None and not isinstance(found, dict):
        raise ValueError(f"{name} must be a dictionary")
    return found


def apply_hooks(analyzer, module):
    tree_hook = getattr(module, "tree_postprocess_extension", None)
    if tree_hook is not None:
        tree_hook(analyzer.tree)
        analyzer.tree.label_non_gpu_paths()
    models = _dict_of(module, "perf_model_extension")
    if models:
        register_perf_model_categories(models, OP_CATEGORY_REGISTRY)
        op_to_perf_model_class_map.update(models)
    categories = _dict_of(module, "op_category_extension")
    if categories:
        register_op_categories(categories, OP_CATEGORY_REGISTRY)
    if hasattr(module, "dict_cat2names_extension"):
        warnings.warn(
            "dict_cat2names_extension is deprecated and has no effect; give the model class a "
            "category instead", DeprecationWarning, stacklevel=3)  # fmt: skip


def more_sheets(analyzer, path):
    hook = getattr(load_extension(path), "get_additional_dataframes_extension", None)
    return hook(analyzer.tree) if hook is not None else {}
