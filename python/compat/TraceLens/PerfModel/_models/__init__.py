"""The performance models, one module per family. `perf_model` shows them under one roof."""
