# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL of one's own for a test: started from nothing, with a password, gone afterwards.

  with postgres.Postgres() as database:
      database.url                      postgresql://memviewd:PASSWORD@127.0.0.1:PORT/catalog
      database.rows("SELECT 1 AS one")  [{"one": "1"}]: texts, None is null
      database.apply_schema()           what `memviewd index --catalog` does first

It listens on 127.0.0.1 and on a socket in its folder. Root starts it as the user postgres, or nobody, for it refuses
root. Missing: raised when there is no PostgreSQL here (Debian: postgresql).
"""

import csv
import glob
import io
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time

from harness import free_port

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
USER, DATABASE = "memviewd", "catalog"
csv.field_size_limit(1 << 30)  # a cell may be a JSON of all rows
START_SECONDS = 60


class Missing(Exception):
    """there is no PostgreSQL on this machine"""


def programs():
    """the folder of initdb and postgres: of Debian's newest, or where the PATH has them"""

    def version(folder):
        return [int(part) for part in folder.split("/")[4].split(".") if part.isdigit()]

    debian = sorted(
        (path for path in glob.glob("/usr/lib/postgresql/*/bin") if os.path.exists(f"{path}/initdb")), key=version
    )
    found = debian[-1] if debian else os.path.dirname(shutil.which("initdb") or "")
    if not found or not shutil.which("psql"):
        raise Missing("PostgreSQL, which is not installed")
    return found


def user_of_server():
    """whom root starts it as; None: as who runs this"""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            pass
    raise Missing("PostgreSQL, which does not run as root, and there is no other user")


class Postgres:
    def __init__(self, settings=(), is_safe=False):
        """`settings`: "name=value" of the server. `is_safe`: written to disk as in earnest, which measurements want"""
        self.programs, self.user = programs(), user_of_server()
        self.settings = [*([] if is_safe else ["fsync=off", "full_page_writes=off"]), *settings]
        self.password, self.port, self.process = secrets.token_hex(12), free_port(), None
        self.folder = tempfile.mkdtemp(
            prefix="memviewd-postgres-", dir="/tmp"
        )  # a socket's path is at most 107 bytes long
        self.url = f"postgresql://{USER}:{self.password}@127.0.0.1:{self.port}/{DATABASE}"
        self.url_without_password = f"postgresql://{USER}@127.0.0.1:{self.port}/{DATABASE}"
        self.socket_url = (
            f"postgresql:///{DATABASE}?user={USER}&password={self.password}&host={self.folder}&port={self.port}"
        )

    def __enter__(self):
        try:
            self._initialise()
            self.start()
            self.execute(f"CREATE DATABASE {DATABASE} ENCODING 'UTF8' TEMPLATE template0", database="postgres")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, *command, **more):
        return subprocess.run(
            command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/", **self._as_user(), **more
        )

    def _as_user(self):
        return {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []} if self.user else {}

    def _initialise(self):
        password_file = os.path.join(self.folder, "password")
        with open(os.open(password_file, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as file:
            file.write(self.password + "\n")
        if self.user:
            for path in (self.folder, password_file):
                os.chown(path, self.user.pw_uid, self.user.pw_gid)
        self._run(
            f"{self.programs}/initdb",
            "--no-sync",
            "--auth=scram-sha-256",
            f"--username={USER}",
            f"--pwfile={password_file}",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
            "-D",
            os.path.join(self.folder, "data"),
        )

    def start(self):
        options = [
            f"listen_addresses=127.0.0.1",
            f"port={self.port}",
            f"unix_socket_directories={self.folder}",
            *self.settings,
        ]
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(
                [
                    f"{self.programs}/postgres",
                    "-D",
                    os.path.join(self.folder, "data"),
                    *(word for option in options for word in ("-c", option)),
                ],
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,
                **self._as_user(),
            )
        end = time.monotonic() + START_SECONDS
        while self._psql("SELECT 1", "postgres").returncode != 0:
            assert self.process.poll() is None and time.monotonic() < end, self.log()
            time.sleep(0.05)

    def stop(self, number=signal.SIGINT):
        """SIGINT: connections are ended; SIGQUIT: as if it had crashed, which loses nothing that was committed"""
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(START_SECONDS)
        self.process = None

    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as log:
            return log.read()

    def _psql(self, sql, database):
        environ = {**os.environ, "PGPASSWORD": self.password, "PGTZ": "UTC", "PGCLIENTENCODING": "UTF8"}
        return subprocess.run(
            [
                "psql",
                "-X",
                "-q",
                "-v",
                "ON_ERROR_STOP=1",
                "--csv",
                "-P",
                "null=\\N",
                "-h",
                "127.0.0.1",
                "-p",
                str(self.port),
                "-U",
                USER,
                "-d",
                database,
            ],
            input=sql,
            capture_output=True,
            text=True,
            env=environ,
            timeout=600,
        )

    def execute(self, sql, database=DATABASE):
        """its text as CSV"""
        done = self._psql(sql, database)
        assert done.returncode == 0, f"{done.stderr}\n{sql[:2000]}"
        return done.stdout

    def rows(self, sql, database=DATABASE):
        table = csv.DictReader(io.StringIO(self.execute(sql, database), newline=""))
        return [{name: None if value == "\\N" else value for name, value in row.items()} for row in table]

    def value(self, sql):
        """the one cell of the answer"""
        ((cell,),) = [row.values() for row in self.rows(sql)]
        return cell

    def use_tls(self, certificate, key):
        """answers TLS from now on, as the owner of these files (PEM)"""
        for name, source, setting in (
            ("server.crt", certificate, "ssl_cert_file"),
            ("server.key", key, "ssl_key_file"),
        ):
            path = shutil.copy(source, os.path.join(self.folder, name))
            os.chmod(path, 0o600)
            if self.user:
                os.chown(path, self.user.pw_uid, self.user.pw_gid)
            self.execute(f"ALTER SYSTEM SET {setting} = '{path}'")
        self.execute("ALTER SYSTEM SET ssl = on")
        self.stop()
        self.start()

    def apply_schema(self, version=None):
        """the files of server/fleet/catalog/schema, as `memviewd index --catalog` applies them; the first `version` of
        them"""
        folder = os.path.join(ROOT, "server", "fleet", "catalog", "schema")
        for number, name in enumerate(
            sorted(name for name in os.listdir(folder) if name.endswith(".sql"))[:version], 1
        ):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                self.execute(
                    f"BEGIN; {file.read()}; INSERT INTO memviewd.schema_version (version) VALUES ({number}); COMMIT;"
                )
