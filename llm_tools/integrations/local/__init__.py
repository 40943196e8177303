"""A small language model on this machine: no key, no network.

The model lives in a child process (`serving`), which speaks OpenAI chat completions on the
loopback interface; `launching` starts it for the endpoint `local`. The other modules are the
child's: `wire` and `asking` read a request, `protocol` answers it in steps (choose, fill, answer)
over the constrained decoding of `engine`, `replying` spells the answer, `front` is the server.
"""
