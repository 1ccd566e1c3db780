"""Words that tell a name from a word with a capital, and a rule of conduct from a story, in the main languages."""

from __future__ import annotations

from pyramid_fs.summarizers.vocabulary import DECISIONS, EMPTY, TIMES, YOU


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _declined(text: str) -> frozenset[str]:
    """Give Russian nouns in all their cases."""
    ends = {"а": "а ы е у ой", "я": "я и е ю ей", "ь": "ь я и ю ём ью", "й": "й я ю ем е", "о": "о а у ом е"}
    found = set()
    for word in text.split():
        stem, kept = (word[:-1], ends[word[-1]]) if word[-1] in ends else (word, ". а у ом е")
        found |= {stem + end.strip(".") for end in kept.split()}
        found |= {f"{stem}{end}" for end in ("и", "ии", "ию", "ией") if word.endswith("ия")}
    return frozenset(found)


MONTHS = (
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec "
    "januar februar märz mai juni juli oktober dezember "
    "janvier février mars avril juin juillet août septembre octobre novembre décembre "
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre "
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря "
    "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر "
    "जनवरी फ़रवरी फरवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर"
)
_STARTS = """
however meanwhile afterwards later then finally eventually instead both another several many early between during
within throughout before since until although though despite besides together once twice initially subsequently
overall further others someone everyone everything everybody nobody nothing anyone upon among along without whether
whose neither either each every whenever wherever whoever unless regardless regarding given according due thus hence
therefore moreover furthermore nevertheless nonetheless otherwise perhaps maybe possibly probably certainly clearly
indeed actually basically generally usually often sometimes always never rarely today's remember note notes todo done
next previous previously currently recently lately summary session digest topic topics decision decisions action items
open question questions people work meeting plan plans goal goals follow details context background result results
lunch dinner breakfast coffee tea rain snow sun weather winter summer spring autumn fall holidays holiday christmas
easter ramadan halloween thanksgiving birthday parents mom mum dad mother father grandma grandpa kids children friends
family team everyone's colleagues neighbours neighbors students teachers customers users clients members pets dogs cats
danach dabei daher deshalb zuerst später außerdem inzwischen schließlich zwischen während nachdem beide alle jeder
jede jedes immer niemals vor nach bevor wichtig achtung bitte ab außer trotzdem dennoch vielleicht natürlich dort hier
dazu damit davon darüber dafür dagegen danach diese dieser dieses unser unsere ihre seine mehrere viele einige manche
ensuite puis après avant pendant entre enfin cependant lors depuis toujours jamais chaque quand lorsque tous toutes
luego después antes durante entre finalmente siempre nunca cuando cada todos todas antes nuestra nuestro
depois sempre nunca quando dopo prima sempre mai ogni infine daarna later tussen tijdens altijd nooit
затем потом позже после между также однако наконец сначала оба обе поэтому всегда никогда перед каждый каждая все
когда если пока хотя раньше важно нужно надо можно нельзя пожалуйста ещё наша наш наши её его их эта этот эти там здесь
мой моя моё мои моего моей моему моим моих наши нашего нашей нашему твой твоя свой своя ваш ваша мы они он она оно кто
что где
как почему зачем сколько больше меньше много мало вместе снова опять обычно иногда часто редко никто ничто каждое весь
вся
сегодня вчера завтра утром вечером днём ночью летом зимой весной осенью
utf utf-8 ascii unicode iso user users treasurer author mr mrs ms dr prof god internet web wifi email ok tv pc cv faq
pdf api url http https html css json yaml toml xml sql
ui ux ci cd pr prs id ids usb cpu gpu ram ssd ssh vpn dns ip ai ml llm llms mcp cli sdk ide os qa hr ceo cto cfo faqs
lgbtq lgbt lgbtq+ diy rpg rpgs moba mobas esports gps atm dna covid asap fyi eta pm am utc gmt usd eur bbq vip phd ba
ma msc bsc mba nlp
"""
_PEOPLES = """
english french german spanish italian portuguese dutch russian chinese japanese korean arabic hindi indian american
british european african asian canadian mexican brazilian australian polish swedish norwegian danish finnish greek
turkish ukrainian swiss austrian irish scottish welsh latin jewish christian muslim buddhist hindu catholic islamic
vietnamese thai mediterranean western eastern northern southern victorian
deutsch englisch französisch spanisch italienisch russisch chinesisch japanisch arabisch
"""
_DAYS = """
monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
sundays montag dienstag mittwoch donnerstag freitag samstag sonntag mon tue wed thu fri sat sun montags dienstags
mittwochs donnerstags freitags samstags sonntags sonnabend
sábado lunes segunda terça quarta quinta sexta lundi mardi mercredi jeudi vendredi samedi dimanche
"""
PEOPLES = _words(_PEOPLES)
"""Peoples and languages, which English writes with a capital."""
DATES = (_words(_DAYS) | _words(MONTHS)) - {"jan", "mar"}
"""The same of days and months."""
PLAIN = EMPTY | YOU | TIMES | DECISIONS | _words(_STARTS) | PEOPLES | DATES
"""Words that are no name by themselves, however they are written."""

