"""The distiller behind any OpenAI-compatible endpoint: several articles per call, what was paid for is not lost."""

import secrets
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from pydantic import SecretStr

from pressbox.core.models.chat import ChatModel, Endpoint, Said
from pressbox.curator.distil.prompt import PROMPT_VERSION, Usable, material, repair, task, usable
from pressbox.curator.library.domain.entries import Distilled, ToDistil
from pressbox.curator.models.domain import estimate_tokens

AT_ONCE = 2
TOGETHER = 5
LONGEST_CALL = timedelta(seconds=120)
TOKENS_PER_ARTICLE = 700
KEPT = 500
_Key = tuple[str, str, int]


class ModelDistiller:
    """Trouble of the endpoint is a TransientError, a wrong setting a ConfigurationError; both leave everything undone.

    An article that the model answers nonsense about, twice, has an answer of no use, with what it cost; the others are
    not touched.
    """

    def __init__(
        self, url: str, model: str, key: SecretStr | None = None, *, longest_call: timedelta = LONGEST_CALL
    ) -> None:
        endpoint = Endpoint(
            url,
            model,
            key,
            url_setting="PRESSBOX_CURATOR_MODEL_URL",
            key_setting="PRESSBOX_CURATOR_MODEL_KEY",
            model_setting="PRESSBOX_CURATOR_MODEL_NAME",
        )
        self._chat = ChatModel("distiller", endpoint, longest_call=longest_call, at_once=AT_ONCE)
        # Answers of a call whose other half failed: the next try does not pay for them again.
        self._kept: OrderedDict[_Key, Distilled] = OrderedDict()
        # Tokens of answers that were nonsense: they belong to the next one about the same text.
        self._wasted: OrderedDict[_Key, tuple[int, int]] = OrderedDict()

    @property
    def name(self) -> str:
        return self._chat.model

    @property
    def prompt_version(self) -> str:
        return PROMPT_VERSION

    async def distil(self, entries: Sequence[ToDistil], language: str, sentences: int) -> Sequence[Distilled]:
        keys = {entry.entry_id: (entry.content_hash, language, sentences) for entry in entries}
        # The same text in two feeds is asked for once.
        asked = {keys[entry.entry_id]: entry for entry in entries if keys[entry.entry_id] not in self._kept}
        waiting = list(asked.values())
        for begin in range(0, len(waiting), TOGETHER):
            async with self._chat.turns:
                await self._ask(waiting[begin : begin + TOGETHER], language, sentences)
        found = {key: self._kept.pop(key) for key in set(keys.values()) if key in self._kept}
        for key, entry in asked.items():
            if key not in found:
                found[key] = self._useless(entry, *self._wasted.pop(key, (0, 0)))
        return [replace(found[keys[entry.entry_id]], entry_id=entry.entry_id) for entry in entries]

    async def close(self) -> None:
        await self._chat.close()

    async def _ask(self, entries: Sequence[ToDistil], language: str, sentences: int) -> None:
        numbers = dict(enumerate(entries, start=1))
        mark = secrets.token_hex(8)
        messages: list[object] = [
            {"role": "system", "content": task(language, sentences, mark)},
            {"role": "user", "content": material(numbers, mark)},
        ]
        said = await self._said(messages, len(entries))
        found = usable(said.text, numbers)
        self._keep(found, numbers, said, language, sentences)
        if not found:
            self._waste(entries, said, language, sentences)
        missing = [number for number in numbers if number not in found]
        if missing:
            messages += [
                {"role": "assistant", "content": said.text[:4000]},
                {"role": "user", "content": repair(missing)},
            ]
            again = await self._said(messages, len(missing))
            left = {number: numbers[number] for number in missing}
            mended = usable(again.text, left)
            self._keep(mended, numbers, again, language, sentences)
            if not mended:
                self._waste(tuple(left.values()), again, language, sentences)

    async def _said(self, messages: Sequence[object], articles: int) -> Said:
        said = await self._chat.ask(messages, TOKENS_PER_ARTICLE * articles)
        if said.tokens_in or said.tokens_out:
            return said
        # A budget needs numbers, also where the endpoint does not count.
        return Said(said.text, estimate_tokens(*map(str, messages)), estimate_tokens(said.text))

    def _keep(
        self, found: Mapping[int, Usable], numbers: Mapping[int, ToDistil], said: Said, language: str, sentences: int
    ) -> None:
        for place, (number, answer) in enumerate(found.items()):
            entry = numbers[number]
            key = (entry.content_hash, language, sentences)
            wasted_in, wasted_out = self._wasted.pop(key, (0, 0))
            self._kept[key] = Distilled(
                entry_id=entry.entry_id,
                summary=answer.summary,
                main_content_start_line=answer.start,
                main_content_end_line=answer.end,
                language=entry.language,
                model=self.name,
                prompt_version=PROMPT_VERSION,
                tokens_in=wasted_in + _share(said.tokens_in, place, len(found)),
                tokens_out=wasted_out + _share(said.tokens_out, place, len(found)),
                content_hash=entry.content_hash,
            )
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def _waste(self, entries: Sequence[ToDistil], said: Said, language: str, sentences: int) -> None:
        for place, entry in enumerate(entries):
            key = (entry.content_hash, language, sentences)
            before_in, before_out = self._wasted.get(key, (0, 0))
            self._wasted[key] = (
                before_in + _share(said.tokens_in, place, len(entries)),
                before_out + _share(said.tokens_out, place, len(entries)),
            )
        while len(self._wasted) > KEPT:
            self._wasted.popitem(last=False)

    def _useless(self, entry: ToDistil, tokens_in: int, tokens_out: int) -> Distilled:
        return Distilled(
            entry.entry_id,
            "",
            0,
            0,
            entry.language,
            self.name,
            PROMPT_VERSION,
            tokens_in,
            tokens_out,
            entry.content_hash,
            usable=False,
        )


def _share(tokens: int, place: int, of: int) -> int:
    """Of what a call cost, so that all shares together are all of it."""
    return tokens // of + (1 if place < tokens % of else 0)
