"""memoryctl gc, on files."""

from tests.cli.conftest import Terminal


def test_gc_takes_out_what_is_past_its_end_and_asks_first(files: Terminal) -> None:
    files.remember("stays", "--id", "a")
    files.remember("over", "--id", "b", "--ttl", "1d")
    files.stop()
    path = files.entries_file()
    text = path.read_text(encoding="utf-8")
    start = text.index('"ttlUtc":"') + len('"ttlUtc":"')
    path.write_text(f"{text[:start]}2020{text[start + 4 :]}", encoding="utf-8")

    assert files.ok("gc", "--dry-run", "--json").json == {"expired": 1, "ids": ["default:b"]}
    assert files("gc").code == 2
    assert files.ok("gc", "--yes").line == "default:b"
    assert "nothing has expired" in files.ok("gc").err
    assert files.ok("archive", "list", "--json").json["items"][0]["reason"] == "expired"
