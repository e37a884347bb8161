"""The cost ledger: what models were paid for, and their answers, so that nothing is paid twice."""

from datetime import UTC, datetime

from sqlalchemy import func, select, text
from sqlalchemy.dialects.postgresql import insert

from pressbox.core.db.database import Database
from pressbox.curator.adapters.rows import EntryRow, ModelCallRow
from pressbox.curator.domain.identity import storable
from pressbox.curator.ports.storage import PaidCall


class SqlModelLedger:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def known(self, call: PaidCall) -> str | None:
        statement = select(ModelCallRow.answer).where(
            ModelCallRow.content_hash == call.content_hash,
            ModelCallRow.prompt_version == call.prompt_version,
            ModelCallRow.model == call.model,
            ModelCallRow.feature == call.feature,
            ModelCallRow.usable,
        )
        async with self._database.unit_of_work() as work:
            answer: str | None = await work.session.scalar(statement)
        return answer

    async def record(
        self,
        call: PaidCall,
        answer: str,
        tokens_in: int,
        tokens_out: int,
        cost: float,
        now: datetime,
        *,
        usable: bool = True,
    ) -> None:
        """Two that paid for the same at the same time keep the first answer, and both costs."""
        async with self._database.unit_of_work() as work:
            feed_id = call.feed_id
            if feed_id is None and call.entry_id is not None:
                feed_id = await work.session.scalar(select(EntryRow.feed_id).where(EntryRow.id == call.entry_id))
            statement = insert(ModelCallRow).values(
                content_hash=call.content_hash,
                prompt_version=call.prompt_version,
                model=call.model,
                feature=call.feature,
                entry_id=call.entry_id,
                feed_id=feed_id,
                answer=storable(answer),
                usable=usable,
                tokens_in=tokens_in,
                tokens_out=tokens_out,
                cost=cost,
                at=now,
            )
            paid_too = statement.excluded
            await work.session.execute(
                statement.on_conflict_do_update(
                    index_elements=["content_hash", "prompt_version", "model", "feature"],
                    index_where=text("usable"),
                    set_={
                        "tokens_in": ModelCallRow.tokens_in + paid_too.tokens_in,
                        "tokens_out": ModelCallRow.tokens_out + paid_too.tokens_out,
                        "cost": ModelCallRow.cost + paid_too.cost,
                        "at": paid_too.at,
                    },
                )
            )

    async def tokens_today(self, now: datetime) -> int:
        """Since midnight UTC."""
        midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        used = func.sum(ModelCallRow.tokens_in + ModelCallRow.tokens_out)
        async with self._database.unit_of_work() as work:
            return int(await work.session.scalar(select(used).where(ModelCallRow.at >= midnight)) or 0)
