"""Questions in other languages than English, by the same rules: no store has a switch for one."""

import pytest

from tests.support.house import Door

MEMORIES = {
    "german": {
        "server": "Die Server wurden im Keller des alten Gebäudes aufgestellt.",
        "garden": "Im Garten wachsen drei Apfelbäume und eine große Eiche.",
        "rent": "Die Miete wird immer am dritten Werktag überwiesen.",
        "doctor": "Der Zahnarzt hat den Termin auf Donnerstag verschoben.",
    },
    "french": {
        "server": "Les serveurs ont été installés à la cave du vieux bâtiment.",
        "garden": "Trois pommiers et un grand chêne poussent dans le jardin.",
        "rent": "Le loyer est toujours payé le troisième jour ouvrable.",
        "doctor": "Le dentiste a repoussé le rendez-vous à jeudi.",
    },
    "chinese": {
        "server": "服务器安装在旧楼的地下室里。",
        "garden": "花园里有三棵苹果树和一棵大橡树。",
        "rent": "房租总是在每月第三个工作日支付。",
        "doctor": "牙医把预约推迟到星期四。",
    },
    "russian": {
        "server": "Серверы установили в подвале старого здания.",
        "garden": "В саду растут три яблони и большой дуб.",
        "rent": "Квартплата всегда платится в третий рабочий день.",
        "doctor": "Стоматолог перенёс приём на четверг.",
    },
    "spanish": {
        "server": "Los servidores se instalaron en el sótano del edificio viejo.",
        "garden": "En el jardín crecen tres manzanos y un roble grande.",
        "rent": "El alquiler se paga siempre el tercer día hábil.",
        "doctor": "El dentista aplazó la cita al jueves.",
    },
}


@pytest.mark.parametrize(
    ("language", "question", "wanted"),
    [
        ("german", "In welchem Gebäude steht der Server?", "server"),
        ("german", "Welche Bäume wachsen im GARTEN?", "garden"),
        ("german", "Wann ist die Miete zu überweisen?", "rent"),
        ("french", "Dans quel batiment sont les serveurs ?", "server"),
        ("french", "Quels arbres poussent dans les jardins ?", "garden"),
        ("french", "Quand les dentistes ont-ils repoussé le rendez-vous ?", "doctor"),
        ("chinese", "服务器在哪个楼里？", "server"),
        ("chinese", "花园里有什么树？", "garden"),
        ("chinese", "牙医预约是哪天？", "doctor"),
        ("russian", "Где стоят серверы?", "server"),
        ("russian", "Что растёт в саду?", "garden"),
        ("russian", "На какой день перенесли прием стоматолога?", "doctor"),
        ("spanish", "¿Donde se instalo el servidor?", "server"),
        ("spanish", "¿Qué crece en los jardines?", "garden"),
        ("spanish", "¿Cuándo se pagan los alquileres?", "rent"),
    ],
)
def test_a_question_finds_its_memory_among_those_of_all_languages(
    as_writer: Door, language: str, question: str, wanted: str
) -> None:
    entries = [
        {"id": f"{spoken}-{name}", "kind": "note", "body": text}
        for spoken, memories in MEMORIES.items()
        for name, text in memories.items()
    ]
    as_writer("bulkImport", entries=entries)

    answer = as_writer("searchEntries", query={"text": question})

    assert answer["results"][0]["entry"]["id"] == f"projA:{language}-{wanted}"