PARTICLES = _words(
    "de del della di da dos das do du des la le les van von der den dem vom zu zur zum ter ten bin ibn al el af av"
)
"""Words with a small letter that a name may hold between two with capitals."""
SAINTS = frozenset({"st", "ste", "sta", "mt", "ft"})
"""What stands with a dot inside a name."""
LINKING = _words("of the for and & für und für der des of de pour et y")
"""The same, in the name of an organization: University of Oslo."""
TITLES = _words("""
mr mrs ms miss mx dr prof professor sir madam lady lord rev father sister captain president judge coach chef doctor
herr herrn frau fräulein doktor professorin m mme mlle monsieur madame maître sr sra srta señor señora don doña dom
dona sig signor signora signore dottor dottoressa mijnheer meneer mevrouw dhr mw
господин госпожа г-н г-жа доктор профессор тётя тетя дядя бабушка дедушка директор директора менеджер учитель
учительница инженер президент господина госпожи мистер
director directora directeur directrice direktor direktorin ingenieur präsident präsidentin
uncle aunt auntie onkel tante tío tía tio tia oncle opa oma
""")
"""What stands before a person's name, in small letters, without a dot."""
RELATIONS = _words("""
sister brother mother father mom mum dad son daughter wife husband partner girlfriend boyfriend fiancé fiancée friend
cousin nephew niece grandmother grandfather grandma grandpa aunt uncle neighbor neighbour colleague coworker boss
manager roommate flatmate teammate teacher doctor dentist therapist landlord lawyer coach mentor client customer
assistant designer developer engineer intern pup dog cat puppy kitten pet twin stepson
schwester bruder mutter vater sohn tochter frau mann freund freundin partnerin cousine nichte neffe nachbar nachbarin
kollege kollegin chef chefin vermieter vermieterin ärztin arzt lehrerin lehrer hund katze oma opa tante onkel kundin
kunde mitbewohner mitbewohnerin zahnarzt zahnärztin
sœur frère mère père fils fille femme mari ami amie voisin voisine collègue cousin cousine chef
hermana hermano madre padre hijo hija esposa esposo marido mujer amigo amiga vecino vecina colega jefe jefa primo prima
сестра сестре сестру сестрой сестры брат брату брата братом мама маме маму мамой папа папе отец отцу сын сыну сыном
сына дочь дочери жена жене жену женой жены муж мужу мужем мужа друг другу друга другом подруга подруге подругу
подругой подруги коллега коллеге коллегу коллегой коллеги сосед соседу соседом соседка соседке соседкой начальник
начальница врач врачу учительница учитель кошка собака
""")
"""What stands before the name of somebody near: my sister Anna."""
VERBS = _words("""
said says say told tells tell asked asks ask shared shares share mentioned mentions mention explained explains replied
replies answered answers suggested suggests recommended recommends wanted wants want thinks thought believes believed
knows knew met meets meet called calls wrote writes sent sends agreed agrees decided decides planned plans plan prefers
preferred likes liked loves loved hates hated lives lived works worked moved moves bought buys sold sells visited visits
invited invites promised promises praised praises thanked thanks congratulated congratulates encouraged encourages
offered offers reported reports confirmed confirms expressed expresses talked talks spoke speaks discussed discusses
discuss chatted chats chat joined joins started starts finished finishes complained complains admired admires
complimented compliments reassured informed informs informs updated updates emphasized emphasizes highlighted
appreciated appreciates noted notes described describes reflected recalled recalls learned learns taught teaches
signed cooked cooks plays played sings sang drove drives flew flies went goes came comes left leaves returned returns
hopes hoped wishes wished feels felt needs needed will showed shows reviewed reviews fixed fixes proposed proposes
volunteered volunteers adopted adopts caught catch reconnected connected exchanged completed received credits
empathized comforted revealed concluded continued continues vowed stated ended valued cherished inquired was is has had
does can should would gave gives took takes made makes helped helps introduced introduces owns owned runs ran leads led
studies studied turned applied applies
helfen kochen bringen treffen ziehen suchen sucht suchte prüfen schreiben machen übernehmen organisieren leihen leiht
sagten trafen gingen kamen planten fuhren kauften wohnen arbeiten wollen sprachen redeten besuchten fanden halfen zogen
begleitete unterschrieb sprach redete freut freute leiht lieh malt malte singt sang reist reiste lacht weiß wusste
sagte sagt meinte meint fragte fragt erzählte erzählt schrieb schreibt antwortete will wollte möchte wohnt arbeitet
zieht zog kaufte kauft verkaufte traf trifft plant plante mag mochte liebt hasst findet fand bat bittet schlug schlägt
kam kommt ging geht fuhr fährt rief ruft versprach verspricht leitet leitete bevorzugt hat hatte ist war braucht
brauchte übernimmt übernahm spielt spielte lernt lernte hilft half besuchte besucht bekam bekommt prüft prüfte schickte
schickt kennt kannte kocht kochte lud lebt lebte organisiert organisierte backt buchte bucht mietet mietete
dit disait demande demanda raconte habite travaille veut voulait aime préfère achète va vient pense propose
dijo dice preguntó contó vive trabaja quiere quería prefiere compró va viene piensa propuso explicó
disse diz mora trabalha quer prefere comprou
сказал сказала говорит рассказал рассказала спросил спросила ответил ответила написал написала хочет хотел хотела
живёт живет работает работал работала переехал переехала купил купила продал продала встретил встретила встретились
приехал приехала уехал уехала любит предпочитает решил решила обещал обещала предложил предложила попросил попросила
считает думает позвонил позвонила планирует пришёл пришла пошёл пошла будет был была помог помогла прислал прислала
просит ведёт учит учится нашёл нашла готовит приготовила забронировал забронировала проверил проверила открыла открыл
""")
"""What people do, and things hardly: a word with a capital before one of these is mostly a person."""
TO_PEOPLE = _words("""
told asked tells asks met meets called calls thanked thanks invited invites with praised encouraged congratulated
encourages informed reminded visited advised helps helped joins joined said says replied answered asks
sagte sagt meinte meint fragte fragt erzählte erzählt schrieb bat antwortete traf trifft rief besuchte kennt fand
dit dijo disse сказал сказала спросил спросила ответил ответила написал написала встретил встретила попросил попросила
рассказал рассказала
""")
"""After one of these, a name is mostly a person's."""
INTO = _words("""
in near at inside outside around across toward towards throughout visiting visited
nahe aus nach à en chez près cerca desde hacia em perto в во из под около возле
""")
"""Prepositions that a place follows."""
FROM = _words("from to into via leaving reached на до через")
"""Prepositions that a place follows, or a person as well."""
PLACES = _words("""
street road avenue lane square park lake river mountain mount mountains valley island islands beach bay harbour harbor
port airport station bridge castle city town village county district region state forest canyon falls desert ocean sea
hills hill garden gardens plaza mall market cemetery peninsula coast creek trail bar cafe café restaurant pub hotel
diner
straße strasse platz allee bahnhof flughafen hafen stadt dorf insel see fluss brücke schloss markt gasse weg wald
rue place parc lac plage gare aéroport ville village île mont pont calle plaza parque lago playa ciudad pueblo isla
""") | _declined(
    "улица площадь проспект озеро река парк остров город вокзал деревня село гора аэропорт станция переулок"
)
"""What the name of a place ends or begins with."""
ORGANIZATIONS = _words("""
inc ltd llc llp corp co plc gmbh ag kg ohg ug e.v ev sarl sas sa s.a bv nv ab oy as srl spa ooo
university college school institute academy hospital clinic bank foundation association society company corporation
museum library ministry department agency church club council committee federation union press orchestra theatre
theater laboratory labs lab studios group partners holdings bakery
universität hochschule schule gymnasium institut klinik krankenhaus stiftung verein verlag museum bibliothek
ministerium amt firma werke stadtwerke bäckerei praxis rathaus kirche bank theater
université école hôpital musée bibliothèque société universidad escuela instituto hospital fundación museo empresa
""") | _declined(
    "университет институт школа больница банк компания фирма музей библиотека академия театр завод колледж клуб кафедра"
)
"""What the name of an organization ends or begins with."""
COMPANIES = _words("firma unternehmen verein company компания фирма société empresa sociedade ditta")
"""Of these, what is no part of the name that follows."""
LEGAL = _words("inc ltd llc llp corp plc gmbh ag kg ohg ug sarl bv srl ooo ооо оао зао пао")
"""Of these, what is never anything else."""
WEAK = _words("""
took takes makes made helped helps needs needed leaves starts started finished ran runs is was has had does can should
would were are will ist war kann soll était est avait es era tiene
había foi
tem
был была будет было with visited joins joined mit
""")
"""Of verbs and the like, what is said of things as well."""
ADVERBS = _words("also then still just now auch dann noch jetzt aussi también também тоже также уже ещё всё")
"""What may stand between a name and its verb."""
GIVEN = _words("""
anna lena laura julia sarah lisa katharina sophie marie lea mia emma hannah clara charlotte johanna frieda greta ida
ingrid ursula monika petra sabine susanne claudia andrea birgit heike silke svenja anja tanja katja nadine nicole
stefanie christine barbara gisela helga renate irmgard gerda dorothea elisabeth margarete magdalena miriam judith
thomas michael andreas stefan christian martin peter klaus jürgen hans wolfgang frank bernd uwe ralf dirk jens jörg
matthias markus florian sebastian tobias felix jonas leon lukas paul emil anton oskar moritz maximilian philipp simon
jan tim tom finn noah ben elias joachim joachim heinz helmut gerhard günter werner walter karl friedrich otto
mehmet ali murat elif ayşe fatma yusuf mustafa
james john robert william david richard joseph charles daniel matthew anthony mark donald steven andrew kenneth
george edward brian ronald kevin jason jeffrey ryan jacob gary nicholas eric jonathan stephen larry justin scott
brandon benjamin samuel gregory alexander patrick jack dennis jerry tyler aaron jose adam nathan henry
mary patricia jennifer linda elizabeth jessica karen nancy margaret sandra ashley kimberly emily donna michelle carol
amanda melissa deborah stephanie rebecca sharon cynthia kathleen amy angela shirley brenda pamela catherine
samantha rachel carolyn janet maria heather diane ruth julie olivia joyce virginia victoria kelly
pierre jean luc claire camille chloé manon hugo louis jules antoine
lucía carmen josé juan carlos luis javier miguel pablo sofía elena isabel
""") | _declined("""
анна мария елена ольга наталья татьяна ирина светлана екатерина юлия марина людмила галина нина надежда вера любовь
валентина лариса тамара раиса зоя лидия алла инна оксана анастасия дарья ксения полина алина виктория александра алёна
алена софья варвара елизавета маша саша катя лена оля таня наташа юля даша настя лиза соня света галя валя
александр сергей дмитрий андрей алексей максим евгений иван михаил николай владимир антон артём артем илья роман
кирилл егор денис виктор игорь олег юрий василий пётр петр борис григорий константин тимур руслан марат глеб степан
фёдор федор никита даниил матвей тимофей арсений леонид анатолий валерий вячеслав геннадий артур эдуард
""")
"""Common first names, in languages whose sentences begin with nouns as often as with names."""
PROJECTS = _words("project projekt projet proyecto projeto progetto проект проекте проекта проекту проектом codename")
"""What a project's name follows or comes before."""
GERMAN = frozenset({"der", "die", "das", "den", "dem", "und", "ein", "eine", "mit", "von", "für", "nicht", "ist", "wir",
                    "im", "am", "zum", "vom", "auf", "sich", "nach", "bei", "sie", "er"})  # fmt: skip
