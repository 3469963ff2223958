"""The version of this installation."""

__version__ = "0.1.0"
