"""Talks to an API server, in as few lines as programs and tests here need."""

import concurrent.futures
import http.client
import json
import re
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request

_CONNECTIONS = 4


class ApiServer:
    """The administrator's way to the API server of a control plane that runs in a folder."""

    def __init__(self, server, folder):
        self.server = server
        self._token = (folder / "admin.token").read_text("ascii")
        self._tls = ssl.create_default_context(cafile=folder / "server.crt")
        self._resources = {}

    @classmethod
    def of_folder(cls, folder):
        """For programs that did not start the control plane themselves."""
        kubeconfig = (folder / "kubeconfig").read_text("utf-8")
        return cls(re.search(r"server: (\S+)", kubeconfig).group(1), folder)

    def _headers(self, content_type):
        return {"Authorization": f"Bearer {self._token}", "Content-Type": content_type}

    def request(self, method, path, body=None, content_type="application/json"):
        """The answer of the API server, as an object if it is JSON; urllib.error.HTTPError if it
        refuses. A body that is a text is sent as it is."""
        text, is_json = self._ask(method, path, body, content_type)
        return json.loads(text) if is_json else text

    def _ask(self, method, path, body=None, content_type="application/json"):
        data = body if body is None or isinstance(body, str) else json.dumps(body)
        request = urllib.request.Request(
            self.server + path,
            method=method,
            data=None if data is None else data.encode(),
            headers=self._headers(content_type),
        )
        try:
            with urllib.request.urlopen(request, context=self._tls, timeout=30) as answer:
                is_json = answer.headers.get_content_type() == "application/json"
                return answer.read().decode(), is_json
        except urllib.error.HTTPError as error:
            error.add_note(error.read().decode())
            raise

    def get(self, path):
        return self.request("GET", path)

    def stream(self, path, accept):
        """The bytes of an answer to their end, for example those of a watch."""
        headers = {**self._headers("application/json"), "Accept": accept}
        request = urllib.request.Request(self.server + path, headers=headers)
        with urllib.request.urlopen(request, context=self._tls, timeout=120) as answer:
            return answer.read()

    def create(self, path, body):
        return self.request("POST", path, body)

    def create_many(self, path, bodies):
        """Creates many objects of a kind over few connections."""
        host = urllib.parse.urlsplit(self.server).netloc

        def create_some(some):
            connection = http.client.HTTPSConnection(host, context=self._tls, timeout=30)
            for body in some:
                headers = self._headers("application/json")
                connection.request("POST", path, json.dumps(body), headers)
                answer = connection.getresponse()
                text = answer.read()
                if answer.status != http.HTTPStatus.CREATED:
                    raise RuntimeError(f"{path}: {answer.status} {text.decode()}")
            connection.close()

        shares = [bodies[start::_CONNECTIONS] for start in range(_CONNECTIONS)]
        with concurrent.futures.ThreadPoolExecutor(_CONNECTIONS) as pool:
            list(pool.map(create_some, shares))

    def wait_for(self, path, holds, timeout=60, pause=0.1):
        """Reads an object or a list until it is as wanted, and returns it."""
        deadline = time.monotonic() + timeout
        while True:
            last = self.get(path)
            if holds(last):
                return last
            if time.monotonic() > deadline:
                raise TimeoutError(f"{path} stayed {json.dumps(last)[:2000]}")
            time.sleep(pause)

    def changes(self, path, since):
        """What became of the objects of a list after a version of it, in that order: pairs of
        ADDED, MODIFIED or DELETED and the object as it was then. Ends when all that is there now
        was told of as it is now."""
        missing = {(item["metadata"]["name"], item["metadata"]["resourceVersion"])
                   for item in self.get(path)["items"]
                   if int(item["metadata"]["resourceVersion"]) > int(since)}
        more = "&" if "?" in path else "?"
        request = urllib.request.Request(
            f"{self.server}{path}{more}watch=1&resourceVersion={since}&timeoutSeconds=60",
            headers=self._headers("application/json"))
        told = []
        with urllib.request.urlopen(request, context=self._tls, timeout=120) as answer:
            while missing:
                line = answer.readline()
                if not line:
                    raise TimeoutError(f"{path}: the watch did not tell of {missing}")
                event = json.loads(line)
                meta = event["object"]["metadata"]
                missing.discard((meta["name"], meta["resourceVersion"]))
                told.append((event["type"], event["object"]))
        return told

    def apply(self, document, dry_run=False):
        """Makes an object be as one document of YAML says, and returns it. The server reads the
        YAML; here only the name of the object is looked for."""
        version, kind = (_field(document, name) for name in ("apiVersion", "kind"))
        resource = self._resource_of(version, kind)
        metadata = re.search(r"^metadata:(.*\n(?:[ \t].*\n)*)", document + "\n", re.MULTILINE)
        name = _field(metadata.group(1), "name")
        namespace = _field(metadata.group(1), "namespace", "default")
        where = f"namespaces/{namespace}/" if resource["namespaced"] else ""
        group = f"/api/{version}" if version == "v1" else f"/apis/{version}"
        query = "fieldManager=knx-cluster&force=true" + ("&dryRun=All" if dry_run else "")
        return self.request("PATCH", f"{group}/{where}{resource['name']}/{name}?{query}", document,
                            "application/apply-patch+yaml")

    def _resource_of(self, version, kind):
        if version not in self._resources:
            group = f"/api/{version}" if version == "v1" else f"/apis/{version}"
            self._resources[version] = self.get(group)["resources"]
        for resource in self._resources[version]:
            if resource["kind"] == kind and "/" not in resource["name"]:
                return resource
        raise ValueError(f"the API server has no {kind} in {version}")


def _field(text, name, otherwise=None):
    found = re.search(rf"(?:^|[\s{{,]){name}:\s*([\w./-]+)", text)
    if found:
        return found.group(1)
    if otherwise is None:
        raise ValueError(f"no {name} in: {text.strip()[:200]}")
    return otherwise


def documents_of(text):
    """The documents of a YAML text that have something in them."""
    documents = re.split(r"^---.*\n", text, flags=re.MULTILINE)
    return [each for each in documents if re.search(r"^\w", each, re.MULTILINE)]
