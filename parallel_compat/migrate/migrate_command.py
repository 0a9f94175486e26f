"""`parallel-compat migrate`: rewrite old sources for today's Keras, and report the rest."""

from __future__ import annotations

import argparse
import gc
import io
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from parallel_compat import html_report
from parallel_compat.atomic_file import replacing, why_not_writable
from parallel_compat.migrate import guide, html, process_file, project_facts, report, rules, walk
from parallel_compat.migrate.engine import Options
from parallel_compat.migrate.findings import FileStatus, Report, Status
from parallel_compat.migrate.native import numerics
from parallel_compat.names.eras import Era

DONE, FOUND, COULD_NOT_RUN = 0, 1, 2
_MANY = 20  # files from which on a terminal shows a progress bar


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files and folders, or - to read stdin and write stdout"
    )
    parser.add_argument("--write", action="store_true", help="rewrite the files (default: print a diff)")
    parser.add_argument("--check", action="store_true", help="exit with 1 if something would change or needs attention")
    parser.add_argument("--unsafe", action="store_true", help="also make the rewrites that cannot be proven safe")
    parser.add_argument(
        "--python2", action="store_true", help="first rewrite Python 2 as Python 3 (needs fissix: pip install fissix)"
    )
    parser.add_argument(
        "--era",
        choices=[era.value for era in Era if era is not Era.TODAY],
        metavar="NAME",
        help="the Keras that all files were written for: "
        + ", ".join(era.value for era in Era if era is not Era.TODAY)
        + " (default: detected for each file; files without old names are left alone)",
    )
    parser.add_argument("--select", type=_rules, metavar="RULE,..", help="run only these rules")
    parser.add_argument("--ignore", type=_rules, metavar="RULE,..", default=(), help="run all rules except these")
    parser.add_argument("--format", choices=("text", "json", "sarif"), default="text", help="format of the report")
    parser.add_argument(
        "--report", metavar="FILE", help="also write the report to FILE: a page if it ends in .html, else JSON"
    )
    parser.add_argument("--html", metavar="FILE", help="also write the report to FILE, as a page for a browser")
    parser.add_argument(
        "--jobs",
        type=_count,
        default=None,
        metavar="N",
        help="number of processes (default: one per core, for many files)",
    )
    parser.add_argument("--exclude", action="append", default=[], metavar="GLOB", help="paths or names to skip")
    parser.add_argument(
        "--to",
        choices=("parallel_compat", "native"),
        default="parallel_compat",
        help="write this package's names if Keras 3 has none (default), or only plain Keras 3 and tf.distribute",
    )
    parser.add_argument("--keep", choices=("parallel",), help="with --to native: keep this package for parallel models")
    parser.add_argument(
        "--verify",
        metavar='"SCRIPT ARGS"',
        help="train with SCRIPT on its original Keras and rewritten, in copies of its project, and say which findings "
        "change its results by how much",
    )
    parser.add_argument("--replicas", type=_count, metavar="N", help="with --verify: simulate N GPUs in each run")
    parser.add_argument("--leave", action="append", default=[], help=argparse.SUPPRESS)
    parser.add_argument("--list-rules", action="store_true", help="list the rules")
    parser.add_argument("--explain", metavar="RULE", help="explain a rule (`all` for every rule)")


