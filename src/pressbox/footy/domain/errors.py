"""What goes wrong with sources and clips, as the rest of footy has to tell it apart.

TransientError
├── SourceError            a source did not answer, or not in a form that can be read
└── RateLimitedError
    └── SourceBusyError    a source said when to come back
PermanentError
├── SourceLoginError       a source wants a login or a key that it does not have
├── SourceRefusedError     a source does not take this question
├── ClipGoneError          the clip is not there, or not for everybody
├── TooLargeError          more bytes than a clip may have
└── NotAVideoError         something is there, and it is not a video
"""

from pressbox.core.errors import PermanentError, RateLimitedError, TransientError


class SourceError(TransientError):
    code = "source_failed"


class SourceBusyError(RateLimitedError):
    code = "source_busy"


class SourceLoginError(PermanentError):
    code = "source_login"
    status = 503


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
