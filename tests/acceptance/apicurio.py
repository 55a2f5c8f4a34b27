"""A real Apicurio Registry, from Maven Central, on a port of its own."""
import os, shutil, subprocess, tarfile, time, urllib.request

from . import ports
from .broker import die_with_parent, java, locked, now

VERSION = os.environ.get("OUTBOX_KIT_APICURIO_VERSION", "2.6.13.Final")


def program():
    """The unpacked distribution, once per version."""
    folder = ports.cache() / f"apicurio-{VERSION}"
    with locked("apicurio"):
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            r = subprocess.run(["mvn", "-B", "-q", "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy",
                                f"-Dartifact=io.apicurio:apicurio-registry-app:{VERSION}:tar.gz:all", f"-DoutputDirectory={folder}"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if r.returncode:
                raise RuntimeError("no registry: " + r.stdout[-2000:])
            archive, = folder.glob("*.tar.gz")
            with tarfile.open(archive) as t:
                t.extractall(folder)
            archive.unlink()
            (folder / "complete").touch()
    jar, = list(folder.glob("**/*-runner.jar"))
    return jar


class Apicurio:
    def __init__(self, folder):
        port = ports.reserve(ports.RECEIVER)
        self.base = f"http://127.0.0.1:{port}"
        jar = program()
        self.log = folder / "apicurio.log"
        self.proc = subprocess.Popen([java(), "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-Dquarkus.http.port={port}", "-jar", str(jar)],
                                     cwd=jar.parent, env={**os.environ, "QUARKUS_HTTP_HOST": "127.0.0.1"}, stdin=subprocess.DEVNULL,
                                     stdout=open(self.log, "w"), stderr=subprocess.STDOUT, preexec_fn=die_with_parent)
        end = now() + 60
        while True:
            try:
                with urllib.request.urlopen(self.base + "/apis/ccompat/v7/subjects", timeout=2) as a:
                    if a.status == 200:
                        return
            except OSError:
                pass
            if now() > end or self.proc.poll() is not None:
                self.stop()
                raise RuntimeError("the registry does not start: " + self.log.read_text()[-1500:])
            time.sleep(0.1)

    def stop(self):
        self.proc.terminate()
        try:
            self.proc.wait(10)
        except subprocess.TimeoutExpired:
            self.proc.kill()
            self.proc.wait()
