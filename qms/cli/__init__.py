"""Command line programs `memoryctl` and `qms`."""
