"""Names in scripts without capitals: what stands with a title, a relation, or the word for a place or a company."""

# ruff: noqa: E501  (a pattern is read as one line, and these letters count double)

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pyramid_fs.extractors import signs
from pyramid_fs.extractors.marked import Mention

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyramid_fs.extractors.signs import Sign


class _Rule(NamedTuple):
    """A pattern whose first group is a name."""

    pattern: re.Pattern[str]
    label: str
    sign: Sign


def _any(words: str) -> str:
    return "|".join(map(re.escape, sorted(words.split(), key=len, reverse=True)))


# Chinese

_HAN = "\u3400-\u9fff々"
_SURNAME = (
    "(?:欧阳|司马|上官|诸葛|东方|[王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔"
    "钟谭陆汪范金石廖贾夏韦付方邹熊白孟秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤張劉陳楊黃趙吳孫馬鄭許韓馮鄧葉蘇魏呂])"
)
_HONORIFIC_BEGINS = "(?:大学|公司|师傅|阿姨|叔叔|先生|女士|老师|小姐|教授|经理|医生|博士|律师|主任|总监|老師|醫生)"
_NOT_GIVEN = "的了是在我你他她它们這这那和与跟也就都不没有说要去到从对把被让给问很会能将已向为以之"
_GIVEN = rf"(?!{_HONORIFIC_BEGINS})[^\W\d_a-zA-Z{_NOT_GIVEN}]"
_HONORIFIC = _any(
    "先生 女士 老师 小姐 教授 经理 医生 博士 律师 主任 总监 总 工程师 师傅 同学 阿姨 叔叔 老師 醫生 院长 校长 太太 部长 同事"
)
_SAID = _any(
    "说 表示 告诉 提到 认为 建议 希望 决定 问 喜欢 住在 来自 负责 计划 打算 答应 同意 要求 推荐 介绍 邀请 买 想 搬 正在 提醒 解释 写 完成 参加 "
    "確認 确认 去 在 会 将 和 与 也 已 找 发 加入 带 准备 更 偏好 给 今天 昨天 明天 把 从 不 很 用 做 安排 回复 联系 主持 修复 跟 预约 送 学 教 最近 补 修 查 改 看 打 拿 收 交 签 选 听 读 讲 聊 谈 没 未 还 都 又 常 每 让 请 需要 借 帮 来 要 休假 出差"
)
_OURS = _any(
    "姐姐 妹妹 哥哥 弟弟 朋友 同事 妈妈 爸爸 妻子 丈夫 儿子 女儿 老板 邻居 室友 房东 表姐 表哥 同学 导师 经理 女友 男友 客户 教练 医生 律师 设计师 会计 舅舅 姑姑 叔叔 阿姨 爷爷 奶奶 表妹 表弟 姐夫 嫂子 秘书 司机 编辑"
)
_CITIES = _any(
    "北京 上海 广州 深圳 杭州 南京 成都 重庆 武汉 西安 天津 苏州 青岛 大连 厦门 长沙 昆明 哈尔滨 香港 台北 澳门 东京 大阪 京都 首尔 新加坡 曼谷 "
    "巴黎 伦敦 柏林 纽约 旧金山 洛杉矶 悉尼 中国 日本 韩国 美国 英国 法国 德国 東京 横浜 名古屋 札幌 福岡 神戸 仙台 広島 沖縄 奈良 千葉 埼玉 "
    "北海道 長野 静岡 韓国 台湾 云南 四川 广东 浙江 江苏 西藏 海南 新疆"
)
_PLAIN_HAN = "的了是在我你他她它们这那和与跟也就都不没有去到从把被让给向往于很每各某本该一个家所位至入回及里"
_NAMED_HAN = rf"[^\W\d_a-zA-Z{_PLAIN_HAN}\u3040-\u30ff\uac00-\ud7af]"
_CITY = _Rule(re.compile(rf"({_CITIES})(?![市省县大银駅県空])"), "place", signs.LOCATED)
_CHINESE = (
    _Rule(re.compile(rf"({_SURNAME}{_GIVEN}{{1,2}}?)(?:{_HONORIFIC})"), "person", signs.TITLED),
    _Rule(re.compile(rf"({_SURNAME}(?:{_HONORIFIC}))"), "person", signs.TITLED),  # a surname alone keeps its title
    _Rule(re.compile(rf"({_SURNAME}{_GIVEN}{{1,2}}?)(?={_SAID})"), "person", signs.ACTING),
    _Rule(
        re.compile(rf"(?:{_OURS})({_SURNAME}{_GIVEN}{{1,2}}?)(?=[，。、；！\s]|{_SAID}|的|是|有)"),
        "person",
        signs.RELATED,
    ),
    _Rule(
        re.compile(rf"(?:{_OURS}|[和与跟问见告诉])((?:小|老|阿)[{_HAN}])(?=[，。、；\s]|{_SAID}|的)"),
        "person",
        signs.RELATED,
    ),
    _Rule(re.compile(rf"(?:^|[，。；\s])((?:小|老){_SURNAME})(?={_SAID})"), "person", signs.ACTING),
    _Rule(
        re.compile(
            rf"(?:[和与跟约问见给请]|告诉|联系|感谢|通知)({_SURNAME}{_GIVEN}{{1,2}}?)(?=[，。、；！\s]|{_SAID}|的|一起|见面|讨论|商量|吃|开会|介绍)"
        ),
        "person",
        signs.ACTING,
    ),
    _Rule(
        re.compile(rf"({_NAMED_HAN}{{1,5}}·[{_HAN}]{{1,6}}?)(?=[，。、；！\s]|{_SAID}|的|$)"), "person", signs.ACTING
    ),
    _Rule(
        re.compile(
            rf"({_NAMED_HAN}{{2,10}}(?:有限公司|公司|大学|集团|银行|医院|研究所|研究院|学院|中学|小学|出版社|协会|基金会|图书馆|博物馆|事务所|工作室|科技|收容所|诊所|餐厅|咖啡馆|酒店|幼儿园|法院|剧院|书店|工厂))"
        ),
        "organization",
        signs.FOUNDED,
    ),
    _Rule(
        re.compile(
            rf"({_NAMED_HAN}{{2,4}}(?:市|省|县|區|区|镇|村|街|路|山|河|湖|岛|港|机场|公园|广场|火车站|站))(?!场|长|民)"
        ),
        "place",
        signs.LOCATED,
    ),
    _Rule(
        re.compile(rf"(?:^|[，。、；！]|讨论了?|关于|帮|由|是|找|谈到)({_SURNAME}{_GIVEN}{{1,2}}?)(?=的)"),
        "person",
        signs.ACTING,
    ),
    _Rule(re.compile(rf"(?:是|叫|由|有|名叫)({_SURNAME}{_GIVEN}{{1,2}})(?=[，。、；！])"), "person", signs.ACTING),
    _CITY,
    _Rule(re.compile(rf"(?:名叫|叫做|叫)({_NAMED_HAN}{{2,3}})(?=[，。、；！])"), "person", signs.RELATED),
    _Rule(re.compile(rf"(?:[，。的做在负责开始为])({_NAMED_HAN}{{2,4}})项目"), "project", signs.PROJECT),
)
_LEADS_CHINESE = re.compile(
    "^.*(?:来自|位于|加入|发给|寄给|属于|访问|联系|参观|就职于|通过|毕业于|任职于|住进|走进|路过)"
)
_BEGINS_CHINESE = re.compile(
    "^(?:今天|昨天|明天|上周|下周|周[一二三四五六日末]|今年|去年|明年|目前|现在|最近|后来|早上|晚上|下午|上午|他们|我们|同事|朋友|来自|住在|访问|参观|加入|前往"
    "|位于|经过|通过|联系|负责|关于|由于|因为|所以|但是|还有|以及|可能|需要|已经|毕业|考上|就读|参加|成立|创办|附近|之后|以后|时候|月底|月初|靠近|和|号|日|月|年)+"
)