NOT_GERMAN = frozenset({"the", "and", "of", "to", "with", "is", "for", "on", "that", "et", "les", "des", "el", "los"})
GERMAN_ENDS = ("ung", "ungen", "heit", "heiten", "keit", "keiten", "schaft", "schaften", "ion", "ionen", "tät", "ismus",
               "nis", "tum", "ment", "ling", "zeit", "chen", "ität", "ieren", "erei", "woche", "tage", "tag", "termin",
               "stück", "haus", "hause", "arbeit", "abend", "morgen", "nacht", "jahr", "monat")  # fmt: skip
"""Ends of nouns that are hardly ever names."""
GERMAN_NOUNS = _words("""
ende mitte anfang uhr euro prozent ruhe eile zukunft ordnung urlaub folge bezug teil grund frage liebe not kraft hand
hände bett büro internet kontakt deutschunterricht form stunden minuten wochen monate jahre tage kilometer meter grad
papier holz stein glas wasser brot kaffee tee milch kuchen musik kunst sport schnee regen sonne fieber geld angst spaß
freude hilfe recht haft frieden krieg erde schulden garten küche keller auto zug bus fahrrad bahn stand rat tests test
code server daten änderungen commits rechnungen rechnung unterlagen nachrichten mails mail kunden kollegen freunde
freunden eltern kinder kindern leute leuten menschen nachbarn
""")
"""German nouns that stand without an article where a name might."""
KEYWORDS = LEGAL | COMPANIES | PLACES | ORGANIZATIONS | PROJECTS | RELATIONS | TITLES
"""Words that say what a name is of, and are none alone."""
