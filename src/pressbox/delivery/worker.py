"""Builds the activities of delivery, which only a worker needs."""

from pressbox.core.app import ActivitiesByQueue, Resources
from pressbox.core.temporal.calls import activity_methods
from pressbox.delivery.activities.notices import NoticeActivities
from pressbox.delivery.adapters.address_book import AddressBook
from pressbox.delivery.adapters.notice_ledger import SqlNoticeLedger
from pressbox.delivery.adapters.notice_sender import NoticeSender
from pressbox.delivery.adapters.notice_wording import NoticeWords
from pressbox.delivery.adapters.routing_sender import build_sender
from pressbox.delivery.ids import QUEUE
from pressbox.delivery.push.keys import PushKeys
from pressbox.delivery.push.sender import PushSender
from pressbox.delivery.push.store import PushStore
from pressbox.delivery.wiring import public_url, vault, way_links


def activities(resources: Resources) -> ActivitiesByQueue:
    settings, database = resources.settings, resources.database
    ledger = SqlNoticeLedger(database)
    reveal = vault(settings).reveal
    routes = build_sender(settings, database, reveal, find_unwanted=ledger.find_unwanted)
    book = AddressBook(database, reveal, ledger.find_unwanted)
    push = PushSender(resources.http, PushKeys(database, settings), settings)
    sender = NoticeSender(routes, book, push, PushStore(database, settings))
    words = NoticeWords(public_url(settings), way_links(settings))
    return {QUEUE: activity_methods(NoticeActivities(ledger, sender, words))}
