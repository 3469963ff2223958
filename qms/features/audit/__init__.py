"""Audit log, server log and metrics of the last hour, for administrators."""
