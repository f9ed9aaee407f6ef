"""The helpers under the path that newer programs import them from."""
