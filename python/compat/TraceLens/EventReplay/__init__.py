"""Calling a recorded op again, with inputs of the same shapes and types."""

from .event_replay import EventReplayer
