"""An extender that is sent whole nodes and keeps all of them. What it was sent is kept."""

import http.server
import json
import threading

THING = "example.com/thing"  # the pods that ask for it are those it is asked about


class WholeNodeExtender:
    """Serves inside a `with`."""

    def __init__(self):
        self.nodes = []  # names, a list for each question
        extender = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):  # noqa: N802
                args = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                items = args["Nodes"]["items"]
                extender.nodes.append([each["metadata"]["name"] for each in items])
                answer = json.dumps({"Nodes": args["Nodes"]}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                """Not among what the tests say."""

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def configuration(self):
        """The entry of it in a configuration of the scheduler."""
        return {"urlPrefix": f"http://127.0.0.1:{self._server.server_port}",
                "filterVerb": "filter",
                "managedResources": [{"name": THING, "ignoredByScheduler": True}]}

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
