"""What is measured: each function makes its data in a folder of its own and returns the contestants."""

import copy
import glob
import os
import shlex
import shutil
import subprocess
import sys

from measure import Contestant, Goal, run_quietly

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BENCHMARK_PEERS = os.path.join(ROOT, ".build", "benchmark-peers")
MIB = 1 << 20
CHUNK = 8 * MIB
# In a repository: what earlier publications have hashed.
CACHE = ".manifest-sign-cache"


class Setting:
    """What the scenarios share: the commands, the scratch folder, and whether sizes are small."""

    def __init__(self, root, folder, quick):
        self.root, self.folder, self.quick = root, folder, quick
        self.sign = os.path.join(root, ".build", "release", "manifest-sign")
        self.verify = os.path.join(root, ".build", "release", "manifest-verify")
        self.install = os.path.join(root, ".build", "release", "manifest-install")
        self.python = os.path.join(root, ".peers", "bin", "python3")
        self.servers = []

    def make_folder(self, *names):
        path = os.path.join(self.folder, *names)
        os.makedirs(path)
        return path

    def serve(self, folder):
        """The URL under which a folder is served until `close`."""
        server = subprocess.Popen(
            [sys.executable, os.path.join(self.root, "Tests", "Peers", "serve.py"), folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.servers.append(server)
        return f"http://127.0.0.1:{int(server.stdout.readline())}"

    def close(self):
        for server in self.servers:
            server.stdin.close()
            server.wait()


class Site:
    """A folder of models, the repository that signs it, and a device's state."""

    def __init__(self, setting, name):
        self.setting = setting
        self.models = setting.make_folder(name, "models")
        self.repository, self.state = os.path.join(setting.folder, name, "repository"), os.path.join(setting.folder, name, "state")
        self.fresh_repository, self.fresh_state = self.repository + ".fresh", self.state + ".fresh"
        self.metadata = os.path.join(self.repository, "manifests", "metadata")
        self.root = os.path.join(self.metadata, "1.root.json")
        run_quietly(setting.sign, "init", "--repository", self.fresh_repository, "--no-passphrase")
        fresh_root = os.path.join(self.fresh_repository, "manifests", "metadata", "1.root.json")
        run_quietly(setting.verify, "init", "--state", self.fresh_state, fresh_root)

    def model_folder(self, version="1.0"):
        path = os.path.join(self.models, "acme", "model", version)
        os.makedirs(path)
        return path

    def reset_repository(self):
        """As it was before anything was published."""
        shutil.rmtree(self.repository, ignore_errors=True)
        shutil.copytree(self.fresh_repository, self.repository)

    def reset_state(self):
        shutil.rmtree(self.state, ignore_errors=True)
        shutil.copytree(self.fresh_state, self.state)

    @property
    def publish(self):
        return [self.setting.sign, "--quiet", "publish", self.models, "--repository", self.repository]

    @property
    def refresh(self):
        return [self.setting.verify, "refresh", "--state", self.state, "--metadata", self.metadata]

    def refresh_from(self, url):
        return [self.setting.install, "refresh", "--state", self.state, "--metadata-url", url]

    def check(self, *arguments):
        return [self.setting.verify, "check", "--state", self.state, "--base", self.models, *arguments]

    def show(self, path):
        return [self.setting.verify, "show", "--state", self.state, path]

    def publish_and_refresh(self):
        self.reset_repository()
        run_quietly(*self.publish)
        self.reset_state()
        run_quietly(*self.refresh)


def write_random(path, length):
    with open(path, "wb") as file:
        while length > 0:
            length -= file.write(os.urandom(min(length, CHUNK)))


class ModelSigning:
    """OpenSSF Model Signing with a key of its own: it signs and verifies a folder as one model."""

    def __init__(self, setting, models):
        self.program, self.models = os.path.join(BENCHMARK_PEERS, "bin", "model_signing"), models
        self.key, self.public_key, self.signature = (os.path.join(setting.folder, name) for name in ("ec.key", "ec.pub", "model.sig"))
        run_quietly("openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.key)
        run_quietly("openssl", "ec", "-in", self.key, "-pubout", "-out", self.public_key)
        if os.access(self.program, os.X_OK):
            run_quietly(*self.sign)

    @property
    def sign(self):
        return [self.program, "sign", "key", "--private_key", self.key, "--signature", self.signature, self.models]

    @property
    def verify(self):
        return [self.program, "verify", "key", "--public_key", self.public_key, "--signature", self.signature, self.models]


def big_file(setting):
    """One big file"""
    length = 64 * MIB if setting.quick else 2048 * MIB
    site = Site(setting, "big")
    path = os.path.join(site.model_folder(), "weights.bin")
    write_random(path, length)
    site.publish_and_refresh()
    peer = "openssl dgst -sha256"
    model_signing = ModelSigning(setting, site.models)
    text = (
        f"{length // MIB} MiB of random bytes. openssl and fsverity each compute one of the two digests that `publish` signs; b3sum computes "
        "another one, for which no hardware is made and which nobody's metadata has.")
    return text, [
        Contestant(peer, ["openssl", "dgst", "-sha256", path]),
        Contestant("fsverity digest", ["fsverity", "digest", path]),
        Contestant("sha256sum", ["sha256sum", path]),
        Contestant("b3sum", ["b3sum", path]),
        Contestant("model_signing sign", model_signing.sign),
        Contestant("model_signing verify", model_signing.verify),
        Contestant("manifest-sign publish", site.publish, peer, [Goal("wall", 1.05, of=peer)], site.reset_repository),
        Contestant(
            "manifest-verify check", site.check("--all"), peer, [Goal("wall", 1 / 1.8, of=peer), Goal("memory", 24_000_000)]),
        Contestant("manifest-verify check --jobs 1", site.check("--all", "--jobs", "1"), peer),
        Contestant("manifest-verify check --whole", site.check("--all", "--whole"), peer),
    ]


def small_files(setting):
    """Many small files"""
    count = 1_000 if setting.quick else 20_000
    site = Site(setting, "small")
    folder = site.model_folder()
    for number in range(count):
        inner = os.path.join(folder, f"{number // 200:03}")
        os.makedirs(inner, exist_ok=True)
        write_random(os.path.join(inner, f"{number:05}.bin"), 4096)
    site.publish_and_refresh()
    hash_all = f"find {shlex.quote(site.models)} -type f -print0 | xargs -0 openssl dgst -sha256"
    peer = "find … \\| xargs openssl dgst -sha256"
    model_signing = ModelSigning(setting, site.models)
    return f"{count:,} files of 4 KiB.", [
        Contestant(peer, ["sh", "-c", hash_all]),
        Contestant("model_signing sign", model_signing.sign),
        Contestant("model_signing verify", model_signing.verify),
        Contestant("manifest-sign publish", site.publish, peer, [], site.reset_repository),
        Contestant(
            "manifest-verify check", site.check("--all"), peer, [Goal("cpu", 1, of=peer), Goal("cpu", 0.1, of="model_signing verify")]),
        Contestant("manifest-verify check --whole", site.check("--all", "--whole"), peer),
    ]


def start_up(setting):
    """Start-up"""
    return "Each starts, prints its version and ends; `true` does nothing.", [
        Contestant("true", [shutil.which("true")]),
        Contestant("openssl version", ["openssl", "version"]),
        Contestant("manifest-verify --version", [setting.verify, "--version"], "openssl version", [Goal("wall", 0.005, best=True)]),
        Contestant("manifest-sign --version", [setting.sign, "--version"], "openssl version"),
    ]


def metadata(setting):
    """Metadata of many files"""
    count = 2_000 if setting.quick else 100_000
    site = Site(setting, "metadata")
    folder = site.model_folder()
    for number in range(count):
        inner = os.path.join(folder, f"{number // 1000:03}")
        os.makedirs(inner, exist_ok=True)
        with open(os.path.join(inner, f"{number:06}.bin"), "wb") as file:
            file.write(b"%d" % number)
    site.publish_and_refresh()
    sizes = [os.path.getsize(path) for path in glob.glob(os.path.join(glob.escape(site.metadata), "*.targets.json"))]
    path = f"acme/model/1.0/{count // 2000:03}/{count // 2:06}.bin"
    url = setting.serve(site.metadata)
    cache = os.path.join(setting.folder, "metadata", "cache")

    def reset_cache():
        shutil.rmtree(cache, ignore_errors=True)
        os.mkdir(cache)

    lookup = [setting.python, os.path.join(setting.root, "Benchmarks", "tuf_lookup.py")]
    full = lookup + [site.root, url, cache, path]
    reset_cache()
    run_quietly(*full)
    kept = cache + ".kept"
    shutil.copytree(cache, kept)
    kept_lookup = lookup + [site.root, url, kept, path]
    refreshing, fetching, cached = copy.copy(site), copy.copy(site), copy.copy(site)
    refreshing.state, fetching.state, cached.state = site.state + ".new", site.state + ".http", site.state + ".kept"
    cached.reset_state()
    run_quietly(*cached.refresh_from(url))
    first, again = "python-tuf: refresh and look up, nothing cached", "python-tuf: refresh and look up, all cached"
    # What the others fetch stays as it is.
    publishing = copy.copy(site)
    publishing.repository = site.repository + ".publishing"
    shutil.copytree(site.repository, publishing.repository)

    # Files that were too young to be remembered are old enough by now.
    run_quietly(*site.publish)
    # What is signed of each file is remembered there, and nothing is published.
    first_publishing = copy.copy(site)
    first_publishing.repository = site.repository + ".hashed"
    hashed = first_publishing.repository + ".kept"
    shutil.copytree(site.fresh_repository, hashed)
    shutil.copytree(os.path.join(site.repository, CACHE), os.path.join(hashed, CACHE))

    def forget_what_is_published():
        shutil.rmtree(first_publishing.repository, ignore_errors=True)
        shutil.copytree(hashed, first_publishing.repository)

    def change_one_file():
        with open(os.path.join(folder, "000", "000000.bin"), "wb") as file:
            file.write(os.urandom(16))

    text = (
        f"{count:,} targets, targets.json of {max(sizes) / 1e6:.1f} MB, published by manifest-sign. manifest-install and python-tuf fetch it over "
        "loopback HTTP from one and the same server; manifest-verify reads the folder. How much of its time goes into starting the interpreter "
        "and importing, the first line tells.")
    return text, [
        Contestant("python-tuf: imports alone", lookup + [cache]),
        Contestant(first, full, prepare=reset_cache),
        Contestant(again, kept_lookup),
        Contestant(
            "manifest-install refresh over HTTP, nothing cached", fetching.refresh_from(url), first, [Goal("wall", 0.1, of=first)],
            fetching.reset_state),
        Contestant("manifest-install refresh over HTTP, all cached", cached.refresh_from(url), again, [Goal("wall", 0.1, of=again)]),
        Contestant(
            "manifest-verify refresh, nothing cached", refreshing.refresh, first, [Goal("wall", 0.1, of=first)], refreshing.reset_state),
        Contestant(
            "manifest-verify show PATH: load, verify, look up", site.show(path), again,
            [Goal("wall", 0.15), Goal("wall", 0.1, of=again), Goal("memory", 4 * max(sizes))]),
        Contestant(
            "manifest-sign publish, all signed for the first time, hashed before", first_publishing.publish, goals=[Goal("wall", 1)],
            prepare=forget_what_is_published),
        Contestant("manifest-sign publish, nothing changed", publishing.publish),
        Contestant(
            "manifest-sign publish, one file changed", [*publishing.publish, "--allow-replace"], goals=[Goal("wall", 1)],
            prepare=change_one_file),
    ]


def many_models(setting):
    """Many models"""
    count = 40 if setting.quick else 2_000
    site = Site(setting, "many-models")
    for model in range(count):
        folder = os.path.join(site.models, f"org{model // 100:02}", f"model{model:04}", "1.0")
        os.makedirs(folder)
        for number in range(50):
            with open(os.path.join(folder, f"{number:02}.bin"), "wb") as file:
                file.write(b"%d of %d" % (number, model))
    site.publish_and_refresh()

    def change_one_file():
        with open(os.path.join(site.models, "org00", "model0000", "1.0", "00.bin"), "wb") as file:
            file.write(os.urandom(16))

    return f"{count:,} models of 50 files each, each with a description of its own.", [
        Contestant("manifest-sign publish, nothing changed", site.publish),
        Contestant(
            "manifest-sign publish, one file changed", [*site.publish, "--allow-replace"], goals=[Goal("wall", 1)], prepare=change_one_file),
    ]


def memory(setting):
    """Memory and the length of a file"""
    small, large = (16, 208) if setting.quick else (1024, 13 * 1024)
    site = Site(setting, "memory")
    paths = []
    for name, length in (("small", small), ("large", large)):
        path = os.path.join(site.model_folder(name), "weights.bin")
        with open(path, "wb") as file:
            file.truncate(length * MIB)
        if os.stat(path).st_blocks * 512 > MIB:
            sys.exit(f"benchmark: {setting.folder} keeps no sparse files: set TMPDIR to a folder on another file system")
        paths.append(f"acme/model/{name}/weights.bin")
    site.publish_and_refresh()
    name = f"manifest-verify check of {small} MiB"
    goals = [Goal("memory", 24_000_000)]
    return "Sparse files. The longer one may need at most a tenth more.", [
        Contestant(name, site.check(paths[0]), goals=goals),
        Contestant(f"manifest-verify check of {large} MiB", site.check(paths[1]), goals=goals + [Goal("memory", 1.1, of=name)]),
    ]


# Name for --only, function, runs, the same when quick, and bytes of disk that it needs at most.
SCENARIOS = [
    ("big-file", big_file, 5, 2, 2200 * MIB),
    ("small-files", small_files, 5, 2, 300 * MIB),
    ("start-up", start_up, 200, 20, MIB),
    ("metadata", metadata, 5, 2, 900 * MIB),
    ("many-models", many_models, 5, 2, 900 * MIB),
    ("memory", memory, 1, 1, 100 * MIB),
]
