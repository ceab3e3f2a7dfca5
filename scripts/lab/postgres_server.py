"""A throw-away PostgreSQL server on a Unix socket, for tests and benchmarks."""

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Self

_USER = "hubwatch"
_END_OTHERS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
    "AND pid <> pg_backend_pid()"
)
# Deleted, not truncated: that makes new files for a table and for each of its indexes. As on a replica, so
# that references are not followed.
_EMPTY_TABLES = """
DO $$ DECLARE one TEXT;
BEGIN
    SET LOCAL session_replication_role = replica;
    FOR one IN SELECT quote_ident(tablename) FROM pg_tables
        WHERE schemaname = 'public' AND tablename <> 'schema_migration' LOOP
        EXECUTE 'DELETE FROM ' || one;
    END LOOP;
    PERFORM setval(quote_ident(sequencename)::regclass, 1, false) FROM pg_sequences
        WHERE schemaname = 'public' AND last_value IS NOT NULL;
END $$
"""


def missing_for_postgres() -> str | None:
    """Return why no server can be started here, None when one can."""
    if importlib.util.find_spec("psycopg") is None:
        return "the driver psycopg is not installed (extra: postgres)"
    if _program("initdb") is None or _program("pg_ctl") is None:
        return "initdb and pg_ctl are neither in PATH nor in /usr/lib/postgresql"
    if os.geteuid() == 0 and _unprivileged() is None:
        return "the server refuses to run as root, and there is no user postgres or nobody"
    return None


def _program(name: str) -> str | None:
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    known = [str(folder / name) for folder in folders if (folder / name).exists()]
    return next(iter(known), shutil.which(name))


def _unprivileged() -> pwd.struct_passwd | None:
    entries = {entry.pw_name: entry for entry in pwd.getpwall()}
    return entries.get("postgres") or entries.get("nobody")


class PostgresServer:
    """A cluster in a temporary folder. Use as a context manager."""

    def __enter__(self) -> Self:
        # Below /tmp and short: the path of a Unix socket has at most 107 bytes.
        self._folder = Path(tempfile.mkdtemp(prefix="hubwatch-pg-"))
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:
            entry = _unprivileged()
            assert entry is not None
            os.chown(self._folder, entry.pw_uid, entry.pw_gid)
            self._as = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        data = str(self._folder / "data")
        self._run("initdb", "-D", data, "-U", _USER, "-A", "trust", "-E", "UTF8", "--no-sync")
        self._running = False
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._running:
            self.stop("immediate")
        shutil.rmtree(self._folder, ignore_errors=True)

    def start(self) -> None:
        """Start the server and wait until it answers."""
        data = str(self._folder / "data")
        options = f"-k {self._folder} -c listen_addresses= -c fsync=off -c max_connections=40"
        self._run("pg_ctl", "-D", data, "-w", "-o", options, "-l", f"{data}/log", "start")
        self._running = True

    def stop(self, mode: str = "fast") -> None:
        """Stop the server and wait for its end; *mode* is that of ``pg_ctl stop``."""
        self._run("pg_ctl", "-D", str(self._folder / "data"), "-m", mode, "-w", "stop")
        self._running = False

    def terminate_backends(self) -> int:
        """End every client's connection but this one; return how many there were."""
        import psycopg  # noqa: PLC0415 - an extra

        with psycopg.connect(self.url, autocommit=True) as connection:
            rows = connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            ).fetchall()
        return len(rows)

    def database(self, name: str) -> str:
        """Make an empty database and return its URL."""
        import psycopg  # noqa: PLC0415 - an extra

        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        return f"postgresql://{_USER}@/{name}?host={self._folder}"

    def _run(self, program: str, *arguments: str) -> None:
        path = _program(program)
        assert path is not None
        environment = os.environ | {"LC_ALL": "C", "HOME": str(self._folder)}
        subprocess.run(  # noqa: S603 - PostgreSQL's own programs
            [path, *arguments],
            check=True,
            cwd=self._folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **self._as,
        )

    @property
    def url(self) -> str:
        """What :func:`store.open_store` is given."""
        return f"postgresql://{_USER}@/postgres?host={self._folder}"

    def begin_again(self, url: str) -> None:
        """Make the store at *url* as empty as when its tables were made: far quicker than to make them."""
        import psycopg  # noqa: PLC0415 - an extra

        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(_END_OTHERS.encode())
            connection.execute(_EMPTY_TABLES.encode())

    def empty_database(self) -> str:
        """Drop all tables that a former test left, and return the URL."""
        import psycopg  # noqa: PLC0415 - an extra

        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
        return self.url
