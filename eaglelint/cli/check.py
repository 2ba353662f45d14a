"""`eaglelint check`: lint files and folders."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from eaglelint.cli import fixing, output
from eaglelint.report import FORMATS

if TYPE_CHECKING:
    from eaglelint.settings import Settings


def _names(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Names that are given one by one or with commas between them."""
    return tuple(name.strip() for value in values for name in value.split(",") if name.strip())


def _outputs(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """`FORMAT=FILE` as pairs."""
    pairs: list[tuple[str, str]] = []
    for value in values:
        format_, found, file = value.partition("=")
        if not found or not file or format_ not in FORMATS:
            raise click.BadParameter(f"{value!r} is not FORMAT=FILE with a format of {', '.join(FORMATS)}")
        if any(os.path.realpath(file) == os.path.realpath(other) for _, other in pairs):
            raise click.BadParameter(f"two reports can not both be written to {file!r}")
        pairs.append((format_, file))
    return tuple(pairs)


@click.command("check")
@click.argument("paths", nargs=-1, type=click.Path(), metavar="[PATHS]...")
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", help="What is printed (text).")
@click.option(
    "--output",
    "outputs",
    multiple=True,
    callback=_outputs,
    metavar="FORMAT=FILE",
    help="Write a report to a file as well, such as sarif=eaglelint.sarif; may be repeated.",
)
@click.option("--select", multiple=True, callback=_names, metavar="RULES", help="Report only these rules.")
@click.option("--extend-select", multiple=True, callback=_names, metavar="RULES", help="Report these rules as well.")
@click.option("--ignore", multiple=True, callback=_names, metavar="RULES", help="Do not report these rules.")
@click.option(
    "--fail-on",
    type=click.Choice(("error", "warning", "info", "never")),
    help="The least severity that makes the exit status 1 (warning).",
)
@click.option("--fix", "fix_", is_flag=True, help="Fix what can be fixed safely, then report what is left.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: also what is likely, not proven.")
@click.option("--diff", is_flag=True, help="Print the changes that --fix would make, and make none.")
@click.option("--baseline", metavar="FILE", help="Leave out the findings that FILE accepts, by file and rule.")
@click.option(
    "--write-baseline", is_flag=True, help="Accept all that is found now: write --baseline (eaglelint-baseline.json)."
)
@click.option(
    "--diff-base",
    metavar="REV",
    help="Report only what touches lines changed since REV, a commit or branch; everything is read all the same.",
)
@click.option("--statistics", is_flag=True, help="Count the findings of each rule as well.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever is found.")
@click.option("--config", metavar="FILE", help="Configuration, instead of the nearest above PATHS.")
@click.option("--isolated", is_flag=True, help="Read no configuration.")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="Colours (auto).")
@click.option(
    "--verbose",
    is_flag=True,
    help="Say why each file is read or not, what is linked to what, and where eaglelint itself failed, if it did.",
)
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[str, ...],
    format_: str,
    outputs: tuple[tuple[str, str], ...],
    select: tuple[str, ...],
    extend_select: tuple[str, ...],
    ignore: tuple[str, ...],
    fail_on: str | None,
    fix_: bool,
    unsafe_fixes: bool,
    diff: bool,
    baseline: str | None,
    write_baseline: bool,
    diff_base: str | None,
    statistics: bool,
    exit_zero: bool,
    config: str | None,
    isolated: bool,
    color: str,
    verbose: bool,
) -> None:
    """Lint files and folders (the current folder if none is named).

    Rules are named by code (EGL401), by the beginning of codes (EGL4) or by slug (aux-layers-mismatch). The exit status
    is 0 when all is well, 1 with findings at or above --fail-on (after --fix: those that are left; with --diff: when
    there is something to fix), and 2 when the call is wrong or eaglelint failed.
    """
    from eaglelint.cli import accepting
    from eaglelint.cli.following import following
    from eaglelint.run import check

    if config and isolated:
        raise click.UsageError("--config and --isolated exclude each other")
    if diff_base is not None and (write_baseline or fix_ or diff):
        raise click.UsageError("--diff-base is for reports alone: not with --write-baseline, --fix or --diff")
    paths = paths or (".",)
    settings = _settings(paths, config, isolated, select, extend_select, ignore, fail_on)
    changes = accepting.changes_since(diff_base)
    accepted = accepting.Baselines(baseline, settings, paths, write=write_baseline)
    with following(verbose):
        if fix_ or diff:
            result = fixing.run(ctx, paths, settings, unsafe=unsafe_fixes, diff=diff)
        else:
            result = check(paths, settings)
    result = accepting.in_changed_lines(accepted.without(result), changes)
    output.show(format_, result, color)
    if statistics:
        output.count(result, beside_report=format_ == "text")
    output.write_all(outputs, result)
    if "github" in (format_, *(kind for kind, _ in outputs)):
        output.write_step_summary(result)
    for traceback in result.tracebacks if verbose else ():
        output.failed(traceback)
    ctx.exit(0 if exit_zero and result.status == 1 else result.status)


def _settings(
    paths: tuple[str, ...],
    config: str | None,
    isolated: bool,
    select: tuple[str, ...],
    extend_select: tuple[str, ...],
    ignore: tuple[str, ...],
    fail_on: str | None,
) -> Settings:
    """The configuration with what the command line says instead of it."""
    from eaglelint.catalog import check_selector
    from eaglelint.configuration import check_files, load
    from eaglelint.settings import Settings

    for selector in (*select, *extend_select, *ignore):
        check_selector(selector)
    settings = Settings() if isolated else load(paths, config)
    check_files(settings)
    return settings.changed(
        select=select or settings.select,
        extend_select=(*settings.extend_select, *extend_select),
        ignore=(*settings.ignore, *ignore),
        fail_on=fail_on or settings.fail_on,
    )
