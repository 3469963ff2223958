"""The README compares with other memory servers by figures that were measured."""

from tests.house.pages import read, table_rows

MEASURED = {
    "start to the first list of tools (CPU)": "start to the first list of tools",
    "`tools/list`, bytes": "`tools/list`, bytes",
    "store one (CPU)": "store one",
    "search (CPU)": "search",
    "found in 10: two words of the title": "found in 10: two words that stand together",
    "found in 10: three words of the text": "found in 10: three words of the text",
    "two clients at once: writes kept": "two clients at once: writes kept",
}
OVER_STDIO = 2
"""The column of the benchmark that the README leaves out."""


def test_the_figures_of_the_readme_are_those_of_the_benchmark() -> None:
    page = read("docs/benchmarks.md").partition("## Other memory servers")[2]
    benchmark = table_rows(page.partition("\n## ")[0])
    readme = {row[0]: row[1:] for row in table_rows(read("README.md"))}

    for label, start in MEASURED.items():
        (measured,) = (row for row in benchmark if row[0].startswith(start))
        kept = [cell for place, cell in enumerate(measured) if place not in (0, OVER_STDIO)]
        assert readme[label] == [cell.partition(" / ")[0] for cell in kept], label
