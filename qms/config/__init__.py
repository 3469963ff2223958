"""Settings from TOML text and back."""
