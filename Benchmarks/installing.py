"""What installing costs, beside curl and aria2c that fetch the same file from the same nginx."""

import os
import shutil
import socket
import subprocess
import sys
import time

from measure import Contestant, Goal, run_quietly
from scenarios import MIB, Site, write_random


class Nginx:
    """nginx on loopback, serving a folder, as long as the setting lives."""

    def __init__(self, setting, folder, name):
        work = setting.make_folder(name, "nginx")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        temporary = "".join(f"{part}_temp_path {work}/{part};" for part in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        configuration = os.path.join(work, "nginx.conf")
        with open(configuration, "w") as file:
            file.write(
                f"daemon off; worker_processes 2; error_log stderr; pid {work}/pid; events {{}}\n"
                f"http {{ {temporary} access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000;\n"
                f"server {{ listen 127.0.0.1:{port}; root {folder}; }} }}\n")
        if os.getuid() == 0:
            with open(configuration, "a") as file:
                file.write("user root;\n")
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        self.process = subprocess.Popen([program, "-c", configuration], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.stdin = self.process.stdin
        self.url = f"http://127.0.0.1:{port}"
        setting.servers.append(self)
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.05)
        sys.exit("benchmark: nginx did not start")

    def wait(self):
        self.process.terminate()
        self.process.wait()


class InstallingDevice:
    def __init__(self, setting, site, name, server):
        self.store = os.path.join(setting.folder, name + "-store")
        self.state = os.path.join(setting.folder, name + "-state")
        self.program = os.path.join(setting.root, ".build", "release", "manifest-install")
        self.urls = ["--metadata-url", server.url + "/metadata", "--targets-url", server.url + "/targets"]
        run_quietly(self.program, "init", "--state", self.state, os.path.join(site.metadata, "1.root.json"))

    def empty(self):
        shutil.rmtree(self.store, ignore_errors=True)

    def install(self, model, *options):
        return [self.program, "--quiet", "install", model, "--state", self.state, "--store", self.store, *self.urls, *options]


def published(setting, name, lengths, sparse):
    site = Site(setting, name)
    for version, length in lengths:
        path = os.path.join(site.model_folder(version), "weights.bin")
        if sparse:
            with open(path, "wb") as file:
                file.truncate(length)
        else:
            write_random(path, length)
    site.reset_repository()
    run_quietly(*site.publish, "--stage")
    return site, Nginx(setting, os.path.join(site.repository, "manifests"), name)


def served_file(site, version):
    folder = os.path.join(site.repository, "manifests", "targets", "acme", "model", version)
    (name,) = [name for name in os.listdir(folder) if name.endswith(".weights.bin")]
    return f"targets/acme/model/{version}/{name}"


def download(setting):
    """Fetching a model"""
    length = 64 * MIB if setting.quick else 1024 * MIB
    site, server = published(setting, "download", [("1.0", length)], sparse=False)
    device = InstallingDevice(setting, site, "download", server)
    url = f"{server.url}/{served_file(site, '1.0')}"
    target = os.path.join(setting.folder, "download", "fetched")

    def remove():
        if os.path.exists(target):
            os.remove(target)

    aria2c = ["aria2c", "--quiet", "--split=4", "--max-connection-per-server=4", "--dir", os.path.dirname(target), "--out", "fetched", url]
    curl = ["curl", "--silent", "--fail", "--output", target, url]
    verified = ["sh", "-c", 'curl --silent --fail --output "$1" "$2" && openssl dgst -sha256 "$1"', "sh", target, url]
    return (
        f"{length // MIB} MiB of random bytes from nginx on loopback, an empty store each time. curl and aria2c verify nothing; `curl, then "
        "openssl` verifies one digest."), [
            Contestant("curl", curl, prepare=remove),
            Contestant("aria2c -s4", aria2c, prepare=remove),
            Contestant("curl, then openssl dgst -sha256", verified, prepare=remove),
            Contestant("manifest-install install", device.install("acme/model"), "curl", prepare=device.empty),
            Contestant(
                "manifest-install install, one connection", device.install("acme/model", "--connections", "1"), "curl", prepare=device.empty),
        ]


def install_memory(setting):
    """Memory of an installation"""
    small, large = (64, 832) if setting.quick else (1024, 13 * 1024)
    site, server = published(setting, "install-memory", [("small", small * MIB), ("large", large * MIB)], sparse=True)
    device = InstallingDevice(setting, site, "install-memory", server)
    name = f"manifest-install install of {small} MiB"
    return "Sparse files from nginx on loopback. The longer one may need at most a tenth more.", [
        Contestant(name, device.install("acme/model@small"), prepare=device.empty),
        Contestant(
            f"manifest-install install of {large} MiB", device.install("acme/model@large"), goals=[Goal("memory", 1.1, of=name)],
            prepare=device.empty),
    ]


# As SCENARIOS of scenarios.py.
INSTALLING = [
    ("download", download, 5, 2, 4500 * MIB),
    ("install-memory", install_memory, 1, 1, 15_000 * MIB),
]
