"""Ways of getting a request to its host: httpx below its client, a whole client, our own HTTP."""
