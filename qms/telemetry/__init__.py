"""Log setup, the audit log, metric definitions and time series."""
