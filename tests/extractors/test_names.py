"""Names in scripts with capitals are told from words with capitals, and each kind of evidence gives its label."""

from __future__ import annotations

import pytest

from pyramid_fs.extractors.rules import propose
from pyramid_fs.notes import Kind

ADMIT = 0.5


def names(text: str, least: float = ADMIT) -> dict[str, str]:
    """Give the names that are sure enough, each with its label."""
    return {each.text: each.label for each in propose(text) if each.kind is Kind.ENTITY and each.confidence >= least}


@pytest.mark.parametrize(
    ("text", "name", "label"),
    [
        ("We wrote to Ada Brennan.", "Ada Brennan", ""),
        ("Then Beatriz de la Fuente came in.", "Beatriz de la Fuente", "person"),
        ("We know Jan van der Meer from school.", "Jan van der Meer", ""),
        ("A letter by Sophie von Reuth arrived.", "Sophie von Reuth", ""),
        ("We hired Omar Al-Rashid for it.", "Omar Al-Rashid", ""),
        ("It was J. R. Holloway who wrote it.", "J. R. Holloway", ""),
        ("The knee was seen by Dr. Halloran today.", "Halloran", "person"),
        ("A call from Anne-Marie O'Rourke said so.", "Anne-Marie O'Rourke", "person"),
        ("It was my sister Ruth.", "Ruth", "person"),
        ("We asked her friend, Mirela, about it.", "Mirela", "person"),
        ("He has a puppy named Pickle.", "Pickle", "person"),
        ("Tobias said hello.", "Tobias", "person"),
        ("Kenji also reviewed the importer.", "Kenji", "person"),
        ("We thanked Sana for it.", "Sana", "person"),
        ("The keys of Mirela's are lost.", "Mirela", ""),
        ("The contract with Quillon Inc. is over.", "Quillon Inc", "organization"),
        ("She studies at the University of Norvale now.", "University of Norvale", "organization"),
        ("It is kept by Smith & Sons Ltd in a box.", "Smith & Sons Ltd", "organization"),
        ("They live in Larkhaven.", "Larkhaven", "place"),
        ("The shop is near Elm Street.", "Elm Street", "place"),
        ("We swam in the city of Dunmore.", "Dunmore", "place"),
        ("They met at McGee's bar.", "McGee's", "place"),
        ("Work on project Marigold went on.", "Marigold", "project"),
        ("We use BrightQueue and like BrightQueue.", "BrightQueue", "product"),
        ("They watched Game of Kites.", "Game of Kites", ""),
        ("Vera met Nina, Olaf and Petra.", "Olaf", "person"),
    ],
)
def test_a_name_is_found_with_what_it_is(text: str, name: str, label: str) -> None:
    found = names(text)
    assert name in found
    assert not label or found[name] == label


@pytest.mark.parametrize(
    "text",
    [
        "Yesterday it rained. However, nobody minded. Painting is relaxing.",
        "On Monday in May the French teacher and I'm sure the API said so in English.",
        "Surprisingly the tests passed. Then they failed. When will they pass?",
        "The pets slept. Pets calm people. Everyone agreed. Both agreed.",
        "# All About The Moving House Plan\n\nIt is a plan.",
        "```\nclass Parser(Base): return Nothing\n```\nIt compiles.",
        "Run `Parser.Base` in `My Folder`.",
        "The Moving House Plan Needs Better Words Throughout",
        "Moving the House to the Better Chimney Idea",
        "TODO: a note. NOTE: another.",
    ],
)
def test_a_word_with_a_capital_is_no_name_for_it(text: str) -> None:
    assert names(text) == {}


def test_german_nouns_are_no_names() -> None:
    text = (
        "Der Hund schläft auf dem Sofa. Die Besprechung mit der Bank war lang, und der Termin im Büro wurde verlegt. "
        "Mit Freude kam die Nachbarin. Am Sonntag gab es Kuchen und Kaffee. Das Wetter war schlecht. Wir essen Suppe."
    )
    assert names(text) == {}


@pytest.mark.parametrize(
    ("text", "name", "label"),
    [
        ("Meine Schwester Lena ist mit dem Zug da.", "Lena", "person"),
        ("Das ist von Frau Yilmaz und nicht von mir.", "Yilmaz", "person"),
        ("Der Vertrag mit der Tannberg AG ist da.", "Tannberg AG", "organization"),
        ("Sie wohnt jetzt in Ahrensbruck, und das ist gut.", "Ahrensbruck", "place"),
        ("Das Büro ist in der Lindenstraße und nicht am Markt.", "Lindenstraße", "place"),
        ("Katharina plant die Reise mit dem Zug.", "Katharina", "person"),
        ("Das ist die Idee, die Annas Schwester Eva hatte. Anna sagte das.", "Eva", "person"),
        ("Das ist die Idee, die der Beraterin Cornelia Weiß gefiel.", "Cornelia Weiß", "person"),
        ("Die Firma Nordlicht ist neu, und das ist gut.", "Nordlicht", "organization"),
    ],
)
def test_a_german_name_is_found_by_what_stands_beside_it(text: str, name: str, label: str) -> None:
    assert names(text).get(name) == label


def test_a_genitive_and_a_first_name_are_one_with_the_whole_name() -> None:
    text = "Anna Berg sagte das, und die Idee ist gut. Annas Bruder Jonas war da. Anna will mit dem Zug nach Lissborn."
    assert set(names(text)) >= {"Anna Berg", "Jonas"}
    assert not {"Anna", "Annas"} & set(names(text, 0))


def test_a_part_of_two_names_stays_alone() -> None:
    text = "We met Ada Brennan and Ada Holm. Ada said hello."
    assert set(names(text)) == {"Ada Brennan", "Ada Holm", "Ada"}


def test_russian_forms_of_a_name_are_one() -> None:
    found = names("Вера позвонила. Мы написали Вере. С Верой был Борис Громов. Бориса Громова ждали.")
    assert found["Вера"] == "person"
    assert not {"Вере", "Верой", "Бориса Громова"} & set(found)


@pytest.mark.parametrize(
    ("text", "name", "label"),
    [
        ("Моя сестра Вера дома.", "Вера", "person"),
        ("Они живут в Лесогорске.", "Лесогорске", "place"),
        ("Сервер стоит в городе Белозёрск.", "Белозёрск", "place"),
        ("Она учится в Заречном университете.", "Заречном университете", "organization"),
        ("Письмо от компании «Севлайн» пришло.", "Севлайн", "organization"),
        ("Это проект «Рассвет».", "Рассвет", "project"),
        ("Бухгалтер Инга Соловьёва ждёт.", "Инга Соловьёва", "person"),
        ("Директор Роман Лисин был там.", "Роман Лисин", "person"),
        ("Ο φίλος της λέγεται Νίκος Παππάς.", "Νίκος Παππάς", ""),
    ],
)
def test_names_in_other_scripts_with_capitals(text: str, name: str, label: str) -> None:
    assert names(text).get(name) == label


def test_confidence_grows_with_mentions_and_with_kinds_of_evidence() -> None:
    def sure(text: str) -> float:
        return next(each.confidence for each in propose(text) if each.text == "Mirela")

    once, twice = sure("We saw Mirela."), sure("We saw Mirela. Then we saw Mirela again.")
    assert once < twice < sure("We saw Mirela. Mirela said hello to my sister Mirela.") < 1


def test_the_evidence_is_the_sentence_that_says_most() -> None:
    text = "We saw Mirela. It rained. My sister Mirela said so. Mirela left."
    (found,) = (each for each in propose(text) if each.text == "Mirela")
    assert found.evidence == "My sister Mirela said so."
