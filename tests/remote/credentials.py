# SPDX-License-Identifier: Apache-2.0
"""Where credentials come from, that they reach their service alone, and that no log has them."""

import datetime
import json
import os
import sys
import urllib.parse

import harness
import servers

PLACE = "s3://profiles/lab a/hlo"
SECRET_WORDS = (
    "the-secret-key",
    "the-session-token",
    "the-refresh-token",
    "the-client-secret",
    "the-access-token",
    "the-web-identity",
)


def signed_by(proxy):
    """(key id, token) of each request that went to S3"""
    told = set()
    for _, _, headers, _ in proxy.requests:
        low = {name.lower(): value for name, value in headers.items()}
        key = low.get("authorization", "").partition("Credential=")[2].partition("/")[0]
        told.add((key, low.get("x-amz-security-token")))
    return told


def check(t, expected, **environ):
    proxy = servers.Proxy(t.s3().port)
    ended = t.command("summary", PLACE, status=None, AWS_ENDPOINT_URL_S3=proxy.url, **environ)
    assert "jit_step" in ended.stdout or not expected[0]  # nobody may read these objects without a name
    harness.equal(signed_by(proxy), {expected}, "who signed")
    for word in SECRET_WORDS:
        assert word not in ended.stdout + ended.stderr
    return proxy


def test_of_the_environment(t):
    check(t, ("AKIA1", None), AWS_ACCESS_KEY_ID="AKIA1", AWS_SECRET_ACCESS_KEY="the-secret-key")
    check(
        t,
        ("ASIA1", "the-session-token"),
        AWS_ACCESS_KEY_ID="ASIA1",
        AWS_SECRET_ACCESS_KEY="the-secret-key",
        AWS_SESSION_TOKEN="the-session-token",
    )


def test_none(t):
    check(t, ("", None))


def test_of_profiles(t):
    home = t.folder("home")
    os.makedirs(os.path.join(home, ".aws"))
    with open(os.path.join(home, ".aws", "credentials"), "w", encoding="utf-8") as file:
        file.write(
            "[default]\naws_access_key_id = AKIADEF\naws_secret_access_key = the-secret-key\n[lab]\n"
            "aws_access_key_id=AKIALAB\naws_secret_access_key=the-secret-key\n"
        )
    with open(os.path.join(home, ".aws", "config"), "w", encoding="utf-8") as file:
        file.write("[default]\nregion = eu-west-1\n[profile lab]\nregion = eu-central-1\n")
    proxy = check(t, ("AKIADEF", None))
    assert "/eu-west-1/s3/aws4_request" in str(proxy.requests[0][2])
    proxy = check(t, ("AKIALAB", None), AWS_PROFILE="lab")
    assert "/eu-central-1/s3/aws4_request" in str(proxy.requests[0][2])


def test_of_a_web_identity_by_sts(t):
    """moto's STS gives the keys"""
    sts = servers.Proxy(t.s3().port)
    token = t.write("token", b"the-web-identity\n")
    proxy = servers.Proxy(t.s3().port)
    ended = t.command(
        "summary",
        PLACE,
        AWS_ENDPOINT_URL_S3=proxy.url,
        AWS_ENDPOINT_URL_STS=sts.url,
        AWS_WEB_IDENTITY_TOKEN_FILE=token,
        AWS_ROLE_ARN="arn:aws:iam::123456789012:role/reader",
    )
    assert "jit_step" in ended.stdout
    ((key, session),) = signed_by(proxy)
    assert key.startswith("ASIA") and session
    form = urllib.parse.parse_qs(sts.requests[0][3].decode())
    harness.equal(form["WebIdentityToken"], ["the-web-identity"])
    assert "the-web-identity" not in str(proxy.requests)


