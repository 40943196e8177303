"""HTTP/1.1 over sockets of our own, on asyncio and trio."""
