"""The HTTP API, sessions and the files of the admin page."""