def test_of_a_web_identity_that_sts_gives_half_of(t):
    half = servers.Server(
        lambda handler, request: handler.reply(
            200, {}, b"<AssumeRoleResponse><AccessKeyId>ASIAHALF</AccessKeyId></AssumeRoleResponse>"
        )
    )
    ended = t.command(
        "summary",
        PLACE,
        status=2,
        AWS_ENDPOINT_URL_STS=half.url,
        AWS_ENDPOINT_URL_S3=t.s3().url,
        AWS_ROLE_ARN=ROLE,
        AWS_WEB_IDENTITY_TOKEN_FILE=t.write("token", b"the-web-identity"),
    )
    assert "STS gives no credentials" in ended.stderr and "the-web-identity" not in ended.stderr, ended.stderr


ROLE = "arn:aws:iam::123456789012:role/reader"


def profiles(t, text):
    return {"AWS_CONFIG_FILE": t.write("config", text.encode()), "AWS_SHARED_CREDENTIALS_FILE": os.devnull}


PROGRAM = """import json, os, sys
here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "runs"), "a") as file:
    has_terminal = os.path.exists("/dev/tty") and bool(os.isatty(2))
    run = {"arguments": sys.argv[1:], "input": sys.stdin.read(), "has_terminal": has_terminal}
    file.write(json.dumps(run) + "\\n")
answer = {"Version": 1, "AccessKeyId": "ASIAPROC", "SecretAccessKey": "the-secret-key"}
answer |= {"SessionToken": "the-session-token", "Expiration": "2099-01-01T00:00:00+00:00"}
answer.update(json.loads(sys.argv[1]))
print(json.dumps({name: value for name, value in answer.items() if value is not None}))
"""


def program(t, **changes):
    """(the environment of a profile whose credential_process is PROGRAM with these changes of its answer, the file that
    counts its runs)"""
    path = t.write("the program.py", PROGRAM.encode())
    runs = os.path.join(os.path.dirname(path), "runs")
    command = f"{sys.executable} '{path}' " + json.dumps(json.dumps(changes)) + " 'a b'c\\ d $HOME \"\""
    return {
        "AWS_PROFILE": "made",
        **profiles(t, f"[profile made]\nrole_arn = {ROLE}\nsource_profile = base\ncredential_process = {command}\n"),
    }, runs


def runs_of(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_of_a_process(t):
    """it is run from within the sandbox's reach and by no shell, and asks nobody"""
    environ, runs = program(t)
    check(t, ("ASIAPROC", "the-session-token"), **environ)
    harness.equal(runs_of(runs), [{"arguments": ["{}", "a bc d", "$HOME", ""], "input": "", "has_terminal": False}])
    check(t, ("AKIA1", None), AWS_ACCESS_KEY_ID="AKIA1", AWS_SECRET_ACCESS_KEY="the-secret-key", **environ)
    environ, _ = program(t, SessionToken=None, Expiration=None)
    check(t, ("ASIAPROC", None), **environ)


def test_of_a_process_outside_of_a_sandbox(t):
    environ, _ = program(t)
    ended = t.command("summary", "--no-sandbox", PLACE, AWS_ENDPOINT_URL_S3=t.s3().url, **environ)
    assert "jit_step" in ended.stdout, ended.stdout


def test_of_a_process_that_fails(t):
    for changes, words in (
        ({"Version": 2}, "another Version than 1"),
        ({"SecretAccessKey": None}, "gives no credentials"),
        ({"AccessKeyId": 7}, "gives no credentials"),
        ({"Expiration": "soon"}, "no time of ISO 8601"),
        ({"Expiration": "2020-01-01T00:00:00+01:00"}, "have ended already"),
        ({"more": "x" * 70000}, "more than 65536 bytes"),
    ):
        environ, _ = program(t, **changes)
        ended = t.command("summary", PLACE, status=2, AWS_ENDPOINT_URL_S3=t.s3().url, **environ)
        assert words in ended.stderr and "credential_process of AWS profile made" in ended.stderr, (
            changes,
            ended.stderr,
        )
        assert "the-secret-key" not in ended.stderr and "the-session-token" not in ended.stderr
    for command, words in (
        ("sh -c 'echo first >&2; echo the sign-on has ended >&2; exit 3'", "exit status 3: the sign-on has ended\n"),
        ("sh -c 'kill -9 $$'", "signal 9 ended it"),
        ("echo no", "prints no JSON object"),
        ("true", "prints no JSON object"),
        ("echo [1]", "prints no JSON object"),
        ("/nowhere/at-all --x", "/nowhere/at-all: No such file or directory"),
        ("sh -c 'exit", "a quote without its end"),
    ):
        ended = t.command(
            "summary",
            PLACE,
            status=2,
            AWS_ENDPOINT_URL_S3=t.s3().url,
            AWS_PROFILE="made",
            **profiles(t, f"[profile made]\ncredential_process = {command}\n"),
        )
        assert words in ended.stderr, (command, ended.stderr)


def test_of_a_process_whose_credentials_end(t):
    """a daemon runs it once for those that last, and again before they end"""

    def follow(**changes):
        environ, runs = program(t, **changes)
        proxy = servers.Proxy(t.s3().port)
        daemon = t.daemon("--logdir=" + PLACE, "--list-every=1", AWS_ENDPOINT_URL_S3=proxy.url, **environ)
        harness.wait_until(daemon.sessions, 30)
        return proxy, runs

    proxy, lasting = follow()
    harness.wait_until(lambda: len(proxy.requests) > 3, 60)
    harness.equal(len(runs_of(lasting)), 1)
    os.remove(lasting)
    _, ending = follow(
        Expiration=(datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=4)).isoformat()
    )
    harness.wait_until(lambda: len(runs_of(ending)) > 1, 60)


