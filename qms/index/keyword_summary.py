"""What is remembered of the entries in the files of a keyword index."""

import msgspec


class Summary(msgspec.Struct, frozen=True):
    """What is remembered of the entries in the files.

    Removed ones still count as to languages; a sample is a term that a field holds.
    """

    languages: dict[str, int] = {}
    samples: dict[str, str] = {}

    def joined(self, other: "Summary") -> "Summary":
        """Return the summary of both."""
        languages = {
            name: self.languages.get(name, 0) + other.languages.get(name, 0)
            for name in {**self.languages, **other.languages}
        }
        return Summary(languages, {**self.samples, **other.samples})
