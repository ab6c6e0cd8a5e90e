"""One file per step, numbered; a released step never changes."""
