from qms.features.mining.conversation import Conversation, Message
from qms.features.mining.memories import Provenance, entry_of, find_memories
from qms.memory.entry import Retention

SLACK = Provenance(format="slack", retention=Retention.SHORT, namespace="team")


def talk(*texts: str, is_person: bool = True, owner: str = "c1") -> Conversation:
    messages = [
        Message(
            id=f"m{n}", text=text, is_person=is_person, author="Anna", at="2025-03-04T09:00:00Z"
        )
        for n, text in enumerate(texts)
    ]
    return Conversation(id=owner, title="Plans", path="plans/day.json", messages=messages)


def ids(conversation: Conversation, provenance: Provenance = SLACK) -> list[str]:
    return [entry_of(one, conversation, provenance)["id"] for one in find_memories(conversation)]


def test_an_entry_leads_back_to_its_message() -> None:
    conversation = talk("We decided to use Rust because it is fast.")

    (memory,) = find_memories(conversation)
    entry = entry_of(memory, conversation, SLACK)

    assert entry | {"id": ""} == {
        "id": "",
        "kind": "decision",
        "title": "We decided to use Rust because it is fast.",
        "body": {
            "decision": "We decided to use Rust because it is fast.",
            "rationale": "it is fast.",
            "owner": "Anna",
        },
        "tags": ["mined", "slack", "decision"],
        "source": {"type": "slack", "path": "plans/day.json"},
        "retention": "short",
        "confidence": 0.8,
        "namespace": "team",
        "metadata": {
            "minedFrom": "slack",
            "method": "rule",
            "conversationId": "c1",
            "conversationTitle": "Plans",
            "messageId": "m0",
            "author": "Anna",
        },
        "timestamps": {"sourceUtc": "2025-03-04T09:00:00.000Z"},
    }


def test_the_same_words_of_the_same_conversation_have_the_same_id() -> None:
    once = ids(talk("We use Rust for this."))
    again = ids(talk("Hello", "we use rust for this."))

    assert once == again
    assert once != ids(talk("We use Rust for this.", owner="c2"))
    assert once != ids(talk("We use Rust for this."), Provenance(format="claude"))


def test_what_an_assistant_says_is_no_fact_about_the_person() -> None:
    assert ids(talk("We use Rust for this.", is_person=False)) == []


def test_a_long_sentence_has_a_shorter_title() -> None:
    (memory,) = find_memories(talk("We decided to " + "really " * 30 + "go."))

    assert len(memory.title) <= 100
    assert memory.title.endswith("really…")
