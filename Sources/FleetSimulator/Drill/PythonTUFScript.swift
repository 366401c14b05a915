/// The program that has python-tuf play the part of the device. It is part of the command, so that a drill needs nothing beside it.
enum PythonTUFScript {
  static let text = #"""
    from datetime import datetime, timezone
    from sys import argv, exit, stdin, stdout
    from tempfile import TemporaryDirectory
    json, site = __import__("json"), __import__("site")
    # -I leaves out what was installed for this user alone.
    if site.ENABLE_USER_SITE is not None: site.addsitedir(site.getusersitepackages())
    try:
        from tuf import __version__
        from tuf.api.exceptions import DownloadError, DownloadHTTPError, RepositoryError
        from tuf.ngclient import FetcherInterface, Updater
    except ImportError as error:
        exit(f"python-tuf is not installed: {error}")

    class Folder(FetcherInterface):
        base = "https://mirror.invalid/"

        def __init__(self, files):
            self.files = files

        def _fetch(self, url):
            name = url[len(self.base):]
            if name not in self.files:
                raise DownloadHTTPError(f"{name} is missing", 404)
            return iter([self.files[name]])

    def walk(updater, delegator, seen):
        delegations = updater._trusted_set[delegator].delegations
        for name in (delegations.roles or {}) if delegations else ():
            if name not in seen:
                seen.add(name)
                updater._load_targets(name, delegator)
                walk(updater, name, seen)

    def refresh(cache, root, step, texts):
        files = {name: texts[index] for name, index in step["files"].items()}
        updater = Updater(cache, Folder.base, fetcher=Folder(files), bootstrap=root)
        trusted = updater._trusted_set
        instant = datetime.strptime(step["time"], "%Y-%m-%dT%H:%M:%SZ")
        trusted.reference_time = instant.replace(tzinfo=timezone.utc)
        updater.refresh()
        walk(updater, "targets", set())
        return {name: getattr(trusted, name).version for name in ("root", "timestamp", "targets")}

    def play(trial, texts):
        outcomes = []
        with TemporaryDirectory() as cache:
            for step in trial["steps"]:
                try:
                    outcomes.append(refresh(cache, texts[trial["root"]], step, texts))
                except (RepositoryError, DownloadError, OSError, ValueError, KeyError) as error:
                    reason = f"{type(error).__name__}: {error}"[:500]
                    outcomes.append({"error": reason.encode("utf-8", "replace").decode()})
        return outcomes

    if argv[1:] == ["version"]:
        stdout.write(__version__)
    else:
        drill = json.loads(stdin.buffer.read().decode("utf-8", "surrogateescape"), strict=False)
        texts = [text.encode("utf-8", "surrogateescape") for text in drill["texts"]]
        json.dump([play(trial, texts) for trial in drill["trials"]], stdout)
    """#
}
