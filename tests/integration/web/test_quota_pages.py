"""Limits as people meet them: on the account page, as a refusal, and on the page of an administrator."""

import re

from fastapi import FastAPI

from pressbox.core.accounts.audit import Action, AuditFilter, AuditLog
from pressbox.core.accounts.models import Role, Scope, User
from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.curator.ask.service import AskService
from pressbox.curator.ask.store import SqlAnswers, SqlConversations
from pressbox.curator.ask.wiring import ask_service
from pressbox.entry.manifests import APPLICATIONS
from tests.fakes.asking import StartedAnswers
from tests.integration.web.conftest import Browse
from tests.site import ADMIN, MEMBER, Overrides, browsing, serving


async def test_everybody_sees_what_is_used_and_only_an_administrator_changes_it(
    app: FastAPI, browse: Browse, admin: User, member: User, resources: Resources
) -> None:
    ruler, person = browse(app), browse(app, "192.0.2.7")
    await ruler.sign_in(ADMIN)
    await person.sign_in(MEMBER)
    await app.state.accounts.add_token(member.id, "phone", {Scope.READ})
    assert "1 of 100" in (await person.get("/account")).text
    limits = f"/users/{member.id}/quotas"
    assert (await person.get(limits)).status_code == 403
    assert (await person.post(limits, data={"key": "tokens", "most": "500"})).status_code == 403
    assert (await person.put(f"/api{limits}/tokens", json={"most": 500})).status_code == 403
    assert (await ruler.post(limits, data={"key": "tokens", "most": "1"})).status_code == 303
    assert "1 of 1" in (await person.get("/account")).text
    assert "1 of 1" in (await ruler.get(limits)).text
    assert (await ruler.post(limits, data={"key": "nothing", "most": "1"})).status_code == 404
    assert (await ruler.post(limits, data={"key": "tokens", "most": "many"})).status_code == 422
    assert (await ruler.post(limits, data={"key": "tokens", "most": ""})).status_code == 303
    assert "1 of 100" in (await person.get("/account")).text
    noted = await AuditLog(resources.database).read(AuditFilter(action=Action.QUOTA_CHANGED))
    assert [(entry.actor_id, entry.subject_id, entry.detail["most"]) for entry in noted] == [
        (admin.id, member.id, None),
        (admin.id, member.id, 1),
    ]
    assert limits in (await ruler.get(f"/users/{member.id}")).text


async def test_a_refusal_says_what_to_do_in_the_language_of_the_person(
    resources: Resources, settings: Settings
) -> None:
    async with serving(resources, settings) as app, browsing(app, "organiser") as person:
        async with browsing(app, "ruler", Role.ADMIN) as ruler:
            limits = f"/api/users/{person.user_id}/quotas"
            assert (await ruler.put(f"{limits}/categories", json={"most": 1})).status_code == 200
            made = [await person.post("/api/curator/categories", json={"name": name}) for name in ("one", "two")]
            assert [answer.status_code for answer in made] == [201, 403]
            assert made[1].json()["error"]["code"] == "quota_exceeded"
            assert "ask an administrator" in made[1].json()["error"]["message"]
            assert (await ruler.put(f"{limits}/requests", json={"most": 0})).status_code == 200
        page = await person.get("/reader", headers={"Accept": "text/html", "Accept-Language": "de"})
        assert page.status_code == 429
        assert "Dein Limit ist erreicht" in page.text


async def test_questions_of_a_day_are_counted_even_when_they_are_deleted(
    resources: Resources, settings: Settings
) -> None:
    # No worker is here: work that is really started would stay on the server that all tests share.
    conversations, answers = SqlConversations(resources.database), SqlAnswers(resources.database)
    questions = AskService(conversations, answers, StartedAnswers(), has_model=False)
    overrides: Overrides = {ask_service: lambda: questions}
    async with serving(resources, settings, APPLICATIONS, overrides) as app, browsing(app, "asker") as person:
        async with browsing(app, "ruler", Role.ADMIN) as ruler:
            limit = f"/api/users/{person.user_id}/quotas/questions"
            assert (await ruler.put(limit, json={"most": 1})).status_code == 200
        first = await person.post("/api/curator/ask", json={"question": "What is new?"})
        assert first.status_code == 202
        conversations = (await person.get("/api/curator/ask/conversations")).json()
        await person.delete(f"/api/curator/ask/conversations/{conversations[0]['id']}")
        again = await person.post("/api/curator/ask", json={"question": "And now?"})
        assert again.status_code == 429
        assert int(again.headers["retry-after"]) > 3600


async def test_limits_that_are_far_away_are_folded(app: FastAPI, browse: Browse, member: User) -> None:
    person = browse(app)
    await person.sign_in(MEMBER)
    far = (await person.get("/account")).text.split('id="limits"')[1]
    assert "<dl" not in far.split("<details")[0]
    assert "API tokens" in far.split("<details")[1]
    await app.state.accounts.add_token(member.id, "phone", {Scope.READ})
    ruler = browse(app, "192.0.2.7")
    await app.state.accounts.add_user("boss@example.org", "four words in a row", role=Role.ADMIN)
    await ruler.sign_in("boss@example.org")
    await ruler.post(f"/users/{member.id}/quotas", data={"key": "tokens", "most": "1"})
    near = (await person.get("/account")).text.split('id="limits"')[1]
    assert "1 of 1" in near.split("<details")[0]


async def test_a_part_that_has_no_age_and_no_lag_has_empty_cells(app: FastAPI, browse: Browse, admin: User) -> None:
    """On a phone an empty cell is left out; one with a blank in it would show its name alone."""
    ruler = browse(app)
    await ruler.sign_in(ADMIN)
    page = (await ruler.get("/status")).text
    assert re.search(r'data-label="(Since|Lag)"></td>', page)
    assert not re.search(r'data-label="(Since|Lag)">\s+</td>', page)
