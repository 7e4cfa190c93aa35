# SPDX-License-Identifier: Apache-2.0
"""Where credentials come from, that they reach their service alone, and that no log has them."""
import base64
import hashlib
import json
import os
import urllib.parse

import harness
import servers

PLACE = "s3://profiles/lab a/hlo"
SECRET_WORDS = ("the-secret-key", "the-session-token", "the-refresh-token", "the-client-secret", "the-access-token", "the-web-identity")


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
    assert "jit_step" in ended.stdout or not expected[0] # nobody may read these objects without a name
    harness.equal(signed_by(proxy), {expected}, "who signed")
    for word in SECRET_WORDS:
        assert word not in ended.stdout + ended.stderr
    return proxy


def test_of_the_environment(t):
    check(t, ("AKIA1", None), AWS_ACCESS_KEY_ID="AKIA1", AWS_SECRET_ACCESS_KEY="the-secret-key")
    check(t, ("ASIA1", "the-session-token"), AWS_ACCESS_KEY_ID="ASIA1", AWS_SECRET_ACCESS_KEY="the-secret-key", AWS_SESSION_TOKEN="the-session-token")


def test_none(t):
    check(t, ("", None))


def test_of_profiles(t):
    home = t.folder("home")
    os.makedirs(os.path.join(home, ".aws"))
    with open(os.path.join(home, ".aws", "credentials"), "w", encoding="utf-8") as file:
        file.write("[default]\naws_access_key_id = AKIADEF\naws_secret_access_key = the-secret-key\n[lab]\naws_access_key_id=AKIALAB\naws_secret_access_key=the-secret-key\n")
    with open(os.path.join(home, ".aws", "config"), "w", encoding="utf-8") as file:
        file.write("[default]\nregion = eu-west-1\n[profile lab]\nregion = eu-central-1\n[profile made]\ncredential_process = /bin/false\n")
    proxy = check(t, ("AKIADEF", None))
    assert "/eu-west-1/s3/aws4_request" in str(proxy.requests[0][2])
    proxy = check(t, ("AKIALAB", None), AWS_PROFILE="lab")
    assert "/eu-central-1/s3/aws4_request" in str(proxy.requests[0][2])
    ended = t.command("summary", PLACE, status=2, AWS_PROFILE="made", AWS_ENDPOINT_URL_S3=t.s3().url)
    assert "AWS profile made has no keys but a program that makes them" in ended.stderr, ended.stderr


def test_of_a_web_identity_by_sts(t):
    """moto's STS gives the keys"""
    sts = servers.Proxy(t.s3().port)
    token = t.write("token", b"the-web-identity\n")
    proxy = servers.Proxy(t.s3().port)
    ended = t.command("summary", PLACE, AWS_ENDPOINT_URL_S3=proxy.url, AWS_ENDPOINT_URL_STS=sts.url, AWS_WEB_IDENTITY_TOKEN_FILE=token,
                      AWS_ROLE_ARN="arn:aws:iam::123456789012:role/reader")
    assert "jit_step" in ended.stdout
    (key, session), = signed_by(proxy)
    assert key.startswith("ASIA") and session
    form = urllib.parse.parse_qs(sts.requests[0][3].decode())
    harness.equal(form["WebIdentityToken"], ["the-web-identity"])
    assert "the-web-identity" not in str(proxy.requests)


ROLE = "arn:aws:iam::123456789012:role/reader"


def profiles(t, text):
    return {"AWS_CONFIG_FILE": t.write("config", text.encode()), "AWS_SHARED_CREDENTIALS_FILE": os.devnull}


