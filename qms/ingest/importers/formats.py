"""The formats that memories can be imported from, and which reader is whose."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import StrEnum

from qms.ingest.importers.ai_memory import read_ai_memory
from qms.ingest.importers.items import Item, Opener
from qms.ingest.importers.json_export import read_json_export
from qms.ingest.importers.jsonl import read_jsonl
from qms.ingest.importers.markdown import read_note
from qms.ingest.importers.server_memory import read_server_memory
from qms.ingest.importers.table import read_table


class ImportFormat(StrEnum):
    """What wrote a file of memories."""

    JSONL = "jsonl"
    JSON = "json"
    MARKDOWN = "markdown"
    CSV = "csv"
    AI_MEMORY = "aiMemory"
    SERVER_MEMORY = "serverMemory"


def read_memories(
    open_file: Opener,
    form: ImportFormat,
    *,
    project: str,
    name: str,
    columns: Mapping[str, str],
    now: datetime,
) -> Iterator[Item]:
    """Yield the memories of one file as entries of `project`; `name` is the file's own.

    Raises:
        InvalidInputError: a table lacks a column that it needs.
    """
    match form:
        case ImportFormat.AI_MEMORY:
            yield from read_ai_memory(open_file, project, now)
        case ImportFormat.SERVER_MEMORY:
            yield from read_server_memory(open_file, project)
        case ImportFormat.JSON:
            yield from read_json_export(open_file, project)
        case ImportFormat.CSV:
            yield from read_table(open_file, columns)
        case ImportFormat.MARKDOWN:
            with open_file() as file:
                yield read_note(file.read(), name, project)
        case ImportFormat.JSONL:
            yield from read_jsonl(open_file, project)
