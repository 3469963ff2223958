from qms.index.embedding_rate import RECENT_BATCHES, EmbeddingRate


def test_before_the_first_batch_the_time_is_not_known() -> None:
    rate = EmbeddingRate()
    rate.note(0, 5.0)

    assert rate.seconds_for(10) is None
    assert rate.seconds_for(0) == 0


def test_the_time_follows_from_what_recent_batches_took() -> None:
    rate = EmbeddingRate()
    rate.note(30, 2.0)
    rate.note(10, 2.0)

    assert rate.seconds_for(100) == 10
    assert rate.seconds_for(1) == 1


def test_batches_of_long_ago_do_not_count() -> None:
    rate = EmbeddingRate()
    rate.note(1, 1000.0)
    for _ in range(RECENT_BATCHES):
        rate.note(10, 1.0)

    assert rate.seconds_for(100) == 10