def test_of_a_role_by_another_profile(t):
    """moto checks the signature of the request for the role by the keys of the other profile, and that of S3 by the role's"""
    moto = servers.Moto()
    moto.put("signed", os.path.join(harness.FIXTURES, "modules"), "a/")
    made, iam = moto.user("asker"), moto.client("iam")
    trust = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:user/asker"},"Action":"sts:AssumeRole"}]}'
    iam.create_role(RoleName="reader", AssumeRolePolicyDocument=trust)
    iam.put_role_policy(RoleName="reader", PolicyName="all", PolicyDocument=servers.EVERYTHING)
    keys = f"aws_access_key_id = {made['AccessKeyId']}\naws_secret_access_key = {made['SecretAccessKey']}\n"
    role = f"role_arn = {ROLE}\nexternal_id = a+b/c é\n"
    config = profiles(t, f"[profile base]\n{keys}[profile lab]\n{role}source_profile = base\n[profile own]\n{keys}{role}source_profile = own\n"
                         f"[profile environment]\n{role}credential_source = Environment\n[profile wrong]\n{role}source_profile = nothing\n"
                         f"[profile bad]\naws_access_key_id = {made['AccessKeyId']}\naws_secret_access_key = wrong\n[profile by-bad]\n{role}source_profile = bad\n"
                         f"[profile ring]\n{role}source_profile = ring2\n[profile ring2]\n{role}source_profile = ring\n"
                         f"[profile code]\n{role}source_profile = base\nmfa_serial = arn:aws:iam::1:mfa/ann\n")
    with moto.checking():
        for name in ("lab", "own"):
            proxy = servers.Proxy(moto.port)
            ended = t.command("summary", "s3://signed/a", AWS_PROFILE=name, AWS_ENDPOINT_URL_STS=moto.url, AWS_ENDPOINT_URL_S3=proxy.url, **config)
            assert "jit_step" in ended.stdout
            ((key, session),) = signed_by(proxy)
            assert key.startswith("ASIA") and session and made["SecretAccessKey"] not in str(proxy.requests)
        for name, words in (("by-bad", "403 SignatureDoesNotMatch"), ("wrong", "no credentials in what AWS profile wrong assumes its role by (nothing)"),
                            ("environment", "assumes its role by (Environment)"), ("ring", "AWS profiles assume their roles by each other"), ("code", "wants a code")):
            ended = t.command("summary", "s3://signed/a", status=2, AWS_PROFILE=name, AWS_ENDPOINT_URL_STS=moto.url, AWS_ENDPOINT_URL_S3=moto.url, **config)
            assert words in ended.stderr and made["SecretAccessKey"] not in ended.stderr, ended.stderr


def test_of_a_single_sign_on(t):
    """a stand-in for the service that gives keys for the token which `aws sso login` leaves"""
    def answer(handler, request):
        if request[2].get("x-amz-sso_bearer_token") != "the-access-token":
            return handler.reply(401, {}, b'{"__type":"UnauthorizedException"}')
        return handler.reply(200, {}, json.dumps({"roleCredentials": {"accessKeyId": "ASIASSO", "secretAccessKey": "the-secret-key", "sessionToken": "the-session-token",
                                                                      "expiration": 4070908800000}}).encode())
    server = servers.Server(answer)
    cache = os.path.join(t.folder("home"), ".aws", "sso", "cache")
    os.makedirs(cache)

    def login(named, end="2099-01-01T00:00:00Z", token="the-access-token"):
        with open(os.path.join(cache, hashlib.sha1(named.encode()).hexdigest() + ".json"), "w", encoding="utf-8") as file:
            json.dump({"accessToken": token, "expiresAt": end, "region": "eu-west-1"}, file)
    sign_on = "sso_start_url = https://lab.awsapps.com/start\nsso_region = eu-west-1\n"
    account = "sso_account_id = 123456789012\nsso_role_name = Read+Only\n"
    environ = {"AWS_ENDPOINT_URL_SSO": server.url, **profiles(t, f"[sso-session lab]\n{sign_on}[profile new]\nsso_session = lab\n{account}[profile old]\n{sign_on}{account}"
                                                                 f"[profile role]\nrole_arn = {ROLE}\nsource_profile = new\n[profile little]\nsso_account_id = 1\n")}
    for name in ("new", "old"):
        ended = t.command("summary", PLACE, status=2, AWS_PROFILE=name, AWS_ENDPOINT_URL_S3=t.s3().url, **environ)
        assert f"aws sso login --profile {name}" in ended.stderr, ended.stderr
    login("lab")
    login("https://lab.awsapps.com/start")
    for name in ("new", "old"):
        check(t, ("ASIASSO", "the-session-token"), AWS_PROFILE=name, **environ)
    harness.equal({request[1] for request in server.requests}, {"/federation/credentials?account_id=123456789012&role_name=Read%2BOnly"})
    sts = servers.Proxy(t.s3().port)
    assert "jit_step" in t.command("summary", PLACE, AWS_PROFILE="role", AWS_ENDPOINT_URL_STS=sts.url, AWS_ENDPOINT_URL_S3=t.s3().url, **environ).stdout
    harness.equal(signed_by(sts), {("ASIASSO", "the-session-token")})
    login("lab", "2020-01-01T00:00:00Z")
    assert "has ended" in t.command("summary", PLACE, status=2, AWS_PROFILE="new", AWS_ENDPOINT_URL_S3=t.s3().url, **environ).stderr
    login("lab", token="another")
    ended = t.command("summary", PLACE, status=2, AWS_PROFILE="new", AWS_ENDPOINT_URL_S3=t.s3().url, **environ)
    assert "401" in ended.stderr and "another" not in ended.stderr, ended.stderr
    assert "too little" in t.command("summary", PLACE, status=2, AWS_PROFILE="little", AWS_ENDPOINT_URL_S3=t.s3().url, **environ).stderr


