"""A summary of the entries in the keyword files: languages, and a sample term per field."""

import msgspec


class Summary(msgspec.Struct, frozen=True):
    """Entries per language, and one term of each field.

    Removed entries still count.
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
