"""`memoryctl call`: send any command of the server, also one that has no verb."""

import click

from qms.cli import output
from qms.cli.arguments import Verb, read_object, read_pairs, shared_options
from qms.cli.target import Asked, open_session


@click.command(cls=Verb, example="memoryctl call listEntries sort=-created include=ids")
@click.option("--request", metavar="JSON|-", help="The request; KEY=VALUE overrides its fields.")
@click.argument("command", metavar="COMMAND")
@click.argument("fields", metavar="[KEY=VALUE]...", nargs=-1)
@shared_options
def call(asked: Asked, command: str, fields: tuple[str, ...], request: str | None) -> None:
    """Send a command by its name in the API and print the answer; a value may be JSON.

    `memoryctl call describe` lists the commands of a project with their requests. It asks no
    questions: a command that removes something does so at once.
    """
    body = read_object(request, "request") if request is not None else {}
    body |= read_pairs(fields, "fields")
    with open_session(asked) as session:
        if session.backend.is_administration(command):
            answer = session.administer(command, **body)
        else:
            answer = session.call(session.project, command, body)
    if isinstance(answer, str):
        output.text(answer)
    else:
        output.answer(answer)