def _rules(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    unknown = [name for name in names if name not in rules.ALL]
    if unknown:
        raise argparse.ArgumentTypeError(f"no rule {unknown[0]!r}; --list-rules lists them")
    return names


def _count(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number >= 1, received {text!r}")
    return number


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a source may hold letters that the terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    if arguments.list_rules:
        _list_rules(arguments.to)
        return DONE
    if arguments.explain:
        return _explain(arguments.explain)
    if arguments.replicas and not arguments.verify:
        return _refuse("--replicas is for the runs of --verify: give both.")
    if arguments.verify:
        return _verify(arguments)
    if not arguments.paths:
        return _refuse("expected at least one PATH, or - for stdin.")
    if arguments.write and arguments.check:
        return _refuse("--write rewrites and --check only looks: give one of them.")
    chosen = tuple(
        name
        for name in rules.ALL
        if (arguments.select is None or name in arguments.select) and name not in arguments.ignore
    )
    if arguments.keep and arguments.to != "native":
        return _refuse("--keep parallel says what --to native leaves: give both.")
    options = Options(
        chosen,
        arguments.unsafe,
        target=arguments.to,
        keep_parallel=arguments.keep == "parallel",
        era=Era(arguments.era) if arguments.era else None,
        python_2=arguments.python2,
        left=frozenset(arguments.leave),
    )
    if "-" in arguments.paths:
        if len(arguments.paths) > 1 or arguments.write:
            return _refuse("- reads one source from stdin and writes it to stdout: give it alone, without --write.")
        if arguments.format != "text":
            return _refuse("with - stdout is the source: --format is for files.")
        if arguments.html or arguments.report:
            return _refuse("with - there is one source: --report and --html are for files.")
        return _stdin(options, check=arguments.check)
    for option in ("report", "html"):
        unwritable = why_not_writable(given) if (given := getattr(arguments, option)) else None
        if unwritable:
            return _refuse(f"argument --{option}: {unwritable}.")
    try:
        paths = list(walk.files(arguments.paths, arguments.exclude))
    except FileNotFoundError as error:
        return _refuse(f"there is no {str(error)!r}.")
    jobs = arguments.jobs or (os.cpu_count() or 1 if len(paths) >= _MANY else 1)
    with _rare_collections():
        options = replace(options, project=project_facts.read(paths))
        reports = _settled(_processed(paths, options, jobs))
    helpers = numerics.reports(reports)
    reports = [one for one in reports if one.path not in {helper.path for helper in helpers}] + helpers
    if arguments.write:
        reports = [_written(one) for one in reports]
    _write_reports(reports, arguments)
    _tell(reports, arguments)
    return _code(reports, check=arguments.check)


def _list_rules(target: str) -> None:
    names = rules.NATIVE_NAMES if target == "native" else rules.NAMES
    width = max(map(len, names))
    for name in sorted(names):
        print(f"{name:{width}}  {'safe  ' if name in rules.SAFE else 'unsafe'}  {rules.summary(name)}")


def _verify(arguments: argparse.Namespace) -> int:
    from parallel_compat.compare.runs import CannotRun
    from parallel_compat.migrate import verify

    others = ("paths", "write", "check", "report", "html", "select", "ignore", "keep", "exclude")
    if any(getattr(arguments, other) for other in others) or arguments.format != "text":
        return _refuse(
            "--verify rewrites a copy of the script's project: give it without PATH, and of the options only --era, "
            "--unsafe, --to, --replicas and --python2."
        )
    script, *given = shlex.split(arguments.verify)
    options = ["--unsafe"] * arguments.unsafe + ["--to", "native"] * (arguments.to == "native")
    options += ["--python2"] * arguments.python2 + ["--era", arguments.era] * (arguments.era is not None)
    try:
        found = verify.verify(script, given, options, arguments.era, arguments.replicas)
    except CannotRun as error:
        return _refuse(str(error))
    print("\n".join(verify.lines(found)))
    return DONE if found.comparison.is_equal else FOUND


def _refuse(sentence: str) -> int:
    print(f"parallel-compat migrate: error: {sentence}", file=sys.stderr)
    return COULD_NOT_RUN


def _explain(name: str) -> int:
    if name == "all":
        sys.stdout.write(guide.section())
    elif name in rules.ALL:
        sys.stdout.write(guide.explain(name))
    else:
        return _refuse(f"no rule {name!r}; --list-rules lists them.")
    return DONE


def _stdin(options: Options, *, check: bool) -> int:
    data = sys.stdin.buffer.read()
    (one,) = _settled([process_file.source("-", data, options)])
    if one.helpers:
        one = replace(one, places=(*one.places, *numerics.on_stdin(one.after)))
    if not check:
        sys.stdout.buffer.write(one.data if one.status is FileStatus.CHANGED else data)
        sys.stdout.buffer.flush()
    for line in report.lines([one], written=False):
        print(line, file=sys.stderr)
    return _code([one], check=check)


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Collect garbage rarely: syntax trees are very many objects, all of them in use (a sixth of the time)."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _processed(paths: Sequence[str], options: Options, jobs: int) -> list[Report]:
    work = partial(process_file.file, options=options)  # pickled, so it is no closure
    with _progress(len(paths)) as advance:
        if jobs == 1 or len(paths) < 2:
            return [advance(work(path)) for path in paths]
        from concurrent.futures import ProcessPoolExecutor

        with ProcessPoolExecutor(jobs) as pool:
            chunk = max(1, len(paths) // (jobs * 8))
            return [advance(one) for one in pool.map(work, paths, chunksize=chunk)]


@contextmanager
def _progress(files: int) -> Iterator[Callable[[Report], Report]]:
    """Show a bar on a terminal while many files are read."""
    if files < _MANY or not sys.stderr.isatty():
        yield lambda one: one
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = TextColumn("reading"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[path]}")
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=files, path="")

        def advance(one: Report) -> Report:
            bar.update(task, advance=1, path=os.path.basename(one.path))
            return one

        yield advance


def _settled(reports: Iterable[Report]) -> list[Report]:
    """Tell hints only if some file of the project has what only old code has."""
    reports = list(reports)
    old = next((one.path for one in reports if one.legacy), "")
    return [one.settled(old) for one in reports]


def _written(one: Report) -> Report:
    if one.status is not FileStatus.CHANGED:
        return one
    try:
        with replacing(one.path) as temporary:
            temporary.write_bytes(one.data)
    except OSError as error:
        # What would have been rewritten is still there.
        left = (Status.ATTENTION if place.status is Status.REWRITTEN else place.status for place in one.places)
        places = tuple(replace(place, status=status) for place, status in zip(one.places, left, strict=True))
        return Report(one.path, FileStatus.FAILED, f"cannot be written: {error.strerror}", places)
    return replace(one, places=one.places_after)


def _write_reports(reports: Sequence[Report], arguments: argparse.Namespace) -> None:
    for path in filter(None, (arguments.report, arguments.html)):
        if path == arguments.html or html_report.is_page(path):
            text = html.page(reports, written=arguments.write, command=arguments.words)
        else:
            text = report.as_json(reports, native=arguments.to == "native") + "\n"
        with replacing(path) as temporary:
            temporary.write_text(text, "utf-8")


def _tell(reports: Sequence[Report], arguments: argparse.Namespace) -> None:
    if arguments.format == "json":
        print(report.as_json(reports, native=arguments.to == "native"))
        return
    if arguments.format == "sarif":
        print(report.as_sarif(reports))
        return
    if not arguments.write:
        for one in reports:
            if one.status is FileStatus.CHANGED:
                _print_diff(report.diff(one))
        sys.stdout.flush()
    results = report.results(reports) if arguments.to != "native" else ()  # whose rules say what they leave
    summary = report.summary(reports, written=arguments.write)
    for line in (*report.lines(reports, written=arguments.write), *summary, *results):
        print(line, file=sys.stderr)


def _print_diff(text: str) -> None:
    """Print a diff, in colours on a terminal (and never with NO_COLOR, https://no-color.org)."""
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        sys.stdout.write(text)
        return
    from rich.console import Console
    from rich.text import Text

    styles = {"+": "green", "-": "red", "@": "cyan"}
    console = Console(highlight=False, soft_wrap=True)
    for line in text.splitlines():
        heading = line.startswith(("+++", "---"))
        console.print(Text(line, style="bold" if heading else styles.get(line[:1], "")))


def _code(reports: Sequence[Report], *, check: bool) -> int:
    if any(one.status is FileStatus.FAILED for one in reports):
        return COULD_NOT_RUN
    if check and any(one.places for one in reports):
        return FOUND
    return DONE
