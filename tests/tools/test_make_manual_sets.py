"""Manual pages become memory sets that the scorer reads, and no memory holds its question."""

import gzip
from pathlib import Path

from click.testing import CliRunner

from tools.benchmarks.retrieval_sets import read_sets
from tools.make_manual_sets import main

PAGE = """.TH CMP 1
.SH BEZEICHNUNG
cmp \\- vergleicht zwei Dateien Byte f\u00fcr Byte
.SH \u00dcBERSICHT
.B cmp
.SH BESCHREIBUNG
.B cmp
pr\u00fcft, ob \\fBzwei\\fR Dateien gleich sind.
.PP
"""


def test_a_page_is_a_memory_and_its_description_the_question(tmp_path: Path) -> None:
    manuals = tmp_path / "man"
    folder = manuals / "de" / "man1"
    folder.mkdir(parents=True)
    long = PAGE + "Weitere Worte folgen hier. " * 20
    (folder / "cmp.1.gz").write_bytes(gzip.compress(long.encode()))
    (folder / "short.1").write_text(PAGE, encoding="utf-8")
    (folder / "other.1").write_text(".so man1/cmp.1\n", encoding="utf-8")

    words = [str(tmp_path / "sets"), "--language", "de", "--manuals", str(manuals)]
    done = CliRunner().invoke(main, words, catch_exceptions=False)

    assert done.exit_code == 0
    (made,) = read_sets(tmp_path / "sets" / "man-de.jsonl.gz")
    (memory,), (question,) = made.docs, made.questions
    assert memory.text.startswith("cmp pr\u00fcft, ob zwei Dateien gleich sind. Weitere Worte")
    assert question.text == "vergleicht zwei Dateien Byte f\u00fcr Byte"
    assert question.gold == {memory.id: 1}
    assert question.text not in memory.text
