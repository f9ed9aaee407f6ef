"""The report of a JAX profile by its older name."""

from .generate_perf_report_jax import generate_perf_report_jax, main

__all__ = ["generate_perf_report_jax", "main"]

if __name__ == "__main__":
    main()
