"""Words that tell a fact from small talk, in the main languages: what `extractive` looks for and passes over."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Function words and small talk of en de fr es pt it nl ru hi ar ko: they carry no fact.
EMPTY = _words("""
a an and are as at be been being but by can could did do does doing done for from had has have having he her here hers
him his how i if in into is it its just me more most my no not now of off on or our out over own she should so some
such than that the their them then there these they this those to too up us very was we were what when where which
who whom why with would you your yours i'm i've i'd i'll it's that's you're you've you'll we're we've they're he's
she's there's what's let's don't didn't doesn't can't isn't wasn't won't couldn't wouldn't haven't about after all also
any because before both down during each even few get gets getting got go going gonna have how's know like lot lots
make makes making much only other really same see seems since still sure take tell thing things think through time
under until soon talk chat want way well while will yes yeah yep you'd again always around back come definitely
feel feeling feels keep kind let look looks mean need nothing one say says something stuff totally truly understand
hey hi hello hiya bye goodbye thanks thank thx wow whoa cool great awesome amazing nice good glad happy fantastic
wonderful lovely love sounds sound right ok okay lol haha hahaha hehe please sorry welcome congrats congratulations oh
ah aw aww man buddy absolutely exactly inspiring incredible beautiful proud excited exciting hope fun best better
appreciate agree interesting super care day luck guess maybe especially
der die das den dem des ein eine einen einem einer eines und oder aber ist sind war waren bin hat habe haben hatte wird
werden wie was wer wo warum ich du er sie es wir ihr mich mir dich dir ihn ihm uns euch sich mein meine dein deine sein
seine nicht kein keine auf aus bei mit nach von vor zu zum zur im in am an als auch noch nur schon sehr so dann denn
dass wenn weil für über unter ja nein doch mal hallo danke bitte toll schön tschüss geht's geht
le la les l un une des du de d et ou mais est sont était suis ai as a avons avez ont je tu il elle on nous vous ils
elles me te se ce cet cette ces que qui quoi ne pas plus dans en sur avec pour par au aux son sa ses mon ma mes c'est
j'ai oui non très bien bonjour salut merci génial ça va comment
el los las uno una y o pero es son era estoy está he ha han yo tú él ella nosotros ellos mi tu su lo no sí que qué cómo
con por para del al se muy más como hola gracias genial bien buenos días
os as um uma e ou mas são foi estou está eu você ele ela nós eles meu minha seu sua não sim com por para do da dos das
no na nos nas muito mais como olá obrigado obrigada tudo bem
gli i lo un uno ed ma sono sei è ho hai ha io lui lei noi voi loro mio tuo suo non sì che chi di da con su per tra del
della dei molto più ciao grazie bello bene come stai
het een en of maar is zijn was ik jij je hij zij wij ze mijn jouw niet geen wel van op in met voor aan bij te dat deze
die dit ook nog heel hoi hallo bedankt leuk goed
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще нет о
из ему теперь когда мы это был была были привет спасибо круто класс хорошо отлично дела очень
नमस्ते धन्यवाद है हैं हो था थे का की के में से को ने यह वह आप मैं कैसे हम
مرحبا شكرا جزيلا في من على هو هي إلى هذا هذه مع أنت هل كيف حالك
잘 지내요 안녕 안녕하세요 감사합니다 고마워 고마워요 네 아니요 그리고 정말 너무 나는 저는
""")
# What speaks to somebody is more often a reply than a fact.
YOU = _words("""
you your you're you've you'll yours du dich dir dein deine tu te ton ta toi vous votre tú ti você ty ti je jij jouw
ты тебя тебе твой вы вас ваш
""")
# Relative time, weekdays, months, and numbers in words (en de fr es pt it nl ru); "may" and "mar" mean too much else.
TIMES = _words("""
yesterday today tomorrow tonight morning evening week weeks weekend month months year years ago last next earlier
monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october
november december summer autumn winter spring two three four five six seven eight nine ten twelve dozen hundred thousand
million first second third once twice half daily weekly hours minutes
gestern heute morgen woche monat jahr montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz
mai juni juli oktober dezember zwei drei vier fünf sechs sieben acht neun zehn hundert tausend
hier aujourd'hui demain semaine mois an ans lundi mardi mercredi jeudi vendredi samedi dimanche janvier février mars
avril juin juillet août septembre octobre novembre décembre deux trois quatre cinq cent mille
ayer hoy mañana semana mes año años lunes martes miércoles jueves viernes sábado domingo enero febrero marzo abril mayo
junio julio agosto septiembre octubre noviembre diciembre dos tres cuatro cinco diez cien mil
ontem hoje amanhã mês ano anos segunda-feira terça-feira quarta-feira quinta-feira sexta-feira janeiro fevereiro março
maio junho julho setembro outubro novembro dezembro dois três
ieri oggi domani settimana mese anno anni lunedì martedì mercoledì giovedì venerdì sabato domenica gennaio febbraio
maggio giugno luglio settembre ottobre dicembre aprile due tre quattro
gisteren vandaag morgen maand jaar maandag dinsdag woensdag donderdag vrijdag zaterdag zondag januari februari maart
augustus twee drie vijf
вчера сегодня завтра неделю неделе месяц год года лет понедельник вторник среду четверг пятницу субботу воскресенье
января февраля марта апреля мая июня июля августа сентября октября ноября декабря два две три четыре пять десять тысяч
""")
# Words that announce a decision, its reason, or a change (en de fr es pt it nl ru).
DECISIONS = _words("""
decided decide decision chose chosen choose must never always because agreed moved bought sold started began finished
planning plan plans planned launched joined quit hired won lost signed booked released fixed switched prefer prefers
beschlossen entschieden muss nie weil gekauft verkauft umgezogen gestartet begonnen fertig vereinbart
décidé choisi doit jamais parce acheté vendu déménagé commencé fini convenu
decidido decidió decidimos eligió debe nunca porque compró compramos empezó terminó acordamos mudó
decidiu decidimos escolheu deve comprou começou terminou deciso scelto deve mai perché comprato iniziato finito
besloten gekozen moet nooit omdat gekocht verhuisd begonnen klaar
решил решила решили выбрали должен должны никогда потому купил купила купили начал начали закончил договорились
""")
