"""Steps of the Windows setup program."""