# Japanese

_KANA = "ァ-ヴー"
_SURNAMES_JP = _any(
    "佐藤 鈴木 高橋 田中 伊藤 渡辺 山本 中村 小林 加藤 吉田 山田 佐々木 山口 松本 井上 木村 斎藤 林 清水 山崎 池田 阿部 橋本 森 石川 前田 藤田 小川 "
    "岡田 後藤 長谷川 村上 近藤 石井 坂本 遠藤 青木 藤井 西村 福田 太田 三浦 藤原 岡本 松田 中川 中野 原田 小野 竹内 金子 和田 中山 上田 森田 石田 大野"
)
_SAN = _any("さん 氏 様 さま 君 くん ちゃん 先生 教授 部長 課長 社長 先輩 店長 博士")
_JAPANESE = (
    _Rule(re.compile(rf"((?:{_SURNAMES_JP})[{_HAN}]{{0,2}}?)(?:{_SAN})"), "person", signs.TITLED),
    _Rule(
        re.compile(rf"(?<![{_HAN}{_KANA}])([{_HAN}]{{1,4}}?|[{_KANA}]{{2,10}})(?:さん|氏|くん|ちゃん|様)"),
        "person",
        signs.TITLED,
    ),
    _Rule(re.compile(rf"(?<![{_KANA}])([{_KANA}]{{2,12}}・[{_KANA}]{{2,12}})"), "person", signs.ACTING),
    _Rule(re.compile(rf"((?:株式会社|有限会社)[{_HAN}{_KANA}A-Za-z]{{2,12}})"), "organization", signs.FOUNDED),
    _Rule(
        re.compile(
            rf"(?<![{_HAN}{_KANA}])([{_HAN}{_KANA}A-Za-z]{{2,12}}(?:株式会社|大学|銀行|病院|図書館|研究所|高校|出版|商事|電機|製作所))"
        ),
        "organization",
        signs.FOUNDED,
    ),
    _Rule(
        re.compile(
            rf"(?<![{_HAN}])([{_HAN}]{{1,3}}(?:市|県|府|区|町|村|駅|島|山|川|湖|公園|空港|温泉|通り))(?!長)(?=[にのでをへがはまも、。とか])"
        ),
        "place",
        signs.LOCATED,
    ),
)
_NOT_PEOPLE_JP = frozenset(
    [
        "皆",
        "お客",
        "奥",
        "お母",
        "お父",
        "お姉",
        "お兄",
        "客",
        "神",
        "王",
        "母",
        "父",
        "姉",
        "兄",
        "皆様",
        "医者",
        "店員",
        "先",
        "赤",
        "嫁",
        "娘",
        "息子",
        "同",
        "彼",
        "某",
        "両",
        "貴",
        "何",
        "同様",
    ]
)

