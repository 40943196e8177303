"""Tool calling: one await, the same function list, every provider, on asyncio and trio."""
