"""Every open, write, sync, replace and lock: the one place where faults are injected."""
