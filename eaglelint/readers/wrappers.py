"""Commands that start another command: what they start, in which environment, from which image."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from eaglelint.readers.words import Word, joined


class Wrapper(NamedTuple):
    """How the words of a wrapper are told from those of the command that it starts.

    `values` are the options that take a value as the next word; with `valued` it is every option but those in `flags`.
    `operands` is the number of its own words before the command.
    """

    values: frozenset[str] = frozenset()
    operands: int = 0
    valued: bool = False
    flags: frozenset[str] = frozenset()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CONTAINER_FLAGS = _words(
    "-d -i -t -P -q --rm --init --privileged --detach --interactive --tty --read-only --publish-all --quiet "
    "--no-healthcheck --oom-kill-disable --no-deps --build --service-ports --use-aliases --nv --rocm --writable "
    "--contain --cleanenv --containall -c -C -e --no-home --fakeroot --writable-tmpfs"
)
_SLURM_FLAGS = _words(
    "-l -u -v -Q -s -O -K -E -X -H -k -b -I --label --unbuffered --verbose --quiet --overcommit --oversubscribe "
    "--overlap --exclusive --exact --pty --preserve-env --disable-status --no-container-mount-home "
    "--container-mount-home --container-writable --container-readonly --container-remap-root "
    "--no-container-remap-root --no-container-entrypoint --kill-on-bad-exit --no-kill --multi-prog --spread-job "
    "--use-min-nodes --wait-all-nodes --contiguous"
)
_LONG_WITH_ONE_DASH = _words("-mca -hostfile -host -machinefile -bind-to -map-by -np -ppn -wdir -hosts")
_MPI_FLAGS = _words("--allow-run-as-root --oversubscribe --tag-output --report-bindings -v -q --verbose -l -bootstrap")

_WRAPPERS: dict[str, Wrapper] = {
    **dict.fromkeys(("nohup", "command", "builtin", "setsid", "time", "unbuffer", "chronic", "caffeinate"), Wrapper()),
    **dict.fromkeys(("coproc", "catchsegv", "doas", "proxychains4", "trtllm-llmapi-launch"), Wrapper()),
    "exec": Wrapper(_words("-a")),
    "sudo": Wrapper(_words("-u -g -p -h -C -D -R -T -r -t -U --user --group --prompt --host")),
    "env": Wrapper(_words("-u -C -S --unset --chdir")),
    "timeout": Wrapper(_words("-k -s --kill-after --signal"), operands=1),
    "nice": Wrapper(_words("-n --adjustment")),
    "ionice": Wrapper(_words("-c -n -p -P -u --class --classdata")),
    "stdbuf": Wrapper(_words("-i -o -e")),
    "chrt": Wrapper(_words("-T -P -D"), operands=1),
    "taskset": Wrapper(operands=1),
    "flock": Wrapper(_words("-w -E --timeout --conflict-exit-code"), operands=1),
    "numactl": Wrapper(
        _words("-N -m -C -i -p -l --cpunodebind --membind --physcpubind --interleave --preferred --cpubind")
    ),
    "srun": Wrapper(valued=True, flags=_SLURM_FLAGS),
    "mpirun": Wrapper(valued=True, flags=_MPI_FLAGS),
    "mpiexec": Wrapper(valued=True, flags=_MPI_FLAGS),
    "uv": Wrapper(
        _words(
            "--with --with-editable --with-requirements --python -p --extra --group --only-group --no-group --project "
            "--directory --env-file --package --index-url --extra-index-url --index --default-index --find-links -f -w "
            "--config-file --cache-dir --color --config-setting -C --link-mode --prerelease --resolution --no-extra"
        )
    ),
    "uvx": Wrapper(_words("--from --with --python -p --with-requirements --index-url --extra-index-url --index")),
    "pixi": Wrapper(_words("-e --environment --manifest-path")),
    **dict.fromkeys(("poetry", "pdm", "rye", "pipenv", "pipx", "hatch"), Wrapper(_words("-C -p --project --spec"))),
    **dict.fromkeys(("conda", "mamba", "micromamba"), Wrapper(_words("-n -p --name --prefix --cwd"))),
    **dict.fromkeys(
        ("docker run", "podman run", "nerdctl run", "docker compose run", "docker-compose run"),
        Wrapper(operands=1, valued=True, flags=_CONTAINER_FLAGS - {"-c", "-C", "-e"}),
    ),
    **dict.fromkeys(
        ("docker exec", "podman exec", "nerdctl exec", "docker compose exec", "docker-compose exec"),
        Wrapper(_words("-e -w -u --env --workdir --user --env-file --detach-keys --index"), operands=1),
    ),
    **dict.fromkeys(
        ("singularity exec", "singularity run", "apptainer exec", "apptainer run", "enroot start"),
        Wrapper(operands=1, valued=True, flags=_CONTAINER_FLAGS | {"-r", "-w", "--root", "--rw"}),
    ),
    "nsys profile": Wrapper(valued=True, flags=_words("--stats --force-overwrite")),
    "ncu": Wrapper(valued=True, flags=_words("--nvtx --replay-mode -f")),
    "rocprofv3": Wrapper(valued=True, flags=_words("--hip-trace --kernel-trace --sys-trace --")),
    "py-spy record": Wrapper(_words("-o -r -d -f --output --rate --duration --format")),
    "dotenv run": Wrapper(_words("-f --file")),
    "ray job submit": Wrapper(_words("--address --working-dir --runtime-env --runtime-env-json --submission-id")),
    "kubectl exec": Wrapper(_words("-n -c --namespace --container"), operands=1),
}

#: Programs whose first word says what to do, and the words after which a command follows.
_RUNNERS: dict[str, frozenset[str]] = {
    "uv": frozenset({"run"}),
    **dict.fromkeys(("poetry", "pdm", "rye", "pipenv", "pipx", "hatch", "pixi"), frozenset({"run"})),
    **dict.fromkeys(("conda", "mamba", "micromamba"), frozenset({"run"})),
}
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ash", "ksh"})
_TERMINALS = {
    "ssh": _words("-i -p -o -l -F -J -L -R -D -b -c -E -W -m -w"),
    "tmux": _words("-t -s -n -c -e -x -y -F -L -S -f"),
    "screen": _words("-S -X -L -Logfile -p -t"),
}
_KEYS = frozenset({"Enter", "C-m", "KPEnter", "ENTER"})
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=")


class Unwrapped(NamedTuple):
    """The command in the middle of all wrappers.

    `code` is shell code that is run instead of `words`, with `words` as its parameters. `image` is the container image
    that it runs in, `mounts` pairs of a path of the project and the path at which the container sees it.
    """

    words: tuple[Word, ...]
    environment: tuple[tuple[str, Word], ...] = ()
    code: Word | None = None
    image: Word | None = None
    mounts: tuple[tuple[str, str], ...] = ()


def program(word: Word) -> str:
    """The name of the program that a first word starts: its last path component, "" when that is unknown."""
    name = word.content.rsplit("/", 1)[-1]
    return name if name.isascii() else ""


def assignment(word: Word) -> tuple[str, Word] | None:
    """The name and value of a word `NAME=value`."""
    match = _ASSIGNMENT.match(word.content)
    return None if match is None else (match[1], word.slice(match.end(), len(word.content)))


def unwrap(words: Sequence[Word]) -> Unwrapped:
    """Take off every wrapper, from the outside in."""
    found = Unwrapped(tuple(words))
    for _ in range(12):
        inner = _unwrap_once(found)
        if inner is None:
            return found
        found = inner
    return found


def _unwrap_once(outer: Unwrapped) -> Unwrapped | None:
    words = outer.words
    if not words or words[0].many:
        return None
    name = program(words[0])
    if name in _SHELLS:
        return _shell(outer)
    if name in _TERMINALS:
        return _terminal(outer, name)
    if name == "su" or (name == "script" and any(word.content.startswith("-") for word in words[1:2])):
        for index, word in enumerate(words[:-1]):
            if word.content in ("-c", "-qc", "--command"):
                return outer._replace(words=(), code=words[index + 1])
        return None
    key, start = _key(words, name)
    if not key:
        return None
    environment, mounts = list(outer.environment), list(outer.mounts)
    image, entrypoint = outer.image, None
    index, operands = start, _WRAPPERS[key].operands
    container = key.endswith((" run", " exec")) and key.split()[0] in (
        "docker", "podman", "nerdctl", "docker-compose", "singularity", "apptainer"
    )  # fmt: skip
    while index < len(words):
        word = words[index]
        option = word.content.split("=", 1)[0]
        if key == "uv" and word.content in ("-m", "--module"):
            break
        if word.content == "--":
            index += 1
            if not operands or key == "kubectl exec":
                operands = 0
                break
        elif word.content.startswith("-") and word.content != "-":
            width, value = _option(_WRAPPERS[key], words, index)
            if value is not None and (container or key == "mpirun") and option in ("-e", "--env", "-x"):
                environment.extend(pair for pair in [assignment(value)] if pair is not None)
            elif value is not None and container and option in ("-v", "--volume", "--mount", "-B", "--bind"):
                mounts.extend(mount(value.content))
            elif value is not None and container and option == "--entrypoint":
                entrypoint = value
            elif value is not None and option == "--container-image":
                image = value
            index += width
            if key == "taskset" and option in ("-c", "--cpu-list"):
                index, operands = index + (1 if width == 1 and "=" not in word.content else 0), 0
        elif key in ("env", "sudo") and (pair := assignment(word)) is not None:
            environment.append(pair)
            index += 1
        elif key == "env" and not word.known and (word.many or "=" in word.content):
            index += 1  # a variable whose name is not known, or one that may be set
        elif word.many and word.content == "":
            index += 1
        elif operands:
            image = word if container and key.split()[-1] == "run" and "compose" not in key else image
            operands -= 1
            index += 1
            if not operands and key != "kubectl exec":
                break
        else:
            break
    rest = words[index:]
    if key == "uv" and rest and rest[0].content in ("-m", "--module"):
        rest = (Word("python", rest[0].where), *rest)
    rest = (entrypoint, *rest) if entrypoint is not None and entrypoint.content else rest
    if operands:
        return None
    return Unwrapped(rest, tuple(environment), None, image, tuple(mounts))


def _key(words: Sequence[Word], name: str) -> tuple[str, int]:
    """The entry of the table for a command, and where its options begin."""
    for count in (3, 2, 1):
        key = " ".join([name, *(word.content for word in words[1:count])])
        if len(words) > count and key in _WRAPPERS:
            if name not in _RUNNERS:
                return key, count
            for index, word in enumerate(words[1:], start=1):
                if word.content in _RUNNERS[name]:
                    return key, index + 1
            return "", 0
    return "", 0


def _option(wrapper: Wrapper, words: Sequence[Word], index: int) -> tuple[int, Word | None]:
    """How many words the option at an index takes, and its value."""
    content = words[index].content
    if "=" in content:
        return 1, words[index].slice(content.index("=") + 1, len(content))
    short = not content.startswith("--")
    if content in _LONG_WITH_ONE_DASH:
        return (3 if content == "-mca" else 2), None
    if wrapper.valued and not short:
        takes = content not in wrapper.flags
    elif wrapper.valued:
        letters = content[1:]
        if all(f"-{letter}" in wrapper.flags for letter in letters):
            takes = False
        elif len(letters) > 1 and not all(f"-{letter}" in wrapper.flags for letter in letters[:-1]):
            return (1, None) if len(letters) > 2 or letters[1:].isdigit() else (2, None)
        else:
            takes = True
    else:
        takes = content in wrapper.values
    if not takes or index + 1 >= len(words):
        return 1, None
    return (3, None) if content == "--mca" else (2, words[index + 1])


def _shell(outer: Unwrapped) -> Unwrapped | None:
    """`bash -c CODE`; a script file or standard input is left to the caller."""
    words = outer.words
    index, code = 1, False
    while index < len(words) and words[index].content.startswith(("-", "+")) and len(words[index].content) > 1:
        content = words[index].content
        if content == "--":
            index += 1
            break
        code = code or (not content.startswith("--") and "c" in content[1:])
        index += 2 if content in ("-o", "+o", "-O", "--rcfile", "--init-file") or content.endswith("o") else 1
    if not code or index >= len(words):
        return None
    return outer._replace(words=words[index + 1 :], code=words[index])


def _terminal(outer: Unwrapped, name: str) -> Unwrapped | None:
    """`ssh host command`, `tmux new-session command`, `tmux send-keys command Enter`, `screen -dmS name command`."""
    words = outer.words
    rest: list[Word] = []
    index, operands = 1, 0 if name == "screen" else 1
    while index < len(words):
        word = words[index]
        if not rest and word.content.startswith("-") and len(word.content) > 1:
            takes = word.content in _TERMINALS[name] or (name == "screen" and word.content.endswith("S"))
            index += 2 if takes else 1
            continue
        if operands:
            operands -= 1
        elif word.content not in _KEYS and not (name == "screen" and not rest and word.content == "stuff"):
            rest.append(word)
        index += 1
    if not rest:
        return None
    return outer._replace(words=(), code=joined(rest, rest[0].where))


def mount(text: str) -> list[tuple[str, str]]:
    """The path outside and the path inside of a volume (`./x:/y:ro`, `type=bind,source=./x,target=/y`)."""
    if "=" in text and "," in text:
        fields = dict(part.split("=", 1) for part in text.split(",") if "=" in part)
        outside = fields.get("source") or fields.get("src") or ""
        inside = fields.get("target") or fields.get("dst") or fields.get("destination") or ""
    else:
        outside, _, rest = text.partition(":")
        inside = rest.split(":", 1)[0]
    return [(outside, inside)] if outside and inside and outside.isascii() and inside.startswith("/") else []
