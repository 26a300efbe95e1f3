"""An extender whose answers a test writes."""

import http.server
import json
import ssl
import threading


class Extender:
    """Answers POST /VERB with what answers[VERB](arguments) gives: an object, or a pair of a status
    and the bytes of a body. What it was asked is kept."""

    def __init__(self, certificate=None, **answers):
        self.asked = []
        extender = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):  # noqa: N802
                body = self.rfile.read(int(self.headers["Content-Length"]))
                verb, args = self.path.rpartition("/")[2], json.loads(body)
                extender.asked.append((verb, args))
                answer = answers[verb](args)
                status, text = answer if isinstance(answer, tuple) else (
                    200, json.dumps(answer).encode())
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                """Clients that do not trust us, or do not wait."""

        self._server = Server(("127.0.0.1", 0), Handler)
        if certificate:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(certificate)
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True,
                                                  do_handshake_on_connect=False)
        self.url = f"http{'s' if certificate else ''}://127.0.0.1:" \
                   f"{self._server.server_port}/scheduler"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
