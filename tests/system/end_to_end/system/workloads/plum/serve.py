"""Server of plums: ``python -IS serve.py server``; version 1.1 ends after its first plums."""

import os
from http.server import BaseHTTPRequestHandler, HTTPServer


class Plums(BaseHTTPRequestHandler):
    """Answers ``/health`` without a body, and any other path with seven plums."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        if self.path == "/health":
            return
        self.wfile.write(b"7 plums")
        if os.environ["TIDEMARK_VERSION"] == "1.1":
            print("ValueError: no plum is left", flush=True)
            os._exit(3)

    def log_message(self, *_):
        """Log no request: the last line is to be that of the error."""


HTTPServer((os.environ["TIDEMARK_ADDRESS"], 8080), Plums).serve_forever()
