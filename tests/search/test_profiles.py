"""Profiles are data that follow the systems they are named after."""

from qms.search.profiles import PROFILES, ProfileName


def test_every_name_has_a_profile() -> None:
    assert PROFILES.keys() == set(ProfileName)


def test_the_default_factors_together_are_small_beside_relevance() -> None:
    factors = PROFILES[ProfileName.DEFAULT].factors
    assert sum(getattr(factors, name) for name in factors.__struct_fields__) <= 0.2


def test_searching_like_ai_memory_differs_from_recalling_by_the_retention_only() -> None:
    recall, find = PROFILES[ProfileName.AI_MEMORY], PROFILES[ProfileName.AI_MEMORY_SEARCH]
    assert recall.factors.retention == 3.0
    assert find.factors.retention == 0.0
    assert recall.cosine_share == find.cosine_share == 0.6