# Korean

_HANGUL = "가-힣"
_KOREAN = (
    _Rule(
        re.compile(
            rf"(?<![{_HANGUL}])([{_HANGUL}]{{2,4}})\s?(?:씨|님|선생님|교수님?|대표님?|팀장님?|과장님?|부장님?|박사님?)(?![{_HANGUL}]{{3}})"
        ),
        "person",
        signs.TITLED,
    ),
    _Rule(
        re.compile(rf"([{_HANGUL}A-Za-z]{{2,10}}(?:대학교|은행|병원|연구소|주식회사|출판사|도서관))"),
        "organization",
        signs.FOUNDED,
    ),
    _Rule(
        re.compile(rf"(주식회사\s?[{_HANGUL}A-Za-z]{{2,10}}?)(?=[은는이가을를의에와과\s,.]|$)"),
        "organization",
        signs.FOUNDED,
    ),
    _Rule(
        re.compile(rf"(?<![{_HANGUL}])([{_HANGUL}]{{1,4}}(?:시|도|구|동|역|공항|공원))(?=에서|에|으로|로|의)"),
        "place",
        signs.LOCATED,
    ),
    _Rule(
        re.compile(
            rf"(?<![{_HANGUL}])(서울|부산|인천|대구|대전|광주|제주도?|경주|수원|강릉|도쿄|한국|일본|미국)(?=에서|에|으로|로|의|은|는|을|를|이|가|까지|\s)"
        ),
        "place",
        signs.LOCATED,
    ),
)
_NOT_PEOPLE_KO = frozenset(
    [
        "선생",
        "고객",
        "사장",
        "손님",
        "부모",
        "아버",
        "어머",
        "교수",
        "대표",
        "팀장",
        "과장",
        "부장",
        "여러분",
        "회원",
        "형",
        "누",
        "따",
    ]
)

# Arabic