def test_what_a_process_is_needed_for(t):
    for name, values in (
        ("chained", f"role_arn = {ROLE}\nsource_profile = base"),
        ("of-instance", f"role_arn = {ROLE}\ncredential_source = Ec2InstanceMetadata"),
        ("code", f"role_arn = {ROLE}\nsource_profile = base\nmfa_serial = arn:aws:iam::1:mfa/ann"),
        ("AdministratorAccess-123456789012", "sso_session = lab\nsso_account_id = 1"),
        ("old", "sso_start_url = https://lab.awsapps.com/start\nsso_account_id = 1"),
        ("self", f"role_arn = {ROLE}\nsource_profile = self\naws_access_key_id = A\naws_secret_access_key = B"),
    ):
        ended = t.command(
            "summary",
            PLACE,
            status=2,
            AWS_ENDPOINT_URL_S3=t.s3().url,
            AWS_PROFILE=name,
            **profiles(t, f"[profile {name}]\n{values}\n"),
        )
        assert (
            f"credential_process = aws configure export-credentials --profile {name} --format process" in ended.stderr
        ), ended.stderr


def test_of_a_container(t):
    def answer(handler, request):
        handler.reply(
            200,
            {},
            json.dumps(
                {
                    "AccessKeyId": "ASIACONT",
                    "SecretAccessKey": "the-secret-key",
                    "Token": "the-session-token",
                    "Expiration": "2099-01-01T00:00:00Z",
                }
            ).encode(),
        )

    server = servers.Server(answer)
    token = t.write("token", b"the-container-token")
    check(
        t,
        ("ASIACONT", "the-session-token"),
        AWS_CONTAINER_CREDENTIALS_FULL_URI=server.url + "/v1/credentials",
        AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=token,
    )
    harness.equal([request[2]["Authorization"] for request in server.requests], ["the-container-token"])
    ended = t.command(
        "summary",
        PLACE,
        status=2,
        AWS_CONTAINER_CREDENTIALS_FULL_URI="http://198.51.100.1/x",
        AWS_ENDPOINT_URL_S3=t.s3().url,
    )
    assert "not asked from" in ended.stderr, ended.stderr


