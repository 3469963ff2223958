"""A printout of what the stages computed."""

import math

from qms.search.explain import explain
from qms.search.hits import Exact
from qms.search.profiles import PROFILES, ProfileName
from tests.support.searching import make_hits, record


def test_stages_come_in_their_order_with_score_rank_and_weight() -> None:
    records = [record("a", "x"), record("b", "y")]
    hits = make_hits(
        records,
        [Exact.ID, None],
        text=[1.0, 2.0],
        vector=[math.nan, 0.5],
        priority=[0.5, 0.5],
        score=[3.0, 2.0],
    ).ranked()
    explained = explain(hits, 0, PROFILES[ProfileName.DEFAULT])
    assert [(one.stage, one.score, one.rank) for one in explained.stages] == [
        ("text", 1.0, 2),
        ("priority", 0.5, 1),
        ("score", 3.0, 1),
    ]
    assert [one.weight for one in explained.stages] == [None, 0.04, None]
    assert explained.exact == "id"
