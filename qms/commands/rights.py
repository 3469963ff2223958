"""Rights: what one caller may do in each project, under one version of the settings."""

from qms.config.api_keys import KeyMatch
from qms.config.settings import Endpoint, Settings
from qms.memory.access import AccessTier, Caller
from qms.memory.visibility import SHOWS_ALL, Visibility


class Rights:
    """The tiers of one caller; a project is looked up the first time that it is asked for.

    The machine's owner, a `Caller`, needs no configuration and can read the files anyway.
    """

    def __init__(self, settings: Settings, who: KeyMatch | Caller) -> None:
        self._settings = settings
        self._who = who
        self._found: dict[str, tuple[Endpoint | None, AccessTier]] = {}

    def find(self, slug: str) -> tuple[Endpoint | None, AccessTier]:
        """Return the project of this slug, compared without case, and the tier there."""
        found = self._found.get(slug)
        if found is None:
            endpoint = self._settings.find_endpoint(slug)
            found = endpoint, AccessTier.NONE if endpoint is None else self._tier_in(endpoint)
            self._found[slug] = found
            if endpoint is not None:
                self._found[endpoint.slug] = found
        return found

    def access_to(self, slug: str) -> AccessTier:
        """Return the tier in a project; none when there is no such project."""
        return self.find(slug)[1]

    def opens(self, slug: str) -> bool:
        """Say whether the caller may see the entries of a project."""
        return self.access_to(slug) >= AccessTier.READER

    @property
    def opened(self) -> list[str]:
        """Return the projects whose entries the caller may see."""
        return [slug for slug in self._settings.endpoints if self.opens(slug)]

    @property
    def own(self) -> AccessTier:
        """Return the caller's own tier, regardless of projects."""
        if isinstance(self._who, Caller):
            return self._who.access
        user = self._settings.users.get(self._who.user)
        return user.access if user else AccessTier.NONE

    @property
    def is_administrator(self) -> bool:
        """Say whether the caller administers the server, and not only a project."""
        return self.own is AccessTier.ADMIN

    @property
    def visibility(self) -> Visibility:
        """Return what the caller may see of entries."""
        return SHOWS_ALL if isinstance(self._who, Caller) else Visibility(self.opens)

    def _tier_in(self, endpoint: Endpoint) -> AccessTier:
        if isinstance(self._who, Caller):
            return self._who.access
        return self._settings.access_in(self._who.user, endpoint)
