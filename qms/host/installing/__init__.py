"""Former path of `qms.platforms.setup`."""
