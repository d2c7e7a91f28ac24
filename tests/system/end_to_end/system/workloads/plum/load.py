"""Load on the server: ``python -IS load.py answer`` asks once, and ends with the connection."""

import os
import socket

with socket.create_connection((os.environ["TIDEMARK_SERVER"], 8080), timeout=10) as connection:
    connection.sendall(b"GET /plums HTTP/1.0\r\n\r\n")
    answer = connection.makefile("rb").read()
body = answer.partition(b"\r\n\r\n")[2]
print(f"The answer has {len(body)} bytes")
