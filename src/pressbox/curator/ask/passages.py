"""Citations: where they lead, and the passage that the reader marks there."""

from pressbox.core.app import Resources
from pressbox.core.errors import NotFoundError
from pressbox.curator.ask.domain import AnswerView
from pressbox.curator.ask.wiring import ask_service
from pressbox.curator.reading.access import PATH
from pressbox.curator.reading.passages import ID


def passage_address(answer: AnswerView, number: int) -> str:
    """Return where citation `number` leads, counted from one."""
    passage = answer.passages[number - 1]
    place = f"passage={passage.start}-{passage.end}&cited={answer.id}-{number}"
    return f"{PATH}/entries/{passage.entry_id}?{place}#{ID}"


async def find_passage(
    resources: Resources, user_id: int, entry_id: int, place: tuple[int, int], cited: tuple[int, int] | None
) -> str:
    """Return the passage as the answer quotes it, else what stands there now."""
    service = ask_service(resources)
    try:
        return await service.passage(user_id, entry_id, *place, cited)
    except NotFoundError:
        # The answer is gone; the article is still there to be read.
        return await service.passage(user_id, entry_id, *place)
