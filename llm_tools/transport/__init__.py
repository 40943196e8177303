"""The only room that does I/O: connections, auth, retries, framing."""
