"""The service on Windows, systemd and launchd, and the steps of the Windows setup program."""
