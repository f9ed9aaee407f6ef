"""Annotations that serving engines leave in traces, and cutting traces along them."""