def test_of_a_container(t):
    def answer(handler, request):
        handler.reply(200, {}, json.dumps({"AccessKeyId": "ASIACONT", "SecretAccessKey": "the-secret-key", "Token": "the-session-token",
                                           "Expiration": "2099-01-01T00:00:00Z"}).encode())
    server = servers.Server(answer)
    token = t.write("token", b"the-container-token")
    check(t, ("ASIACONT", "the-session-token"), AWS_CONTAINER_CREDENTIALS_FULL_URI=server.url + "/v1/credentials",
          AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=token)
    harness.equal([request[2]["Authorization"] for request in server.requests], ["the-container-token"])
    ended = t.command("summary", PLACE, status=2, AWS_CONTAINER_CREDENTIALS_FULL_URI="http://198.51.100.1/x", AWS_ENDPOINT_URL_S3=t.s3().url)
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
    return handler.reply(200, {}, json.dumps({"AccessKeyId": "ASIAINST", "SecretAccessKey": "the-secret-key", "Token": "the-session-token",
                                              "Expiration": "2099-01-01T00:00:00Z"}).encode())


def test_of_an_instance(t):
    server = servers.Server(instance)
    check(t, ("ASIAINST", "the-session-token"), AWS_EC2_METADATA_DISABLED="", AWS_EC2_METADATA_SERVICE_ENDPOINT=server.url)
    harness.equal([request[:2] for request in server.requests],
                  [("PUT", "/latest/api/token"), ("GET", "/latest/meta-data/iam/security-credentials/"),
                   ("GET", "/latest/meta-data/iam/security-credentials/the-role")])


def test_of_a_role_by_an_instance(t):
    server, sts, proxy = servers.Server(instance), servers.Proxy(t.s3().port), servers.Proxy(t.s3().port)
    ended = t.command("summary", PLACE, AWS_EC2_METADATA_DISABLED="", AWS_EC2_METADATA_SERVICE_ENDPOINT=server.url, AWS_ENDPOINT_URL_STS=sts.url,
                      AWS_ENDPOINT_URL_S3=proxy.url, AWS_PROFILE="role", **profiles(t, f"[profile role]\nrole_arn = {ROLE}\ncredential_source = Ec2InstanceMetadata\n"))
    assert "jit_step" in ended.stdout
    harness.equal(signed_by(sts), {("ASIAINST", "the-session-token")})
    ((key, session),) = signed_by(proxy)
    assert key.startswith("ASIA") and key != "ASIAINST" and session != "the-session-token"


