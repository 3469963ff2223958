import subprocess
import sys

import numpy as np
import pytest

from qms.models.hash_embedder import HashEmbedder

TEXTS = [
    "The reload guard stopped the index rebuild",
    "Überfluß naïve café",
    "検索の索引を再構築する",
    "!?",
]
GOLDEN = {
    0: 0.220863,
    11: -0.220863,
    31: 0.220863,
    55: -0.220863,
    56: -0.156174,
    86: -0.220863,
    91: 0.220863,
    99: 0.220863,
    118: -0.220863,
    126: -0.220863,
    131: -0.220863,
    160: 0.220863,
    208: 0.220863,
    214: 0.220863,
    230: -0.220863,
    236: 0.220863,
    293: 0.220863,
    313: 0.220863,
    316: -0.220863,
    338: 0.220863,
    382: -0.220863,
}
"""Every number of "Reload guard" that is not 0: stored vectors depend on it."""


def test_the_arithmetic_has_not_changed_under_its_name() -> None:
    vector = HashEmbedder().embed(["Reload guard"])[0]

    assert HashEmbedder().model_id == "hash-v1"
    assert {int(place): float(vector[place]) for place in np.flatnonzero(vector)} == pytest.approx(
        GOLDEN, abs=1e-6
    )


def test_the_vectors_are_the_same_in_every_process() -> None:
    script = (
        "import sys; from qms.models.hash_embedder import HashEmbedder;"
        f"sys.stdout.buffer.write(HashEmbedder().embed({TEXTS!r}).tobytes())"
    )
    command = [sys.executable, "-X", "utf8", "-c", script]
    answer = subprocess.run(command, capture_output=True, check=True, env={"PYTHONHASHSEED": "7"})

    assert answer.stdout == HashEmbedder().embed(TEXTS).tobytes()


def test_rows_have_length_one_and_are_the_same_alone_and_together() -> None:
    together = HashEmbedder().embed(TEXTS)

    assert np.allclose(np.linalg.norm(together, axis=1), 1)
    for text, row in zip(TEXTS, together, strict=True):
        assert np.array_equal(HashEmbedder().embed_query(text), row)


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_a_blank_text_is_near_nothing(text: str) -> None:
    assert not HashEmbedder().embed([text]).any()
    assert HashEmbedder().pieces(text) == []


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("reload guard of the index", "the index's reload guards", "a recipe for lentil soup"),
        ("parseConfigFile fails", "parse_config_file failing", "the weather in spring"),
        ("検索の索引を再構築する", "索引の再構築", "今日は天気がいい"),
        ("ＦＵＬＬ width", "full WIDTH", "half height"),
    ],
)
def test_like_spelling_is_near(text: str, near: str, far: str) -> None:
    one, alike, other = HashEmbedder().embed([text, near, far])

    assert one @ alike > one @ other + 0.2


def test_a_long_text_is_cut_between_words() -> None:
    text = " ".join(f"word{number}" for number in range(1000))

    pieces = HashEmbedder().pieces(text)

    assert 1 < len(pieces) <= 64
    assert {word for piece in pieces for word in piece.split()} == set(text.split())
    assert HashEmbedder().pieces("a short note") == ["a short note"]


def test_a_text_without_spaces_has_pieces_too() -> None:
    pieces = HashEmbedder().pieces("x" * 65_536)

    assert 1 < len(pieces) <= 64


def test_half_a_surrogate_pair_is_no_trouble() -> None:
    assert HashEmbedder().embed(["half \ud800 pair"]).any()
    assert HashEmbedder().pieces("half \ud800 pair " * 100)