_AR = "[\u0620-\u065f\u0670-\u06d3]"
_AR_END = "(?![\u0620-\u065f\u0670-\u06d3])"
_AR_BEGIN = "(?<![\u0620-\u065f\u0670-\u06d3])(?:[وفبل]|ول)?"
_AR_SMALL = _any(
    "في على من إلى عن أن إن التي الذي هذا هذه كان كانت قد لا لم لن ما مع أو ثم أختي أخي صديقي صديقتي زميلي زميلتي زوجي زوجتي أمي أبي ابني ابنتي جارتي جاري بعد قبل حتى عند كل هو هي أنه أنها إنه إنها لي له لها لنا منا مني منك جميع كلها كل بعض مباشرة معا دائما كثيرا قليلا غدا منه منها منهم علي علينا إليه إليها إلينا معي معنا معه معها بأن لأن "
    "غدا اليوم أمس الآن جدا أيضا عمل يعمل تعمل يسكن تسكن سافر سافرت وصل وصلت يوم العام الأسبوع الذين بين خلال نحو حول سوف"
)
_AR_WORD = rf"(?!(?:{_AR_SMALL}){_AR_END}){_AR}{{2,20}}"
_AR_SECOND = rf"(?:\s(?:آل\s|بن\s|بنت\s|أبو\s|عبد\s)?ال{_AR}{{2,18}}ي{_AR_END}|\s(?:بن|بنت|أبو)\s{_AR}{{2,18}})?"
_AR_TITLE = _any(
    "السيد السيدة الدكتور الدكتورة الأستاذ الأستاذة المهندس المهندسة الشيخ الآنسة المحامي المحامية الطبيب الطبيبة المدير المديرة الأمير العم العمة الخالة المدرب المعلمة المعلم الطالب الطالبة القائد القائدة المدربة الكاتب الكاتبة المحاسب المحاسبة الجار الجارة السائق الزميل الزميلة الصديق الصديقة"
)
_AR_TITLE_PLAIN = _any("د. أ. م. للسيد للسيدة للدكتور للدكتورة للمهندس للمهندسة للأستاذ للأستاذة")
_AR_OURS = _any(
    "أختي أخي صديقي صديقتي زميلي زميلتي زوجي زوجتي أمي أبي ابني ابنتي جارتي جاري مديري مديرتي عمي خالي خالتي عمتي جدتي جدي صديقه صديقتها أخته أختها أخوها أخوه زميله زميلتها زوجته زوجها ابنها ابنه ابنته ابنتها والدته والده والدتها"
)
_AR_SAID = _any(
    "قال قالت ذكر ذكرت أخبر أخبرت أخبرتني أخبرني طلب طلبت التقى التقت اقترح اقترحت قرر قررت اشترى اشترت سافر سافرت وعد وعدت كتب كتبت أكد أكدت شرح شرحت سأل سألت "
    "اتصل اتصلت تفضل يفضل انتقل انتقلت زار زارت وافق وافقت يعمل تعمل حجز حجزت بدأت باعت أرسلت أرسل رتبت التقيت قابلت زرت وجد وجدت أضاف أضافت غير غيرت حضر حضرت جاء جاءت وصل وصلت راجع راجعت صمم صممت أعد أعدت ساعد ساعدت شارك شاركت قدم قدمت عاد عادت نصح نصحت تنصح ينصح يحب تحب يريد تريد يسكن تسكن يدرس تدرس"
)
_ARABIC = (
    _Rule(
        re.compile(rf"{_AR_BEGIN}(?:(?:{_AR_TITLE})\s|(?:{_AR_TITLE_PLAIN})\s?)({_AR_WORD}{_AR_SECOND})"),
        "person",
        signs.TITLED,
    ),
    _Rule(re.compile(rf"{_AR_BEGIN}(?:{_AR_OURS})\s({_AR_WORD}{_AR_SECOND})"), "person", signs.RELATED),
    _Rule(re.compile(rf"{_AR_BEGIN}(?:{_AR_SAID})\s(?!ال)({_AR_WORD})"), "person", signs.ACTING),
    _Rule(
        re.compile(rf"{_AR_BEGIN}(?:كان|كانت|بينما|بحث|يبحث|تبحث)\s(?!ال)({_AR_WORD})(?=\s(?:في|مع|عند|عن)\s)"),
        "person",
        signs.ACTING,
    ),
    _Rule(
        re.compile(
            rf"{_AR_BEGIN}(?:ال)?(?:مدينة|قرية|بلدة|محافظة|ميناء|مطار|شارع|حي|جزيرة|جبل|نهر|بحيرة)\s({_AR_WORD})"
        ),
        "place",
        signs.LOCATED,
    ),
    _Rule(
        re.compile(
            rf"{_AR_BEGIN}((?:شركة|جامعة|بنك|مستشفى|مؤسسة|جمعية|وزارة|معهد|مكتبة|متحف|مدرسة)\s{_AR_WORD}(?:\s(?:لل{_AR}{{2,18}}))?)"
        ),
        "organization",
        signs.FOUNDED,
    ),
    _Rule(re.compile(rf"{_AR_BEGIN}(?:مشروع)\s[\"«“]?({_AR_WORD})"), "project", signs.PROJECT),
    _Rule(
        re.compile(
            rf"(?<!{_AR})(?:في|إلى|من)\s(القاهرة|الإسكندرية|دمشق|بيروت|عمان|بغداد|الرياض|جدة|دبي|أبوظبي|الدوحة|تونس|الرباط|مراكش|الجزائر|فاس|حلب|مصر|لبنان|سوريا|المغرب|الأردن|العراق|تركيا|إسطنبول|باريس|لندن|برلين){_AR_END}"
        ),
        "place",
        signs.LOCATED,
    ),
)

