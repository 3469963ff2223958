"""Programs for whoever works on the server; none is part of the installation."""
