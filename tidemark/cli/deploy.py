"""``tidemark deploy``: the stacks in an AWS account, by the CDK's own command line."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import click

from tidemark.cli import suite
from tidemark.cli.chosen_suite import systems
from tidemark.model.checkout import ROOT

_PINS = ("package.json", "package-lock.json")
# Written -c systems=x, -csystems=x, -c=systems=x or --context=systems=x.
_SYSTEMS = re.compile(r"(-c=?|--context=)?systems=")
_PROGRAM = Path("node_modules", "aws-cdk", "bin", "cdk")


@click.command("deploy", context_settings={"ignore_unknown_options": True})
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF THE CDK]")
@click.option(
    "--only",
    type=click.Choice(["bootstrap", "synth", "diff"]),
    help="Do another thing than deploy: prepare the account and region, which a first deployment "
    "needs once; write the templates; or show what a deployment would change.",
)
@click.option("--during-runs", is_flag=True, help="Deploy although a run is active.")
@click.pass_context
def command(
    context: click.Context, options: Sequence[str], only: str | None, during_runs: bool
) -> None:
    """Deploy Tidemark into the account of your AWS credentials.

    All further options are options of the CDK's command line, such as --profile work and
    -c images=rocksdb=…; docs/deploy.md has the settings. The first deployment installs that command
    line, by the pins of Tidemark, into your folder of caches.

    \b
    Example:
      tidemark deploy --only bootstrap
      tidemark deploy -c suites=rocksdb --require-approval never
    """
    if find_spec("aws_cdk") is None:
        raise ModuleNotFoundError(name="aws_cdk")
    # The import of boto3 takes half a second.
    from aws.client import before_deployment  # noqa: PLC0415

    if only != "bootstrap":
        context.invoke(suite.check, files=())
    if only is None:
        arguments = [*(["--during-runs"] if during_runs else []), *options]
        if code := before_deployment.main(arguments):
            sys.exit(code)
    with tempfile.TemporaryDirectory(prefix="tidemark-cdk-") as folder:
        words = cdk_words(only, options, folder)
        sys.exit(_run("node", [str(cdk_program()), *words], ROOT))


def _run(program: str, words: Sequence[str], folder: Path) -> int:
    """Return the exit code of a program beside Python, which finds the others there, too."""
    here = Path(sys.executable).parent
    path = f"{here}{os.pathsep}{os.environ.get('PATH', '')}"
    return subprocess.run(
        [str(here / program), *words], cwd=folder, env={**os.environ, "PATH": path}, check=False
    ).returncode


def cdk_words(only: str | None, options: Sequence[str], folder: str) -> Iterator[str]:
    """Yield the words behind ``cdk``; ``folder`` is for its output unless options name one."""
    yield from (only,) if only else ("deploy", "--all")
    if only == "synth":
        yield "--quiet"
    if only != "bootstrap":
        if not _has(options, "--app", "-a"):
            yield from ("--app", f"{shlex.quote(sys.executable)} -m cdk.app")
        if not _has(options, "--output", "-o"):
            yield from ("--output", folder)
        # The CDK reads cdk.json beside its app, which does not know the folder of work.
        if not any(map(_SYSTEMS.match, options)):
            yield from ("-c", f"systems={systems()}")
    yield from options


def _has(options: Sequence[str], *names: str) -> bool:
    return any(each.partition("=")[0] in names for each in options)


def cdk_program() -> Path:
    """Return the CDK's command line: the checkout's, or one that is installed once."""
    if (ROOT / _PROGRAM).exists():
        return ROOT / _PROGRAM
    pins = [ROOT / name for name in _PINS]
    digest = hashlib.sha256(b"".join(each.read_bytes() for each in pins)).hexdigest()[:16]
    cache = os.environ.get("TIDEMARK_CACHE") or Path.home() / ".cache" / "tidemark"
    kept = Path(cache, "cdk", digest).resolve()
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        _install(pins, kept)
    return kept / _PROGRAM


def _install(pins: Sequence[Path], kept: Path) -> None:
    """Install what the pins name into a folder, completely or not at all."""
    click.echo(f"Installing the CDK's command line into {kept}.", err=True)
    with tempfile.TemporaryDirectory(dir=kept.parent, prefix=".unfinished-") as folder:
        for each in pins:
            shutil.copy(each, folder)
        # npm's own first line looks for node in PATH.
        if code := _run("npm", ["ci", "--silent", "--ignore-scripts"], Path(folder)):
            raise click.ClickException(
                f"the CDK's command line cannot be installed: npm ended with {code}"
            )
        made = Path(folder, "made")
        made.mkdir()
        Path(folder, "node_modules").rename(made / "node_modules")
        # Another deployment may have installed the same meanwhile.
        try:
            made.rename(kept)
        except OSError:
            if not kept.exists():
                raise
