"""The label and exit codes that the server shares with the service managers."""

LABEL = "quick-memory-server"
"""The name for systemd, launchd and accounts, which use lower-case names."""

UNEXPECTED = 1

EXPLANATIONS = {
    0: "it stopped as requested",
    UNEXPECTED: "something unexpected happened: logs/qms.log says what",
    2: "the configuration is not valid, or would open the server to other machines unprotected:"
    " logs/qms.log names the line; `memoryctl config validate` checks a correction",
    5: "another process owns the root: logs/qms.log names it; stop it, or give the service"
    " another root",
    6: "the root cannot be used, or the server cannot listen on its address: logs/qms.log says why;"
    " `memoryctl doctor` looks for the cause",
}
"""The codes are those of `qms serve`; on Windows they are the service-specific ones."""


def explain(code: int) -> str:
    """Return what an exit code of the server means and what to do about it."""
    return EXPLANATIONS.get(code, f"exit code {code}: logs/qms.log may say more")
