"""Store that the server asks for each request."""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Store(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        """Log no request."""


class Server(ThreadingHTTPServer):
    daemon_threads = True


server = Server((os.environ["TIDEMARK_ADDRESS"], 8070), Store)
print("The store is open", flush=True)
server.serve_forever()