# Hindi

_DN = "[\u0900-\u0963\u0970-\u097f]"
_DN_BEGIN, _DN_END = rf"(?<!{_DN})", rf"(?!{_DN})"
_DN_SMALL = _any(
    "का की के में से को ने यह वह और पर है हैं था थी थे हो भी तो ही एक इस उस हम मैं आप वे ये कि जो जब तब फिर अब आज कल नहीं मत या लिए साथ बाद पहले अपनी अपने अपना मेरी मेरा मेरे हमारी हमारे उनकी उनके "
    "उसकी उसके किसी सभी हर बहुत नया नई नए पुराने बड़ी बड़े एक दो तीन टीम लोगों सबने दोनों दल समूह समिति सब कंपनी सरकार उन्होंने उसने मैंने हमने किसने जिसने बच्चों डॉक्टर गाँव इसी उसी कुछ शहर गाँव नगर जी श्री डॉ श्रीमती सुश्री"
)
_DN_WORD = rf"(?!(?:{_DN_SMALL}){_DN_END}){_DN}{{2,20}}"
_DN_SECOND = rf"(?:\s{_DN_WORD}(?=\s(?:ने|को|से|का|की|के|जी|और)(?!{_DN})))?"
_DN_OURS = _any(
    "बहन भाई दोस्त पत्नी पति माँ पिता बेटी बेटा बेटे सहेली चाचा चाची दादी दादा नाना नानी पड़ोसी सहकर्मी मित्र बॉस मैनेजर गुरु भतीजी भतीजा मामा मौसी शिक्षिका"
)
_DN_FAMILY = _any(
    "शर्मा वर्मा गुप्ता जोशी सिंह कुमार कुमारी देवी पटेल मेहता राव रेड्डी नायर अय्यर मिश्रा मिश्र पांडे तिवारी यादव चौधरी खान दास बनर्जी मुखर्जी चटर्जी सेन शाह जैन अग्रवाल कपूर खन्ना मल्होत्रा भट्ट देसाई ठाकुर सक्सेना"
)
_HINDI = (
    _Rule(re.compile(rf"{_DN_BEGIN}({_DN_WORD}\s(?:{_DN_FAMILY})){_DN_END}"), "person", signs.RELATED),
    _Rule(re.compile(rf"{_DN_BEGIN}ने\s({_DN_WORD})\s(?:को|से){_DN_END}"), "person", signs.ACTING),
    _Rule(re.compile(rf"^({_DN_WORD})\s(?:चाहती|चाहता|चाहते)\sहै"), "person", signs.ACTING),
    _Rule(
        re.compile(rf"{_DN_BEGIN}(?:दादी|दादा|नाना|नानी|चाचा|चाची|मामा|मामी|मौसी|बुआ)\s({_DN_WORD}){_DN_END}"),
        "person",
        signs.RELATED,
    ),
    _Rule(
        re.compile(
            rf"{_DN_BEGIN}(?:श्रीमती|श्री|सुश्री|डॉ\.?|डॉक्टर|प्रो\.?|प्रोफ़ेसर|प्रोफेसर|पंडित|कुमारी)\s({_DN_WORD}{_DN_SECOND})"
        ),
        "person",
        signs.TITLED,
    ),
    _Rule(re.compile(rf"{_DN_BEGIN}({_DN_WORD})\sजी{_DN_END}"), "person", signs.TITLED),
    _Rule(
        re.compile(
            rf"{_DN_BEGIN}(?:मेरी|मेरा|मेरे|उसकी|उसका|उसके|उनका|उनकी|उनके|हमारी|हमारे|हमारा|अपनी|अपने)\s(?:छोटी\s|छोटे\s|बड़ी\s|बड़े\s|पुरानी\s|पुराने\s)?(?:{_DN_OURS})\s({_DN_WORD}{_DN_SECOND})"
        ),
        "person",
        signs.RELATED,
    ),
    _Rule(re.compile(rf"{_DN_BEGIN}({_DN_WORD})\sने{_DN_END}"), "person", signs.ACTING),
    _Rule(
        re.compile(
            rf"{_DN_BEGIN}({_DN_WORD})\s(?:शहर|नगर|गाँव|गांव|ज़िले|जिले|राज्य|स्टेशन|हवाई अड्डे|नदी|झील|बाज़ार|बंदरगाह){_DN_END}"
        ),
        "place",
        signs.LOCATED,
    ),
    _Rule(
        re.compile(rf"{_DN_BEGIN}({_DN_WORD})\sमें\s(?:रहती|रहता|रहते|काम करती|काम करता|पढ़ती|पढ़ता)"),
        "place",
        signs.LOCATED,
    ),
    _Rule(
        re.compile(
            rf"{_DN_BEGIN}({_DN_WORD}\s(?:विश्वविद्यालय|कंपनी|बैंक|अस्पताल|संस्थान|लिमिटेड|विद्यालय|पुस्तकालय|संग्रहालय|फ़ाउंडेशन|प्रकाशन|क्लब)){_DN_END}"
        ),
        "organization",
        signs.FOUNDED,
    ),
    _Rule(
        re.compile(
            rf"(?<!{_DN})(दिल्ली|मुंबई|कोलकाता|चेन्नई|बेंगलुरु|हैदराबाद|पुणे|जयपुर|लखनऊ|वाराणसी|आगरा|भोपाल|पटना|इंदौर|गोवा|केरल|भारत|नेपाल|काठमांडू|शिमला|उदयपुर|लंदन)(?=\s(?:में|से|की|का|के|जा|गए|गई|गया|पहुँ|और|को|तक|आ|चल))"
        ),
        "place",
        signs.LOCATED,
    ),
    _Rule(re.compile(rf"{_DN_BEGIN}({_DN_WORD})\s(?:परियोजना|प्रोजेक्ट){_DN_END}"), "project", signs.PROJECT),
)

