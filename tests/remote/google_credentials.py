# SPDX-License-Identifier: Apache-2.0
"""Credentials of Google. Without an emulator the requests would go to Google itself, which no test may ask. What is
sent for a token is looked at all the same: the token's server is on this machine, at a port that the sandbox would not
let memviewd reach, and refuses."""

import base64
import json
import urllib.parse

import harness
import servers
from credentials import SECRET_WORDS


def google(t, content, refusal=401):
    server = servers.Server(lambda handler, request: handler.reply(refusal, {}, b'{"error":"invalid_grant"}'))
    content = {"token_uri": server.url + "/token", "token_url": server.url + "/token", **content}
    path = t.write("google.json", json.dumps(content).encode())
    ended = t.command("summary", "--no-sandbox", "gs://profiles/x", status=2, GOOGLE_APPLICATION_CREDENTIALS=path)
    for word in SECRET_WORDS:
        assert word not in ended.stderr
    return ended.stderr, [urllib.parse.parse_qs(request[3].decode()) for request in server.requests]


def test_google_by_a_refresh_token(t):
    told, forms = google(
        t,
        {
            "type": "authorized_user",
            "client_id": "id",
            "client_secret": "the-client-secret",
            "refresh_token": "the-refresh-token",
        },
    )
    assert "invalid_grant" in told, told
    harness.equal(
        forms[0],
        {
            "grant_type": ["refresh_token"],
            "client_id": ["id"],
            "client_secret": ["the-client-secret"],
            "refresh_token": ["the-refresh-token"],
        },
    )


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
        harness.equal(
            (claims["iss"], claims["scope"], claims["exp"] - claims["iat"]),
            ("reader@lab.example", "https://www.googleapis.com/auth/devstorage.read_only", 3600),
        )
    told, forms = google(t, {"type": "service_account", "client_email": "a@b", "private_key": "no key"})
    assert "no RSA key" in told and not forms


def test_google_by_federation(t):
    token = t.write("subject", b'{"id_token": "the-web-identity"}')
    _, forms = google(
        t,
        {
            "type": "external_account",
            "audience": "//iam/aud",
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
            "credential_source": {"file": token, "format": {"type": "json", "subject_token_field_name": "id_token"}},
        },
    )
    harness.equal(forms[0]["subject_token"], ["the-web-identity"])
    harness.equal(forms[0]["audience"], ["//iam/aud"])


def test_google_by_the_metadata_server_and_a_proxy(t):
    """the sandbox lets both be reached; the proxy, which refuses, is told no more than where to"""
    metadata = servers.Server(
        lambda handler, request: handler.reply(
            200,
            {"Metadata-Flavor": "Google"},
            b'{"access_token":"the-access-token","expires_in":3599,"token_type":"Bearer"}',
        )
    )
    proxy = servers.Server(lambda handler, request: handler.reply(403))
    ended = t.command(
        "summary",
        "gs://profiles/x",
        status=2,
        NO_GCE_CHECK="",
        no_proxy="",
        GCE_METADATA_HOST=f"127.0.0.1:{metadata.port}",
        https_proxy=proxy.url,
    )
    harness.equal(
        [(request[1], request[2]["Metadata-Flavor"]) for request in metadata.requests],
        [("/computeMetadata/v1/instance/service-accounts/default/token", "Google")],
    )
    assert proxy.requests and all(
        request[:2] == ("CONNECT", "storage.googleapis.com:443") for request in proxy.requests
    ), proxy.requests
    assert "the-access-token" not in str(proxy.requests) + ended.stderr


def test_what_is_secret_goes_to_google_alone(t):
    told, _ = google(
        t,
        {
            "type": "authorized_user",
            "client_id": "id",
            "client_secret": "the-client-secret",
            "refresh_token": "the-refresh-token",
            "token_uri": "https://oauth2.googleapis.com.evil.example/token",
        },
    )
    assert "not Google's" in told, told
