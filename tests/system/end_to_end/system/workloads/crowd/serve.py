"""Server that takes 25 ms for each request, one after the other: 40 requests a second at most.

Each request asks a store, too, and without its answer is refused. Version 1.1 takes no more than
12 requests a second before it ends.
"""

import os
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ONE = threading.Lock()
STARTS = []
STORE = f"http://{os.environ['TIDEMARK_STORE']}:8070/"


def stored():
    try:
        urllib.request.urlopen(STORE, timeout=5).close()
    except OSError:
        return False
    return True


class Crowd(BaseHTTPRequestHandler):
    def do_GET(self):
        status = 200 if stored() else 503
        if self.path != "/health":
            with ONE:
                STARTS.append(time.monotonic())
                time.sleep(0.025)
            in_second = sum(start > STARTS[-1] - 1 for start in STARTS[-30:])
            if os.environ["TIDEMARK_VERSION"] == "1.1" and in_second > 12:
                print("ValueError: the crowd is too large", flush=True)
                os._exit(3)
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        """Log no request: the last line is to be that of the error."""


class Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True


Server((os.environ["TIDEMARK_ADDRESS"], 8080), Crowd).serve_forever()
