"""The watch over the memory of test processes."""

from tests.support.worker_memory import MemoryWatch, watch_this_process


class Readings:
    """A process whose memory a test sets."""

    def __init__(self) -> None:
        self.now = self.peak = 200
        self.garbage = 0
        self.collections = 0

    def watch(self) -> MemoryWatch:
        return MemoryWatch(lambda: self.now, self._collect, limit=1000)

    def grow(self, kept: int, garbage: int = 0) -> None:
        self.now += kept + garbage
        self.garbage += garbage
        self.peak = max(self.peak, self.now)

    def _collect(self) -> None:
        self.collections += 1
        self.now -= self.garbage
        self.garbage = 0


def test_a_process_above_the_limit_is_told_once_with_the_modules_that_grew_most() -> None:
    readings = Readings()
    watch = readings.watch()
    for module, kept in (("a.py", 10), ("b.py", 700), ("c.py", 200)):
        assert watch.complaint() is None
        readings.grow(kept)
        watch.note(module)

    told = watch.complaint()

    assert told is not None
    assert "1110 MB" in told
    assert told.index("b.py (+700 MB)") < told.index("c.py (+200 MB)")
    assert watch.complaint() is None


def test_what_can_be_collected_does_not_count() -> None:
    readings = Readings()
    watch = readings.watch()
    readings.grow(0, garbage=1500)

    assert watch.complaint() is None
    assert readings.now == 200


def test_garbage_is_collected_when_it_has_grown_and_not_after_every_test() -> None:
    readings = Readings()
    watch = readings.watch()
    for _ in range(100):
        readings.grow(0, garbage=10)
        watch.note("a.py")

    assert readings.peak < 300
    assert readings.collections < 20
    assert watch.complaint() is None


def test_the_memory_of_this_process_is_read() -> None:
    watch = watch_this_process()
    kept = b"x" * (40 << 20)
    watch.note("here")

    assert watch.growth["here"] >= 30
    assert kept
