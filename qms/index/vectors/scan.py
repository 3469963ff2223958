"""The two vector scans, by bytes and by 4-bit codes; the only module that imports faiss.

Both take a bitmap of the allowed pieces, so that a filter costs no recall. A running search never
sees a change: bytes are written only to rows that are in no bitmap yet, and a larger scan is a new
object.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from qms.index.arrays import FloatArray, IntArray
from qms.index.vectors.codes import ByteArray, scan_query

_TRAIN_ROWS = 4096
_TRAIN_ROUNDS = 6
_COMPONENTS = 2
_CODE_BITS = 4
_BLOCK = 32


@cache
def _faiss() -> Any:
    """Import faiss when the first index opens: the import must not delay the HTTP port."""
    import faiss

    return faiss


class ByteScan:
    """Exhaustive search over vectors of signed bytes, with room for a fixed number of them."""

    def __init__(self, dimension: int, capacity: int, threads: int = 1) -> None:
        faiss = _faiss()
        self._threads = threads
        self._index = faiss.IndexScalarQuantizer(
            dimension, faiss.ScalarQuantizer.QT_8bit_direct_signed, faiss.METRIC_INNER_PRODUCT
        )
        self._index.codes.resize(capacity * dimension)
        self._index.ntotal = capacity
        memory = faiss.rev_swig_ptr(self._index.codes.data(), capacity * dimension)
        self.codes: ByteArray = memory.reshape(capacity, dimension)
        """The bytes, written by the owner; they are valid as long as the scan."""

    def search(self, query: FloatArray, limit: int, bitmap: ByteArray) -> IntArray:
        """Return approximately the best `limit` pieces of the bitmap."""
        faiss = _faiss()
        faiss.omp_set_num_threads(self._threads)  # a setting of the thread, not of the process
        selector = faiss.IDSelectorBitmap(bitmap)
        parameters = faiss.SearchParameters(sel=selector)
        _, found = self._index.search(scan_query(query)[None], limit, params=parameters)
        return _present(found)


class DenseScan:
    """Exhaustive search over four bits for two components: a quarter of the bytes to read.

    Its order is approximate: fetch more candidates than needed and rank them exactly.
    """

    def __init__(self, dimension: int, chunks: Iterable[FloatArray], threads: int = 1) -> None:
        faiss = _faiss()
        faiss.omp_set_num_threads(threads)
        self._threads = threads
        # One inverted list for all: only this class has both the fast kernel and selectors.
        self._centre = faiss.IndexFlatIP(dimension)
        self._centre.add(np.zeros((1, dimension), np.float32))
        self._index = faiss.IndexIVFPQFastScan(
            self._centre,
            dimension,
            1,
            _code_count(dimension),
            _CODE_BITS,
            faiss.METRIC_INNER_PRODUCT,
            _BLOCK,
        )
        self._index.by_residual = False
        self._index.pq.cp.niter = _TRAIN_ROUNDS
        for chunk in chunks:
            if not self._index.is_trained:
                self._index.train(chunk[:_TRAIN_ROWS])
            self._index.add(chunk)

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def search(
        self, query: FloatArray, limit: int, bitmap: ByteArray
    ) -> tuple[IntArray, FloatArray]:
        """Return roughly the best `limit` pieces of the bitmap, and their scores."""
        faiss = _faiss()
        faiss.omp_set_num_threads(self._threads)
        selector = faiss.IDSelectorBitmap(bitmap)
        parameters = faiss.SearchParametersIVF(sel=selector, nprobe=1)
        scores, found = self._index.search(query[None], limit, params=parameters)
        places = _present(found)
        return places, scores[0][: len(places)]


def _code_count(dimension: int) -> int:
    return dimension // _COMPONENTS if dimension % _COMPONENTS == 0 else dimension


def bitmap_of(mask: Any) -> ByteArray:
    """Return a mask as the bitmap of a scan."""
    bits: ByteArray = np.packbits(mask, bitorder="little")
    return bits


def _present(found: Any) -> IntArray:
    places: IntArray = found[0]
    return places if places[-1] >= 0 else places[places >= 0]  # faiss fills up with -1
