"""Hosts and topics that an earlier version showed are gone after the migration, and so are strangers' mail relays."""

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from pressbox.core.db.migrate import upgrade
from pressbox.core.db.versions import MIGRATIONS
from tests.integration.soonish.conftest import World
from tests.integration.soonish.test_ledger import opened

SECRET = "s3cr3t-topic"
REASON = f"Its address is private. An administrator can allow it with PRESSBOX_HTTP_ALLOW={SECRET}.local:80."


async def test_what_was_shown_is_masked_and_mail_past_our_server_ends(world: World, database_url: str) -> None:
    user = await world.user()
    channel = await world.channel(user)
    member = await world.subscriber(user_id=user, channel_ids=(channel,))
    guests = {await world.by_address(): kind for kind in ("ntfy", "mailto", "email")}
    await opened(world, member, *guests)
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    (masking,) = [one for one in ScriptDirectory.from_config(config).walk_revisions() if "soonish_secrets" in one.path]

    def go_back(connection: Connection) -> None:
        config.attributes["connection"] = connection
        command.downgrade(config, str(masking.down_revision))

    async with world.database.engine.connect() as connection:
        await connection.run_sync(go_back)
        values = {"shown": f"ntfy · {SECRET}", "reason": REASON}
        await connection.execute(text("UPDATE soonish.channels SET kind = :shown, last_error = :reason"), values)
        await connection.execute(text("UPDATE soonish.deliveries SET reason = :reason"), values)
        for number, kind in guests.items():
            await connection.execute(
                text(
                    "UPDATE soonish.contacts SET kind = :kind, shown = :shown FROM soonish.subscriptions AS mine"
                    " WHERE mine.contact_id = contacts.id AND mine.id = :id"
                ),
                {"id": number, "kind": kind, "shown": "a***@example.org" if kind == "email" else f"{kind} · {SECRET}"},
            )
        await connection.commit()
    upgrade(database_url)
    async with world.database.engine.connect() as connection:
        for table in ("channels", "contacts", "deliveries"):
            rows = (await connection.execute(text(f"SELECT * FROM soonish.{table}"))).all()
            assert rows
            assert SECRET not in repr(rows)
        found = await connection.execute(
            text(
                "SELECT contacts.kind, contacts.shown, mine.state FROM soonish.contacts"
                " JOIN soonish.subscriptions AS mine ON mine.contact_id = contacts.id"
            )
        )
        assert {tuple(row) for row in found} == {
            ("ntfy", "ntfy", "active"),
            ("mailto", "mailto", "left"),
            ("email", "a***@example.org", "active"),
        }
