"""Errors of sources and clips.

TransientError
├── SourceError            a source did not answer, or not in a known form
└── RateLimitedError
    └── SourceBusyError    a source asks for a pause
ConfigurationError
└── DateRefusedError       the plan of the fixtures API has no access to a day
PermanentError
├── SourceLoginError       a source needs a login or a key
│   └── SourceBlockedError a web page of a source blocks us, with or without a login
├── SourceRefusedError     a source rejects the request
├── ClipGoneError          the clip is gone or not public
├── TooLargeError          the file is larger than a clip may be
├── NotAVideoError         the file is not a usable video
└── ForbiddenError
    └── CoveredError       somebody hides the score of this match, or may not know it yet
"""

from pressbox.core.errors import ConfigurationError, ForbiddenError, PermanentError, RateLimitedError, TransientError


class DateRefusedError(ConfigurationError):
    code = "date_refused"


class SourceError(TransientError):
    code = "source_failed"


class SourceBusyError(RateLimitedError):
    code = "source_busy"


class SourceLoginError(PermanentError):
    code = "source_login"
    status = 503


class SourceBlockedError(SourceLoginError):
    code = "source_blocked"


class SourceRefusedError(PermanentError):
    code = "source_refused"
    status = 502


class ClipGoneError(PermanentError):
    code = "clip_gone"
    status = 410


class TooLargeError(PermanentError):
    code = "clip_too_large"
    status = 502


class NotAVideoError(PermanentError):
    code = "not_a_video"
    status = 502


class CoveredError(ForbiddenError):
    code = "covered"

    def __init__(self, fixture_id: int) -> None:
        super().__init__("You do not want to know the score of this match yet. Open the match to see what you may.")
        self.fixture_id = fixture_id
