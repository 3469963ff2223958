"""Values of requests and answers that verbs name; the types of the server are not imported."""

PROFILES = ("default", "aiMemory", "aiMemorySearch", "agentCli")
"""The weights of a ranking."""

MAX_RECALLED = 50
KEYWORD, KEYWORD_HASH = "keyword", "keyword+hash"
"""The mode of a search that used no embedding model, or only a hash in its place."""

LOADING, UNHEALTHY = "Loading", "Unhealthy"
"""Two states of a server's health."""

RELATED = "relatedTo"
PROPOSALS = ("tags", "contradiction")
PRE_RESTORE = "pre-restore-"
"""How the ids of backups begin that a restore makes before it changes anything."""

FIRST_ADMIN = "admin"
"""The user that a new root begins with."""
