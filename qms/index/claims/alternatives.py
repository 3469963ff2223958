"""Groups of alternatives of which a project usually chooses one; two choices contradict."""

_GROUPS = {
    "database": "postgresql postgres mysql mariadb sqlite oracle mongodb mssql dynamodb",
    "cache": "redis valkey memcached",
    "broker": "kafka rabbitmq nats sqs pulsar",
    "container": "docker podman",
    "orchestrator": "kubernetes nomad swarm",
    "javascript packages": "npm yarn pnpm bun",
    "python packages": "pip poetry uv pipenv conda",
    "java build": "maven gradle bazel",
    "python tests": "pytest unittest nose",
    "javascript tests": "jest vitest mocha jasmine",
    "python linter": "ruff flake8 pylint",
    "front end": "react vue angular svelte preact",
    "python web": "django flask fastapi starlette",
    "version control": "git mercurial svn",
    "indentation": "tabs spaces",
}
_SPELLINGS = {"postgres": "postgresql"}

GROUP_OF = {name: group for group, names in _GROUPS.items() for name in names.split()}
"""The group of each alternative, by its name in lower case."""

CHOOSING = frozenset(
    (
        *("use", "uses", "using", "prefer", "prefers", "choose", "chooses", "chose", "adopt"),
        *("adopts", "pick", "picks", "picked", "adopted", "chosen", "selected", "standardise"),
        *("standardize", "nutzen", "nutzt", "verwenden", "verwendet"),
    )
)
"""Verbs that express a choice."""


def spelled(name: str) -> str:
    """Return the canonical name of an alternative."""
    return _SPELLINGS.get(name, name)
