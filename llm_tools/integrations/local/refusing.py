"""How the local server says no: HTTP status and error body as OpenAI spells them."""

from __future__ import annotations

import msgspec


class ApiError(Exception):
    """An answer that is an error; `code` is stable, the message says what to do next.

    Attributes:
        status: the HTTP status; 4xx is the client's to mend, 5xx is ours.
        code: such as `schema_not_supported`, `output_limit` or `context_length_exceeded`.
        param: the part of the request at fault.
    """

    def __init__(
        self, message: str, *, status: int = 400, code: str | None = None, param: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.param = param

    def body(self) -> bytes:
        """The JSON body."""
        kind = "server_error" if self.status >= 500 else "invalid_request_error"
        error = {"message": str(self), "type": kind, "param": self.param, "code": self.code}
        return msgspec.json.encode({"error": error})
