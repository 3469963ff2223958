"""What the server can do, one folder a capability."""
