import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from qms.models.onnx_embedder import BATCH_TOKENS, OnnxEmbedder, batches
from qms.search.fuse import KNOWN_LANGUAGE

MIXED = [
    "ok",
    "The index is rebuilt when its checksum does not match.",
    "A fold copies untouched lines byte for byte. " * 8,
    "",
    "naïve café 検索 🦊 \x00 \u2028 end",
    "half \ud800 of a pair",
    "long " * 400,
    "[CLS] [SEP] [PAD] [MASK]",
]
KNOWN = [0.04333, 0.05777, 0.04863, 0.07782, 0.02674, -0.03957]
LONG = " ".join(f"Sentence {number} speaks of the number {number * 7}." for number in range(400))


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        (
            "How do I stop the server from losing writes?",
            "Acknowledged changes are durable because the journal is synced first.",
            "The cafeteria serves lentil soup on Tuesdays.",
        ),
        (
            "The car would not start.",
            "My vehicle has engine trouble.",
            "The start of the race is at noon.",
        ),
        (
            "My daughter was born in May",
            "our little girl's birthday is in spring",
            "the disk is full",
        ),
        ("Was hilft gegen Kopfschmerzen?", "Kopfweh: viel Wasser trinken", "Der Zug fährt um acht"),
    ],
)
def test_a_paraphrase_is_nearer_than_something_else(
    embedder: OnnxEmbedder, text: str, near: str, far: str
) -> None:
    one, alike, other = embedder.embed([text, near, far])

    assert float(one @ alike) > float(one @ other) + 0.05


def test_the_vector_of_a_known_text_is_the_known_one(embedder: OnnxEmbedder) -> None:
    vector = embedder.embed(["The quick brown fox jumps over the lazy dog."])[0]

    assert np.allclose(vector[:6], KNOWN, atol=2e-4)


def test_a_text_has_the_same_vector_alone_and_in_a_batch(embedder: OnnxEmbedder) -> None:
    together = embedder.embed(MIXED * 3)

    for text, row in zip(MIXED, together, strict=False):
        assert np.allclose(embedder.embed([text])[0], row, atol=2e-6)


def test_rows_are_float32_of_length_one_in_the_order_of_the_texts(embedder: OnnxEmbedder) -> None:
    rows = embedder.embed(MIXED)

    assert rows.shape == (len(MIXED), embedder.dimension)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert np.argmax(rows @ embedder.embed([MIXED[1]])[0]) == 1


def test_no_texts_give_no_rows(embedder: OnnxEmbedder) -> None:
    assert embedder.embed([]).shape == (0, 384)


def test_the_tokenizers_own_limit_of_128_is_lifted(embedder: OnnxEmbedder) -> None:
    words = ["harbour"] * 150

    short, long = embedder.embed([" ".join(words), " ".join([*words, *["astronomy"] * 90])])

    assert short @ long < 0.95


def test_what_is_beyond_the_models_reach_is_cut_off(embedder: OnnxEmbedder) -> None:
    words = ["harbour"] * 254

    fits, beyond = embedder.embed([" ".join(words), " ".join([*words, "astronomy"])])

    assert np.allclose(fits, beyond, atol=2e-6)


def test_a_text_that_spells_a_special_token_is_read_as_text(embedder: OnnxEmbedder) -> None:
    plain, spelt = embedder.embed(["[ mask ] [ sep ]", "[MASK] [SEP]"])

    assert np.allclose(plain, spelt, atol=2e-6)


def test_a_long_text_has_overlapping_pieces_that_cover_it(embedder: OnnxEmbedder) -> None:
    pieces = embedder.pieces(LONG)

    assert 10 < len(pieces) < 64
    assert pieces[0].startswith("Sentence 0 speaks")
    assert pieces[-1].endswith("2793.")
    places = [LONG.index(piece) for piece in pieces]
    for (place, piece), following in zip(
        zip(places, pieces, strict=True), places[1:], strict=False
    ):
        assert place < following < place + len(piece)
        assert 20 < place + len(piece) - following < 120


