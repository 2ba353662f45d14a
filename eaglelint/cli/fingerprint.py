"""`eaglelint fingerprint`: what dumped tensors are, by their values."""

from __future__ import annotations

import click

FORMATS = ("text", "json")


@click.command("fingerprint")
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option(
    "--against", multiple=True, metavar="OTHER", type=click.Path(), help="Files whose states are compared with these."
)
@click.option("--target", metavar="CHECKPOINT", type=click.Path(), help="Folder of the target's weights.")
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", help="What is printed (text).")
def command(files: tuple[str, ...], against: tuple[str, ...], target: str | None, format_: str) -> None:
    """Tell what the states in FILES are by their values.

    FILES are samples or dumps (.pt, .safetensors, .npy, .npz) or folders of them. For each tensor: its shape and type,
    the root mean square of each token as a small picture, its first values, and how many values are not finite. With
    --against, which state is which of the other files. With --target, whether it is the embedding, and whether it is
    before or after the final norm. Only the rows that are needed are read; nothing is unpickled, no model is run.
    """
    import importlib
    import sys

    from eaglelint.fingerprints.looking import fingerprint

    found = fingerprint(files, against, target)
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    plain = not encoding.lower().replace("-", "").startswith("utf")
    text: str = importlib.import_module(f"eaglelint.fingerprints.{format_}").render(found, plain=plain)
    click.echo(text.encode(encoding, "backslashreplace").decode(encoding), nl=False)
    if found.status:
        click.get_current_context().exit(found.status)
