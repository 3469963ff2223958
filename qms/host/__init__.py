"""Module paths that earlier versions wrote down on a machine; they stay importable until 1.0."""
