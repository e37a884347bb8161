"""A process that asks a model one question and says whether it paid: `python -m … DATABASE ENDPOINT`."""

import asyncio
import sys
from datetime import timedelta

from pressbox.core.clock import Clock, utc_now
from pressbox.core.db.database import Database
from pressbox.core.models.chat import ChatModel
from pressbox.core.models.client import ModelClient, Question, Reply
from pressbox.core.models.endpoints import Endpoint
from tests.fakes.spending import sql_pay_once

QUESTION = Question("answer", "1", "the same hash", "Say it in short.", "A text of some length.", 50)


async def buy(database_url: str, endpoint: str, now: Clock = utc_now) -> Reply:
    database = Database(database_url)
    chat = ChatModel(
        "model",
        Endpoint(endpoint, "a-model", None, "URL", "KEY", "NAME"),
        longest_call=timedelta(minutes=5),
        at_once=1,
    )
    try:
        return await ModelClient(chat, sql_pay_once(database, now=now)).ask(QUESTION)
    finally:
        await chat.close()
        await database.close()


if __name__ == "__main__":
    sys.stdout.write("bought" if asyncio.run(buy(sys.argv[1], sys.argv[2])).bought else "found")
