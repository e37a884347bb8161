"""How steps that belong together are taken: each as an activity of its own, or all of them inside one activity."""

from typing import Protocol

from pressbox.core.temporal.calls import InputT, Method, ResultT


class Take(Protocol):
    """Takes one step; a workflow passes `call_until_success`."""

    async def __call__(
        self, method: "Method[InputT, ResultT]", input: InputT, *, rounds: int | None = None
    ) -> ResultT: ...


class StepsAtOnce:
    """Takes steps inside the running activity, by the methods of these objects.

    What fails is raised as it is: the running activity is repeated as a whole, so every step must be repeatable.
    """

    def __init__(self, *holders: object) -> None:
        self._holders = {type(holder).__name__: holder for holder in holders}

    async def __call__(self, method: "Method[InputT, ResultT]", input: InputT, *, rounds: int | None = None) -> ResultT:
        holder = self._holders[method.__qualname__.partition(".")[0]]
        result: ResultT = await getattr(holder, method.__name__)(input)
        return result
