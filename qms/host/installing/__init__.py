"""What the setup program for Windows has the new version do: data, rights, service, going back."""
