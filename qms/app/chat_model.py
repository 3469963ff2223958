"""Chooses the language model of the settings, with its API key from the environment."""

import threading
from collections.abc import Callable, Mapping

from qms.config.settings import LlmSettings
from qms.models.chat_client import ChatClient
from qms.models.chat_limits import GuardedChat
from qms.models.choose import ChosenChat


class ChatChooser:
    """Returns the model of the current settings, the same object until they change."""

    def __init__(self, settings: Callable[[], LlmSettings], environment: Mapping[str, str]) -> None:
        self._settings = settings
        self._environment = environment
        self._lock = threading.Lock()
        self._chosen_for: tuple[LlmSettings, str] | None = None
        self._chosen = ChosenChat()

    def __call__(self) -> ChosenChat:
        """Return the model in use, or why there is none."""
        wanted = self._settings()
        key = self._environment.get(wanted.api_key_env, "") if wanted.api_key_env else ""
        with self._lock:
            if self._chosen_for != (wanted, key):
                self._chosen = _choose(wanted, key)
                self._chosen_for = (wanted, key)
            return self._chosen


def _choose(wanted: LlmSettings, key: str) -> ChosenChat:
    if not wanted.base_url:
        return ChosenChat(reason="no language model is configured")
    if not wanted.model:
        return ChosenChat(reason="llm.model names no model")
    if wanted.api_key_env and not key:
        return ChosenChat(reason=f"the environment variable {wanted.api_key_env} holds no key")
    client = ChatClient(
        wanted.base_url, wanted.model, api_key=key or None, timeout_s=wanted.timeout_seconds
    )
    return ChosenChat(model=GuardedChat(client))
