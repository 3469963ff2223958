"""Made-up secrets of every kind, put together here so that no scanner takes them for real ones."""

_MIXED = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5kL7n"

MADE_UP: dict[str, str] = {
    "an AWS access key": "AKIA" + "IOSFODNN7" + "EXAMPLE",
    "a GitHub token": "ghp_" + _MIXED[:36],
    "a GitLab token": "glpat-" + _MIXED[:20],
    "a Slack token": "xoxb-" + "123456789012-" + _MIXED[:24],
    "a Google API key": "AIza" + _MIXED[:35],
    "a Stripe key": "sk_live_" + _MIXED[:24],
    "a key for a language model": "sk-" + "proj-" + _MIXED,
    "a key of this server": "qms_" + _MIXED + "x-_",
    "a JSON Web Token": ".".join(("eyJ" + _MIXED[:20], "eyJ" + _MIXED[:30], _MIXED)),
    "a private key": "-----BEGIN RSA " + "PRIVATE KEY-----\nProc-Type: 4\n\nMIIEow\n-----END RSA "
    "PRIVATE KEY-----",
}
"""A secret for each kind that has a mark of its own."""

ASSIGNED = "Tr0ub4dor" + "3Xk9"
"""A value that only its name gives away."""
