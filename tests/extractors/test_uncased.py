"""Names in scripts without capitals are found by what stands beside them."""

from __future__ import annotations

import pytest

from pyramid_fs.extractors.rules import propose
from pyramid_fs.notes import Kind


def names(text: str) -> dict[str, str]:
    return {each.text: each.label for each in propose(text) if each.kind is Kind.ENTITY and each.confidence >= 0.5}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("我的姐姐周敏住在青石市。", {"周敏": "person", "青石市": "place"}),
        ("张老师和林婉先生来了。", {"张老师": "person", "林婉": "person"}),
        ("昨天王立华说好。", {"王立华": "person"}),
        ("小王告诉我了。", {"小王": "person"}),
        ("她在海川科技公司上班。", {"海川科技公司": "organization"}),
        ("他去了北京。", {"北京": "place"}),
        ("“晨光”项目开始了。", {"晨光": "project"}),
        ("他在读《静海》。", {"静海": "work"}),
        ("他的狗叫豆豆。", {"豆豆": "person"}),
        ("天气很好，大家都很高兴，明天再说。", {}),
        ("昨日、田中さんが来ました。", {"田中": "person"}),
        ("佐藤先生と高橋部長が話した。", {"佐藤": "person", "高橋": "person"}),
        ("株式会社ミライに入った。", {"株式会社ミライ": "organization"}),
        ("彼女は桜川大学にいる。", {"桜川大学": "organization"}),
        ("アダ・ブレナンが来た。", {"アダ・ブレナン": "person"}),
        ("東京に行った。", {"東京": "place"}),
        ("皆さん、お客様、コーヒーをどうぞ。", {}),
        ("어제 김민수 씨가 왔다.", {"김민수": "person"}),
        ("그녀는 한빛대학교에 다닌다.", {"한빛대학교": "organization"}),
        ("우리는 부산에서 만났다.", {"부산": "place"}),
        ("고객님, 선생님 모두 왔다.", {}),
        ("قال الدكتور ياسر المنصوري ذلك.", {"ياسر المنصوري": "person"}),
        ("أختي سلمى في البيت.", {"سلمى": "person"}),
        ("تسكن في مدينة الواحة.", {"الواحة": "place"}),
        ("تعمل في شركة النخيل للتجارة.", {"شركة النخيل للتجارة": "organization"}),
        ("وصلت من بيروت أمس.", {"بيروت": "place"}),
        ("بدأ مشروع الفجر.", {"الفجر": "project"}),
        ("كان الطقس جميلا جدا.", {}),
        ("मेरी बहन कविता घर पर है।", {"कविता": "person"}),
        ("डॉ. मेहता आए।", {"मेहता": "person"}),
        ("गुप्ता जी आए।", {"गुप्ता": "person"}),
        ("लता जोशी आईं।", {"लता जोशी": "person"}),
        ("रोहन ने सीमा को फ़ोन किया।", {"रोहन": "person", "सीमा": "person"}),
        ("वह सूरजपुर शहर में है।", {"सूरजपुर": "place"}),
        ("वह ज्ञानोदय विश्वविद्यालय में है।", {"ज्ञानोदय विश्वविद्यालय": "organization"}),
        ("टीम ने काम किया और उसने चाय बनाई।", {}),
    ],
)
def test_what_stands_beside_a_name_tells_it(text: str, found: dict[str, str]) -> None:
    assert names(text) == found


def test_a_name_is_counted_in_every_sentence_that_shows_it() -> None:
    once = propose("मेरी बहन कविता घर पर है।")
    twice = propose("मेरी बहन कविता घर पर है। कविता ने चाय बनाई।")
    assert once[0].text == twice[0].text == "कविता"
    assert once[0].confidence < twice[0].confidence
