#!/usr/bin/env python3
# tests/support/takes_pprof.py: a server that takes what is posted: its port goes to port.txt, each request to
# request.json and body.bin. What it answers is in its path: /401, /redirect, /hang, /garbage.
import http.server
import json
import pathlib


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        pathlib.Path("body.bin").write_bytes(body)
        request = {"path": self.path, "headers": dict(self.headers), "size": len(body)}
        pathlib.Path("request.json").write_text(json.dumps(request))
        if self.path.startswith("/hang"):
            self.connection.close()
            return
        if self.path.startswith("/garbage"):
            self.wfile.write(b"\x00\x01garbage\r\n\r\n")
            return
        status = {"/401": 401, "/redirect": 307}.get(self.path, 200)
        text = b"\x1b[31mnot for you\nsecond line" if status == 401 else b"ok"
        self.send_response(status)
        if status == 307:
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *arguments):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
pathlib.Path("port.part").write_text(str(server.server_port))
pathlib.Path("port.part").rename("port.txt")
server.serve_forever()