def test_a_piece_has_a_vector_of_its_own_subject(embedder: OnnxEmbedder) -> None:
    filler = "The meeting went through the list of open points once more. " * 60
    text = f"{filler}The wine cellar is flooded by the spring tide. {filler}"
    question = embedder.embed_query("water damage in the wine cellar")

    scores = embedder.embed(embedder.pieces(text)) @ question

    assert scores.max() > embedder.embed([text])[0] @ question + 0.1
    assert "wine cellar" in embedder.pieces(text)[int(scores.argmax())]


@pytest.mark.parametrize(
    "text", ["語" * 21_000, "word " * 13_000, "a1!" * 21_000, "한국어 " * 6_000]
)
def test_a_text_at_the_limit_has_at_most_64_pieces_up_to_its_end(
    embedder: OnnxEmbedder, text: str
) -> None:
    pieces = embedder.pieces(text)

    assert 32 < len(pieces) <= 64
    assert text.rstrip().endswith(pieces[-1])


@pytest.mark.parametrize("text", ["", "   ", "\n\n" * 500, "\x00" * 300])
def test_a_text_without_tokens_has_no_pieces(embedder: OnnxEmbedder, text: str) -> None:
    assert [piece for piece in embedder.pieces(text) if piece.strip("\x00")] == []


def test_a_short_text_is_its_own_piece(embedder: OnnxEmbedder) -> None:
    assert embedder.pieces(" a note\n") == ["a note"]
    middle = "Nine short words that are more than bytes suggest. " * 8
    assert embedder.pieces(middle) == [middle.strip()]


def test_a_query_is_remembered_and_cannot_be_changed(embedder: OnnxEmbedder) -> None:
    vector = embedder.embed_query("who owns the journal?")

    assert embedder.embed_query("who owns the journal?") is vector
    assert not vector.flags.writeable
    assert np.allclose(vector, embedder.embed(["who owns the journal?"])[0], atol=2e-6)


def test_threads_may_share_the_embedder(embedder: OnnxEmbedder) -> None:
    texts = [f"note {number} about {'tides ' * (number % 9)}" for number in range(40)]
    alone = embedder.embed(texts)

    with ThreadPoolExecutor(4) as pool:
        halves = list(pool.map(lambda start: embedder.embed(texts[start::4]), range(4)))
        queries = list(pool.map(embedder.embed_query, texts[:8] * 4))

    for start, rows in enumerate(halves):
        assert np.allclose(rows, alone[start::4], atol=2e-6)
    assert np.allclose(queries, np.tile(alone[:8], (4, 1)), atol=2e-6)


def test_batches_hold_like_lengths_within_the_budget() -> None:
    lengths = [3, 250, 7, 256, 12, 9, 100, 4] * 40

    made = list(batches(lengths))

    assert sorted(number for batch in made for number in batch) == list(range(len(lengths)))
    for batch in made:
        assert len(batch) * max(lengths[number] for number in batch) <= BATCH_TOKENS
    padded = sum(len(batch) * max(lengths[number] for number in batch) for batch in made)
    assert padded < 1.1 * sum(lengths)


def test_a_text_beyond_the_budget_is_a_batch_of_its_own() -> None:
    assert list(batches([5, 2000, 3000], budget=1500)) == [[0], [1], [2]]


def test_the_model_id_names_model_and_content(embedder: OnnxEmbedder) -> None:
    assert re.fullmatch(r"all-MiniLM-L6-v2-w8@[0-9a-f]{12}", embedder.model_id)


@pytest.mark.parametrize(
    ("text", "is_spoken"),
    [
        ("Which port has the staging database?", True),
        ("Why did she leave the company in March?", True),
        ("Wann hat Anna beschlossen, nach Hamburg zu ziehen?", False),
        ("Quels arbres poussent dans les jardins ?", False),
        ("¿Dónde se instaló el servidor?", False),
        ("Где стоят серверы?", False),
        ("服务器在哪个楼里？", False),
        ("ᚠᚢᚦ ᚨᚱᚲ", False),
        ("42", True),
        ("", True),
    ],
)
def test_the_model_says_how_much_of_a_text_it_knows(
    embedder: OnnxEmbedder, text: str, is_spoken: bool
) -> None:
    assert (embedder.familiarity(text) >= KNOWN_LANGUAGE) is is_spoken