def instance(handler, request):
    """the metadata server of an EC2 instance"""
    method, path, headers, _ = request
    if (method, path) == ("PUT", "/latest/api/token"):
        return handler.reply(200, {}, b"imds-session")
    if headers.get("X-aws-ec2-metadata-token") != "imds-session":
        return handler.reply(401)
    if path.endswith("/security-credentials/"):
        return handler.reply(200, {}, b"the-role")
    return handler.reply(
        200,
        {},
        json.dumps(
            {
                "AccessKeyId": "ASIAINST",
                "SecretAccessKey": "the-secret-key",
                "Token": "the-session-token",
                "Expiration": "2099-01-01T00:00:00Z",
            }
        ).encode(),
    )


def test_of_an_instance(t):
    server = servers.Server(instance)
    check(
        t, ("ASIAINST", "the-session-token"), AWS_EC2_METADATA_DISABLED="", AWS_EC2_METADATA_SERVICE_ENDPOINT=server.url
    )
    harness.equal(
        [request[:2] for request in server.requests],
        [
            ("PUT", "/latest/api/token"),
            ("GET", "/latest/meta-data/iam/security-credentials/"),
            ("GET", "/latest/meta-data/iam/security-credentials/the-role"),
        ],
    )


def test_of_an_instance_whose_server_is_late(t):
    """a daemon that found no credentials looks again once it is refused"""

    def answer(handler, request):
        if not is_up:
            return handler.reply(500)
        if request[1].endswith("/the-role"):
            return handler.reply(
                200,
                {},
                json.dumps(
                    {
                        "AccessKeyId": "ASIALATE",
                        "SecretAccessKey": "the-secret-key",
                        "Token": "the-session-token",
                        "Expiration": "2099-01-01T00:00:00Z",
                    }
                ).encode(),
            )
        return handler.reply(200, {}, b"the-role")

    def refuse_strangers(handler, request, count):
        return "authorization" not in {name.lower() for name in request[2]} and handler.reply(403) is None

    is_up = []
    server, proxy = servers.Server(answer), servers.Proxy(t.s3().port, refuse_strangers)
    daemon = t.daemon(
        "--logdir=" + PLACE,
        "--list-every=1",
        AWS_EC2_METADATA_DISABLED="",
        AWS_EC2_METADATA_SERVICE_ENDPOINT=server.url,
        AWS_ENDPOINT_URL_S3=proxy.url,
    )
    harness.wait_until(lambda: "403" in daemon.get_json("/api/v1/about")["roots"][0]["reason"], 30)
    is_up.append(True)
    harness.wait_until(lambda: daemon.get_json("/api/v1/about")["roots"][0]["reason"] == "", 40)


def test_a_token_that_is_replaced_as_kubernetes_does_it(t):
    def answer(handler, request):
        handler.reply(
            200,
            {},
            json.dumps(
                {
                    "AccessKeyId": "ASIACONT",
                    "SecretAccessKey": "the-secret-key",
                    "Token": "the-session-token",
                    "Expiration": "2020-01-01T00:00:00Z",
                }
            ).encode(),
        )

    volume = t.folder("volume")
    for name in ("first", "second"):
        os.makedirs(os.path.join(volume, f"..{name}"))
        with open(os.path.join(volume, f"..{name}", "token"), "w", encoding="utf-8") as file:
            file.write(name)
    os.symlink("..first", os.path.join(volume, "..data"))
    os.symlink("..data/token", os.path.join(volume, "token"))
    server = servers.Server(answer)
    daemon = t.daemon(
        "--logdir=" + PLACE,
        "--list-every=1",
        AWS_CONTAINER_CREDENTIALS_FULL_URI=server.url + "/v1/credentials",
        AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=os.path.join(volume, "token"),
        AWS_ENDPOINT_URL_S3=servers.Proxy(t.s3().port).url,
    )
    harness.wait_until(lambda: daemon.sessions() and server.requests, 30)
    os.symlink("..second", os.path.join(volume, "..data_tmp"))
    os.rename(os.path.join(volume, "..data_tmp"), os.path.join(volume, "..data"))
    harness.wait_until(lambda: server.requests[-1][2].get("Authorization") == "second", 40)
    harness.equal({request[2].get("Authorization") for request in server.requests}, {"first", "second"})