def test_of_a_role_that_sts_gives_half_of(t):
    half = servers.Server(lambda handler, request: handler.reply(200, {}, b"<AssumeRoleResponse><AccessKeyId>ASIAHALF</AccessKeyId></AssumeRoleResponse>"))
    ended = t.command("summary", PLACE, status=2, AWS_ENDPOINT_URL_STS=half.url, AWS_ENDPOINT_URL_S3=t.s3().url, AWS_PROFILE="role",
                      **profiles(t, f"[profile role]\nrole_arn = {ROLE}\nsource_profile = base\n[profile base]\naws_access_key_id = AKIA1\naws_secret_access_key = the-secret-key\n"))
    assert "STS gives no credentials" in ended.stderr and "the-secret-key" not in ended.stderr, ended.stderr


def test_of_an_instance_whose_server_is_late(t):
    """a daemon that found no credentials looks again once it is refused"""
    def answer(handler, request):
        if not is_up:
            return handler.reply(500)
        if request[1].endswith("/the-role"):
            return handler.reply(200, {}, json.dumps({"AccessKeyId": "ASIALATE", "SecretAccessKey": "the-secret-key", "Token": "the-session-token",
                                                      "Expiration": "2099-01-01T00:00:00Z"}).encode())
        return handler.reply(200, {}, b"the-role")

    def refuse_strangers(handler, request, count):
        return "authorization" not in {name.lower() for name in request[2]} and handler.reply(403) is None
    is_up = []
    server, proxy = servers.Server(answer), servers.Proxy(t.s3().port, refuse_strangers)
    daemon = t.daemon("--logdir=" + PLACE, "--list-every=1", AWS_EC2_METADATA_DISABLED="", AWS_EC2_METADATA_SERVICE_ENDPOINT=server.url,
                      AWS_ENDPOINT_URL_S3=proxy.url)
    harness.wait_until(lambda: "403" in daemon.get_json("/api/v1/about")["roots"][0]["reason"], 30)
    is_up.append(True)
    harness.wait_until(lambda: daemon.get_json("/api/v1/about")["roots"][0]["reason"] == "", 40)


def test_a_token_that_is_replaced_as_kubernetes_does_it(t):
    def answer(handler, request):
        handler.reply(200, {}, json.dumps({"AccessKeyId": "ASIACONT", "SecretAccessKey": "the-secret-key", "Token": "the-session-token",
                                           "Expiration": "2020-01-01T00:00:00Z"}).encode())
    volume = t.folder("volume")
    for name in ("first", "second"):
        os.makedirs(os.path.join(volume, f"..{name}"))
        with open(os.path.join(volume, f"..{name}", "token"), "w", encoding="utf-8") as file:
            file.write(name)
    os.symlink("..first", os.path.join(volume, "..data"))
    os.symlink("..data/token", os.path.join(volume, "token"))
    server = servers.Server(answer)
    daemon = t.daemon("--logdir=" + PLACE, "--list-every=1", AWS_CONTAINER_CREDENTIALS_FULL_URI=server.url + "/v1/credentials",
                      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=os.path.join(volume, "token"), AWS_ENDPOINT_URL_S3=servers.Proxy(t.s3().port).url)
    harness.wait_until(lambda: daemon.sessions() and server.requests, 30)
    os.symlink("..second", os.path.join(volume, "..data_tmp"))
    os.rename(os.path.join(volume, "..data_tmp"), os.path.join(volume, "..data"))
    harness.wait_until(lambda: server.requests[-1][2].get("Authorization") == "second", 40)
    harness.equal({request[2].get("Authorization") for request in server.requests}, {"first", "second"})


# ---- Google: without an emulator the requests would go to Google itself, which no test may ask. What is sent for a token
# is looked at all the same: the token's server is on this machine, at a port that the sandbox would not let it reach, and refuses.

