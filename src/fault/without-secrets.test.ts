import { assert, constantFrom, property, string } from "fast-check";
import { describe, expect, it, test } from "vitest";
import { redacted, withoutSecrets, isSecretInProse, isSecretKey } from "./without-secrets.ts";
import { cpuMs } from "../../test/lab/cpu-ms.ts";

const secret = "hunter2-Tr0ub4dor";

describe("a text with a secret", () => {
  test.each([
    ["JSON", `bad config {"password":"${secret}","mtu":1400}`],
    ["JSON with spaces", `{ "bgpPassword" : "${secret} and more" }`],
    ["JSON in JSON", `config "{\\"apiKey\\":\\"${secret}\\",\\"x\\":1}"`],
    ["JSON with a quote in the value", `{"token":"a\\"${secret}"}`],
    ["JSON in JSON with a quote in the value", `"{\\"token\\":\\"a\\\\\\"${secret}\\"}"`],
    ["JSON of a list", `{"secrets":["${secret}","b"]}`],
    ["JSON of an object", `{"credentials":{"user":"${secret}"}}`],
    ["JSON of a number", `{"token":${secret.length}987654,"a":1}`],
    ["JSON cut short", `{"client_secret":"${secret}`],
    ["an assignment", `dial: API_TOKEN=${secret} refused`],
    ["a quoted assignment", `psk="${secret} x" refused`],
    ["a header", `Authorization: Bearer ${secret}`],
    ["an option", `ran tool --auth-token ${secret} eth0`],
    ["an option of a long name", `ran tool --${"the-name-".repeat(10)}auth-token ${secret} eth0`],
    ["an assignment in brackets", `(-X,--ipam-token=${secret})`],
    ["an assignment of a long name", `${"THE_NAME_".repeat(10)}PASSWORD=${secret}`],
    ["a query", `Get "https://ipam.example/v1/token=${secret}": EOF`],
    ["a URL", `Get "https://admin:${secret}@ipam.example/v1": EOF`],
    ["a block of YAML", `users:\n- user:\n    token: |\n      ${secret}\n\n      ${secret}\n    name: a\n`],
    ["a block within a block of YAML", `data:\n  a.yaml: |\n    b:\n      token: |\n        ${secret}\n`],
    ["a folded block of YAML", `client-key-data: >-\n  first\n  ${secret}`],
    ["a block of YAML in a list", `- password: |2-\n    ${secret}\n- name: a`],
    ["a private key", `-----BEGIN EC PRIVATE KEY-----\n${secret.replaceAll("-", "")}\n-----END EC PRIVATE KEY-----`],
    ["a service account's token", `sent eyJhbGciOiJSUzI1NiJ9.${secret.replaceAll("-", "")}payload.sig`],
  ])("loses it: %s", (_, text) => {
    const redactedText = withoutSecrets(text);
    expect(redactedText).toContain(redacted);
    expect(redactedText).not.toContain("hunter2");
    expect(redactedText).not.toContain("987654");
  });

  test.each([
    'plugin bridge failed (add): failed to set bridge addr: could not add IP address to "br0": file exists',
    'networks[0].name: must be a DNS-1123 label, but is "-a"',
    "the author's monkey: banana",
    "read unix @->/run/x.sock: connection reset by peer",
    "open /var/run/secrets/kubernetes.io/serviceaccount/token: ENOENT, no such file or directory",
  ])("that has none stays: %s", (text) => {
    expect(withoutSecrets(text)).toBe(text);
  });

  test("a block of YAML ends with its indentation", () => {
    const text = `a: 1\ntoken: |\n  ${secret}\nname: b\nplain: |\n  kept\n`;
    expect(withoutSecrets(text)).toBe(`a: 1\ntoken: ${redacted}\n  ${redacted}\nname: b\nplain: |\n  kept\n`);
  });

  it("never shows the value of a secret key, in any surrounding text", () => {
    const key = constantFrom("password", "BGP_PASSWORD", "apiKey", "clientSecret", "private-key", "auth.token");
    assert(
      property(string(), key, string(), (before, named, after) => {
        expect(withoutSecrets(`${before} ${JSON.stringify({ [named]: secret, after })}`)).not.toContain(secret);
      }),
    );
  });

  it("takes time in proportion to the text's length", () => {
    for (const piece of [
      "password",
      '"token":"',
      "a-key ",
      "-key",
      "--key",
      "eyJ",
      "-----BEGIN PRIVATE KEY",
      "http://",
      '\\"',
      "--key ",
      "token: |\n",
      "token: |\n \n",
      "\n ",
    ]) {
      expect(withoutSecrets(piece.repeat(Math.ceil(8192 / piece.length))).length).toBeLessThan(40_000);
    }
  });
});

describe("a key of a configuration", () => {
  test.each(
    "password Password bgpPassword BGP_PASSWORD passwd passphrase pwd PWD db_pwd dbPwd rootpwd pass dbpass user_pass auth basicAuth proxy-auth oauth token tokens authToken API_TOKEN key api_key apiKey APIKey apikey apiKeys privateKey private-key wireguardKey presharedKey psk encryption_key clientSecret client-secret secret secrets secretId credential credentials creds cookie sessionCookie dsn mysqlDSN jwt connectionString authorization bearer passwordHash keyData client-key-data authHeader token2 s3SecretKey".split(
      " ",
    ),
  )("%s names a secret", (key) => expect(isSecretKey(key)).toBe(true));

  test.each(
    "keys publicKey public_key pubkey partitionKey pkey pKey sortKey keepalive keepAlive keyspace keyType keyId accessKeyId passwordFile tokenPath secretName secretRef tokenTtl authMode authUrl passThrough passthru bypass compass author authority monkey hotkey mtu name type subnet tokenEndpoint connection".split(
      " ",
    ),
  )("%s names none", (key) => expect(isSecretKey(key)).toBe(false));

  test("in prose only unmistakable words begin a secret", () => {
    expect(["password", "token", "client-secret", "Cookie", "api-key"].map(isSecretInProse)).toEqual(Array(5).fill(true));
    expect(["auth", "key", "pass"].map(isSecretInProse)).toEqual([false, false, false]);
  });

  test("a long key takes no longer than a short one", () => {
    const started = cpuMs();
    for (const key of ["A".repeat(1_000_000), "aA".repeat(500_000), `key${"-".repeat(1_000_000)}`]) isSecretKey(key);
    expect(cpuMs() - started).toBeLessThan(200);
  });
});
