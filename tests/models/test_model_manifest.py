import hashlib
from pathlib import Path

import msgspec
import pytest

from qms.models.model_manifest import MANIFEST_MAX_BYTES, Manifest, Refused, Verified, verify_model


def flip_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def edit(root: Path, **changes: object) -> None:
    path = root / "models" / "manifest.json"
    path.write_bytes(msgspec.json.encode(msgspec.json.decode(path.read_bytes()) | changes))


def reason(root: Path) -> str:
    answer = verify_model(root / "models" / "embeddings.onnx")
    assert isinstance(answer, Refused)
    return answer.reason


def test_the_shipped_manifest_matches_the_shipped_files(shipped: Path) -> None:
    manifest = msgspec.json.decode((shipped / "manifest.json").read_bytes(), type=Manifest)

    assert {name: (file.sha256, file.bytes) for name, file in manifest.files.items()} == {
        name: (hashlib.sha256(content).hexdigest(), len(content))
        for name in ("embeddings.onnx", "tokenizer.json")
        if (content := (shipped / name).read_bytes())
    }


def test_the_shipped_manifest_says_what_the_model_is(shipped: Path) -> None:
    verified = verify_model(shipped / "embeddings.onnx")

    assert isinstance(verified, Verified)
    assert verified.manifest.dimension == 384
    assert verified.manifest.max_tokens == 256
    assert verified.manifest.license == "Apache-2.0"
    assert (shipped / "LICENSE").read_text(encoding="utf-8").lstrip().startswith("Apache License")


def test_the_model_id_changes_with_the_content(root: Path) -> None:
    before = verify_model(root / "models" / "embeddings.onnx")
    tokenizer = root / "models" / "tokenizer.json"
    tokenizer.write_bytes(tokenizer.read_bytes() + b"\n")
    digest = hashlib.sha256(tokenizer.read_bytes()).hexdigest()
    assert isinstance(before, Verified)
    files = msgspec.to_builtins(before.manifest.files)
    files["tokenizer.json"] = {"sha256": digest, "bytes": tokenizer.stat().st_size}
    edit(root, files=files)

    after = verify_model(root / "models" / "embeddings.onnx")

    assert isinstance(after, Verified)
    assert after.model_id != before.model_id
    assert after.model_id.startswith("all-MiniLM-L6-v2-w8@")


@pytest.mark.attack(72)
@pytest.mark.parametrize("name", ["embeddings.onnx", "tokenizer.json"])
def test_a_file_with_one_flipped_bit_is_refused(root: Path, name: str) -> None:
    flip_a_byte(root / "models" / name)

    assert reason(root) == f"{name} does not match its manifest.json"


@pytest.mark.parametrize("name", ["embeddings.onnx", "tokenizer.json"])
def test_a_file_that_was_cut_is_refused(root: Path, name: str) -> None:
    path = root / "models" / name
    path.write_bytes(path.read_bytes()[:-1])

    assert name in reason(root)


@pytest.mark.parametrize("name", ["embeddings.onnx", "tokenizer.json", "manifest.json"])
def test_a_missing_file_is_named(root: Path, name: str) -> None:
    (root / "models" / name).unlink()

    assert reason(root) == f"{name} of the model is missing"


def test_a_folder_in_place_of_a_file_is_refused(root: Path) -> None:
    (root / "models" / "manifest.json").unlink()
    (root / "models" / "manifest.json").mkdir()

    assert "cannot be read" in reason(root)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"{", id="torn"),
        pytest.param(b"[]", id="array"),
        pytest.param(b"null", id="null"),
        pytest.param(b'{"model":"\xff\xfe"}', id="not UTF-8"),
        pytest.param(b"{}", id="bare"),
        pytest.param(b'{"format":1}', id="incomplete"),
        pytest.param(b'{"x":' + b"[" * 60_000, id="deep"),
    ],
)
def test_a_manifest_that_is_none_is_refused(root: Path, content: bytes) -> None:
    (root / "models" / "manifest.json").write_bytes(content)

    assert "manifest.json of the model is not a manifest" in reason(root)


def test_a_huge_manifest_is_refused_unread(root: Path) -> None:
    (root / "models" / "manifest.json").write_bytes(b" " * (MANIFEST_MAX_BYTES + 1))

    assert "larger than" in reason(root)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"format": 2}, "format 2"),
        ({"dimension": 0}, "not a manifest"),
        ({"maxTokens": 1}, "not a manifest"),
        ({"files": {}}, "embeddings.onnx is not in the model's manifest.json"),
        ({"files": {"embeddings.onnx": {"sha256": "AB", "bytes": 1}}}, "not a manifest"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(
    root: Path, changes: dict[str, object], expected: str
) -> None:
    edit(root, **changes)

    assert expected in reason(root)


def test_no_reason_tells_where_the_installation_is(root: Path) -> None:
    (root / "models" / "tokenizer.json").unlink()

    assert str(root) not in reason(root)


def test_unknown_fields_of_a_manifest_are_no_obstacle(root: Path) -> None:
    edit(root, comment="ours")

    assert isinstance(verify_model(root / "models" / "embeddings.onnx"), Verified)