def google(t, content, refusal=401):
    server = servers.Server(lambda handler, request: handler.reply(refusal, {}, b'{"error":"invalid_grant"}'))
    content = {"token_uri": server.url + "/token", "token_url": server.url + "/token", **content}
    path = t.write("google.json", json.dumps(content).encode())
    ended = t.command("summary", "--no-sandbox", "gs://profiles/x", status=2, GOOGLE_APPLICATION_CREDENTIALS=path)
    for word in SECRET_WORDS:
        assert word not in ended.stderr
    return ended.stderr, [urllib.parse.parse_qs(request[3].decode()) for request in server.requests]


def test_google_by_a_refresh_token(t):
    told, forms = google(t, {"type": "authorized_user", "client_id": "id", "client_secret": "the-client-secret", "refresh_token": "the-refresh-token"})
    assert "invalid_grant" in told, told
    harness.equal(forms[0], {"grant_type": ["refresh_token"], "client_id": ["id"], "client_secret": ["the-client-secret"], "refresh_token": ["the-refresh-token"]})


def test_google_by_the_key_of_a_service_account(t):
    """the signature is checked by the library cryptography"""
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import padding, rsa
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    for form in (serialization.PrivateFormat.PKCS8, serialization.PrivateFormat.TraditionalOpenSSL):
        pem = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()
        _, forms = google(t, {"type": "service_account", "client_email": "reader@lab.example", "private_key": pem})
        harness.equal(forms[0]["grant_type"], ["urn:ietf:params:oauth:grant-type:jwt-bearer"])
        head, claims, signature = forms[0]["assertion"][0].split(".")

        def decode(text):
            return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        key.public_key().verify(decode(signature), f"{head}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256())
        harness.equal(json.loads(decode(head)), {"alg": "RS256", "typ": "JWT"})
        claims = json.loads(decode(claims))
        harness.equal((claims["iss"], claims["scope"], claims["exp"] - claims["iat"]),
                      ("reader@lab.example", "https://www.googleapis.com/auth/devstorage.read_only", 3600))
    told, forms = google(t, {"type": "service_account", "client_email": "a@b", "private_key": "no key"})
    assert "no RSA key" in told and not forms


def test_google_by_federation(t):
    token = t.write("subject", b'{"id_token": "the-web-identity"}')
    _, forms = google(t, {"type": "external_account", "audience": "//iam/aud", "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
                          "credential_source": {"file": token, "format": {"type": "json", "subject_token_field_name": "id_token"}}})
    harness.equal(forms[0]["subject_token"], ["the-web-identity"])
    harness.equal(forms[0]["audience"], ["//iam/aud"])


def test_google_by_the_metadata_server_and_a_proxy(t):
    """the sandbox lets both be reached; the proxy, which refuses, is told no more than where to"""
    metadata = servers.Server(lambda handler, request: handler.reply(
        200, {"Metadata-Flavor": "Google"}, b'{"access_token":"the-access-token","expires_in":3599,"token_type":"Bearer"}'))
    proxy = servers.Server(lambda handler, request: handler.reply(403))
    ended = t.command("summary", "gs://profiles/x", status=2, NO_GCE_CHECK="", no_proxy="", GCE_METADATA_HOST=f"127.0.0.1:{metadata.port}", https_proxy=proxy.url)
    harness.equal([(request[1], request[2]["Metadata-Flavor"]) for request in metadata.requests],
                  [("/computeMetadata/v1/instance/service-accounts/default/token", "Google")])
    assert proxy.requests and all(request[:2] == ("CONNECT", "storage.googleapis.com:443") for request in proxy.requests), proxy.requests
    assert "the-access-token" not in str(proxy.requests) + ended.stderr


def test_what_is_secret_goes_to_google_alone(t):
    told, _ = google(t, {"type": "authorized_user", "client_id": "id", "client_secret": "the-client-secret", "refresh_token": "the-refresh-token",
                         "token_uri": "https://oauth2.googleapis.com.evil.example/token"})
    assert "not Google's" in told, told
