"""Runs cases in processes of their own beside one broker; one line a case, and last `N passed, N failed`."""
import argparse, importlib, json, os, queue, re, shutil, signal, subprocess, sys, tempfile, threading, time, traceback
from pathlib import Path

from . import bridge
from .api import Fail, Kit, Skip
from .broker import Broker, die_with_parent

HERE = Path(__file__).resolve().parent
now = time.monotonic


def names():
    out = sorted(p.stem[5:] for p in (HERE / "cases").glob("case_*.py"))
    return out


def module(name):
    return importlib.import_module(f"acceptance.cases.case_{name.split('/')[0]}")


def wanted(args):
    have = names()
    if not args:
        return have
    out = []
    for a in args:
        a, _, part = a.partition("/")
        if a.isdigit():
            a = "%03d" % int(a)
        if part and a in have:
            out.append(f"{a}/{part}")
        elif a in have:
            out.append(a)
        else:
            sys.exit(f"no case {a}; there are: {' '.join(have)}")
    return out


# ---- one case, in its own process

def judge(m, n, k, folder):
    """Runs part n of a case: (status, text)."""
    try:
        getattr(m, n)(k)
        k.finish()
        return "PASS", k.figure
    except Skip as e:
        return "SKIP", str(e)
    except Fail as e:
        return "FAIL", str(e)
    except Exception as e:
        trace = traceback.format_exc()
        (folder / f"trace-{n}").write_text(trace)
        at = [l.strip() for l in trace.splitlines() if l.strip().startswith("File") and "/acceptance/" in l]
        where = re.search(r'acceptance/(\S+)", line (\d+)', at[-1]) if at else None
        return "FAIL", f"{type(e).__name__}: {str(e)[:200]}" + (f" at {where.group(1)}:{where.group(2)}" if where else "")
    finally:
        k.close()


def one(name, opts):
    program, folder = json.loads(opts.program), Path(opts.folder)
    m = module(name)
    case, _, only = name.partition("/")
    parts = [n for n in vars(m) if (n == "run" or n.startswith("run_")) and only in ("", n[4:])]
    got = {"PASS": [], "FAIL": [], "SKIP": []}
    for n in parts:
        part = n[4:]
        k = Kit(f"c{case}{part.replace('_', '')}", opts.bootstrap, folder / (part or "all"), program)
        status, text = judge(m, n, k, folder)
        got[status].append((f"({part}) " if part and status != "PASS" else "") + text)
    if not parts:
        got["FAIL"].append("no such part")
    status = next(s for s in ("FAIL", "SKIP", "PASS") if got[s])
    print("\nRESULT " + json.dumps([name, status, "; ".join(t for t in got[status] if t)]), flush=True)
    os._exit(0)


# ---- all of them

class Runner:
    def __init__(self, opts):
        self.opts = opts
        self.lock = threading.Lock()
        self.count = {"PASS": 0, "FAIL": 0, "SKIP": 0}
        self.failed = []
        self.keep = bool(opts.keep)
        self.running = set()

    def say(self, name, status, text, seconds=None):
        with self.lock:
            self.count[status] += 1
            if status == "FAIL":
                self.failed.append(name)
            try:
                title = " " + module(name).TITLE
            except Exception:
                title = ""
            took = "" if seconds is None else f" [{seconds:.0f} s]"
            print(f"{status} {name}{title}{took}{': ' + text if text else ''}", flush=True)

    def case(self, name):
        limit = getattr(module(name), "TIME", 45) * float(os.environ.get("OUTBOX_KIT_PATIENCE", "1"))
        folder = self.work / name.replace("/", "-")
        folder.mkdir(parents=True)
        t = now()
        p = subprocess.Popen([sys.executable, "-P", "-m", "acceptance.runner", "--one", name, "--bootstrap", self.bootstrap, "--folder", str(folder),
                              "--program", json.dumps(self.program)], stdout=subprocess.PIPE, stderr=open(folder / "stderr", "w"),
                             stdin=subprocess.DEVNULL, text=True, start_new_session=True, preexec_fn=die_with_parent)
        self.running.add(p.pid)
        try:
            out, _ = p.communicate(timeout=limit)
            took = now() - t
            m = re.search(r"^RESULT (.*)$", out, re.M)
            if m:
                n, status, text = json.loads(m.group(1))
                self.say(n, status, text, took)
            else:
                tail = (folder / "stderr").read_text().strip().splitlines()[-1:]
                self.say(name, "FAIL", f"the case itself broke: {' '.join(tail)[:200]}", took)
        except subprocess.TimeoutExpired:
            self.say(name, "FAIL", f"not finished after {limit:.0f} s", now() - t)
        finally:
            try:
                os.killpg(p.pid, signal.SIGKILL)
            except OSError:
                pass
            p.wait()
            self.running.discard(p.pid)

    def run(self):
        o = self.opts
        todo = wanted(o.cases)
        if o.list:
            for n in todo:
                print(n, module(n).TITLE)
            return 0
        try:
            self.program = [bridge.build()]
        except bridge.NoProject as e:
            print(e)
            print("0 passed, 1 failed")
            return 1
        self.work = Path(tempfile.mkdtemp(prefix="outbox-acceptance-"))
        broker = None
        try:
            broker = Broker(self.work / "broker")
            self.bootstrap = broker.bootstrap
            jobs = queue.SimpleQueue()
            # the long ones first, so that none is left alone at the end
            for n in sorted(todo, key=lambda n: -getattr(module(n), "TIME", 45)):
                jobs.put(n)

            def worker():
                while True:
                    try:
                        n = jobs.get_nowait()
                    except queue.Empty:
                        return
                    self.case(n)
            threads = [threading.Thread(target=worker, daemon=True) for _ in range(max(1, o.jobs))]
            for th in threads:
                th.start()
            for th in threads:
                th.join()
        finally:
            for pid in list(self.running):      # only when we are being ended ourselves
                try:
                    os.killpg(pid, signal.SIGKILL)
                except OSError:
                    pass
            if broker:
                broker.stop()
            if self.count["FAIL"] == 0 and not self.keep:
                shutil.rmtree(self.work, ignore_errors=True)
            else:
                [shutil.rmtree(d, ignore_errors=True) for d in self.work.glob("broker/*/data")]
                print(f"logs: {self.work}", flush=True)
        if self.failed:
            print("failed: " + " ".join(sorted(self.failed)))
        skipped = f", {self.count['SKIP']} skipped" if self.count["SKIP"] else ""
        print(f"{self.count['PASS']} passed, {self.count['FAIL']} failed{skipped}")
        return 1 if self.count["FAIL"] or not self.count["PASS"] else 0


def main():
    a = argparse.ArgumentParser(prog="tests/acceptance/run")
    a.add_argument("cases", nargs="*")
    a.add_argument("--jobs", type=int, default=int(os.environ.get("OUTBOX_KIT_JOBS", "3")))
    a.add_argument("--list", action="store_true")
    a.add_argument("--keep", action="store_true", help="keep the logs also when all pass")
    for hidden in ("--one", "--bootstrap", "--folder", "--program"):
        a.add_argument(hidden, help=argparse.SUPPRESS)
    o = a.parse_args()
    if o.one:
        one(o.one, o)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(Runner(o).run())


if __name__ == "__main__":
    main()
