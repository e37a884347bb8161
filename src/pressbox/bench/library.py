"""Made-up articles in five languages, the same in every run, for benchmarks that need many.

Words are distributed by Zipf's law, as in real texts: few are common, most are rare. The words are real, the sentences
are made up.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate, product

_ENGLISH = (
    "the of and to in for that with from council river bridge market match player team summer winter garden engine "
    "window paper music school doctor forest island harbour station machine letter kitchen mountain valley teacher "
    "picture history science energy planet weather traffic village factory bakery library museum theatre stadium "
    "orchard meadow lantern compass journey signal pattern shadow silver copper marble velvet thunder whisper"
)
_ENGLISH_ENDS = ("", "s", "ing", "ed", "er", "ment", "less", "ship", "wards", "hood", "like", "ness")
_GERMAN = (
    "Bundes Landes Haus Wasser Straßen Garten Winter Sommer Schul Kranken Verkehrs Wirtschafts Umwelt Brücken Fluss "
    "Markt Stadt Dorf Wald Berg Tal Hafen Bahn Flug Motor Fenster Papier Musik Kunst Geschichts Energie Wetter"
)
_GERMAN_ENDS = (
    "gericht verfassung ordnung planung behörde amt fest meister anlage gesellschaft verwaltung prüfung reise karte "
    "gebäude versicherung leitung schutz führung entwicklung"
)
_GERMAN_SMALL = "der die das und in von mit für auf nicht ist ein eine wird auch nach bei über aus"
_JAPANESE = "東京都市川橋山森島港駅学校先生病院図書館天気電車工場音楽歴史科学世界日本国民生活経済政治文化"
_JAPANESE_SMALL = ("の", "は", "を", "に", "が", "と", "で", "から", "まで", "です", "ます", "した")
_CHINESE = "上海北京城市河桥山林岛港站学校老师医院图书馆天气火车工厂音乐历史科学世界中国人民生活经济政治文化发展"
_KOREAN = "서울부산도시강교산숲섬항역학교선생병원도서관날씨기차공장음악역사과학세계한국국민생활경제정치문화"
_KOREAN_ENDS = ("은", "는", "이", "가", "을", "를", "에서", "으로", "")

SPREAD = timedelta(minutes=7)
NEWEST = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Article:
    number: int
    language: str
    title: str
    summary: str
    text: str
    author: str
    published_at: datetime


@dataclass(frozen=True)
class Vocabulary:
    """Words of one language, the most common first, and what separates them."""

    language: str
    words: Sequence[str]
    between: str
    share: float

    def sentence(self, chance: random.Random, length: int) -> str:
        return self.between.join(chance.choices(self.words, cum_weights=self._weights(), k=length))

    def _weights(self) -> Sequence[float]:
        found = _WEIGHTS.get(len(self.words))
        if found is None:
            found = _WEIGHTS[len(self.words)] = tuple(accumulate(1 / (rank + 2) for rank in range(len(self.words))))
        return found


_WEIGHTS: dict[int, Sequence[float]] = {}


def _pairs(characters: str, ends: Sequence[str] = ("",)) -> list[str]:
    chance = random.Random(characters)  # noqa: S311 - the same words in every run
    return sorted(
        (a + b + chance.choice(ends) for a, b in product(characters, characters)), key=lambda _: chance.random()
    )


def vocabularies() -> tuple[Vocabulary, ...]:
    stems, firsts, small = _ENGLISH.split(), _GERMAN.split(), _GERMAN_SMALL.split()
    english = [word + end for end, word in product(_ENGLISH_ENDS, stems)]
    german = [first + end for end, first in product(_GERMAN_ENDS.split(), firsts)]
    return (
        Vocabulary("en", [*english, *(one + other for one, other in product(stems[9:], stems[9:]))], " ", 0.5),
        Vocabulary("de", [*small, *german, *(one + other.lower() for one, other in product(firsts, german))], " ", 0.3),
        Vocabulary("ja", [*_JAPANESE_SMALL, *_pairs(_JAPANESE)], "", 0.08),
        Vocabulary("zh", _pairs(_CHINESE), "", 0.07),
        Vocabulary("ko", _pairs(_KOREAN, _KOREAN_ENDS), " ", 0.05),
    )


def articles(count: int, words: int = 300) -> Iterator[Article]:
    """Make articles, newest first, one every seven minutes."""
    chance = random.Random(count)  # noqa: S311 - the same articles in every run
    languages = vocabularies()
    authors = [f"Author {number}" for number in range(200)]
    for number in range(1, count + 1):
        (language,) = chance.choices(languages, weights=[one.share for one in languages])
        paragraphs = (language.sentence(chance, words // 10) for _ in range(10))
        yield Article(
            number=number,
            language=language.language,
            title=language.sentence(chance, 8),
            summary=language.sentence(chance, 40),
            text="\n".join(f"{paragraph}." for paragraph in paragraphs),
            author=chance.choice(authors),
            published_at=NEWEST - number * SPREAD,
        )