_SCRIPTS = (
    (re.compile("[\u3040-\u30ff]"), _JAPANESE),
    (re.compile("[\u3400-\u9fff]"), _CHINESE),
    (re.compile("[가-힣]"), _KOREAN),
    (re.compile("[\u0620-\u064a]"), _ARABIC),
    (re.compile("[\u0904-\u0939]"), _HINDI),
)
_KANA_ANY = re.compile("[\u3040-\u30ff]")


def names(text: str) -> Iterator[Mention]:
    """Yield what a sentence names in scripts without capitals."""
    is_japanese = bool(_KANA_ANY.search(text))
    for script, rules in _SCRIPTS:
        if script.search(text) and not (rules is _CHINESE and is_japanese):
            yield from _found(text, rules)
    if is_japanese:
        yield from _found(text, (_CITY,))


def _found(text: str, rules: tuple[_Rule, ...]) -> Iterator[Mention]:
    for rule in rules:
        for match in rule.pattern.finditer(text):
            name = _bare(match[1], rule)
            if name:
                yield Mention(name, rule.label, rule.sign)


def _bare(name: str, rule: _Rule) -> str:
    """Take off what belongs to the sentence; empty where nothing of a name is left."""
    if name in _NOT_PEOPLE_JP or name in _NOT_PEOPLE_KO:
        return ""
    if rule in _CHINESE and rule.label in {"organization", "place"}:
        name = _BEGINS_CHINESE.sub("", _LEADS_CHINESE.sub("", name))
        return name if len(name) > 2 or re.fullmatch(_CITIES, name) else ""  # noqa: PLR2004
    return name.strip()
