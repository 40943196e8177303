"""A small OpenAI-shaped server for a process of its own: one call, then text about its result."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def answer(body):
    results = [m for m in body["messages"] if m["role"] == "tool"]
    if results:
        message = {"role": "assistant", "content": f"The answer is {results[-1]['content']}."}
        reason = "stop"
    else:
        name = body["tools"][0]["function"]["name"]
        call = {"name": name, "arguments": '{"a": 17, "b": 25}'}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": call}],
        }
        reason = "tool_calls"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        data = json.dumps(answer(body)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512


if __name__ == "__main__":
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    # Ends with its parent: nothing more can come on stdin.
    import threading

    threading.Thread(target=lambda: (sys.stdin.read(), server.shutdown()), daemon=True).start()
    server.serve_forever()
