"""How a command ends that is refused: a sentence and an exit code, and a traceback only for mistakes of ours."""

import pytest
from temporalio.service import RPCError, RPCStatusCode

from pressbox.core.errors import InvalidInputError, PermanentError
from pressbox.entry import cli


def end_of(error: Exception, monkeypatch: pytest.MonkeyPatch) -> object:
    def fail() -> None:
        raise error

    monkeypatch.setattr(cli, "cli", fail)
    # It holds for the whole process.
    monkeypatch.setattr("os.umask", lambda _: 0)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return ended.value.code


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InvalidInputError("There is no such feed.", field="feed"), 2, "There is no such feed.\n"),
        (PermanentError("The home is gone."), 1, "The home is gone.\n"),
        (
            RPCError("Request unauthorized.", RPCStatusCode.PERMISSION_DENIED, b""),
            1,
            "Temporal refuses: Request unauthorized. Look at PRESSBOX_TEMPORAL_… and its log.\n",
        ),
    ],
)
def test_a_refusal_is_a_sentence(
    error: Exception, code: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert end_of(error, monkeypatch) == code
    assert capsys.readouterr().err == said


def test_a_mistake_of_ours_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZeroDivisionError):
        end_of(ZeroDivisionError(), monkeypatch)
