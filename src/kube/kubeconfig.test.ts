import { describe, expect, test } from "vitest";

import { readCredentialPlugin } from "./credential-plugin.ts";
import { readKubeconfig } from "./kubeconfig.ts";

const pem = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n";

function config(cluster: object = {}, user: object = {}, more: object = {}): object {
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      { name: "other", cluster: { server: "https://other.example" } },
      { name: "local", cluster: { server: "https://10.96.0.1:443", "certificate-authority-data": btoa(pem), ...cluster } },
    ],
    users: [{ name: "plexus", user: { token: "t", ...user } }],
    contexts: [{ name: "here", context: { cluster: "local", user: "plexus" } }],
    "current-context": "here",
    ...more,
  };
}

const read = (value: unknown): ReturnType<typeof readKubeconfig> => readKubeconfig(value, "/etc/k");

test("the current context's cluster and user are read", () => {
  expect(read(config())).toEqual({
    ok: true,
    value: {
      server: "https://10.96.0.1",
      authority: { data: pem },
      serverName: undefined,
      insecure: false,
      token: { data: "t" },
      certificate: undefined,
    },
  });
});

test("data wins over a file, and a token's file over its text", () => {
  const cluster = { "certificate-authority": "ca.crt", "tls-server-name": "kubernetes", "insecure-skip-tls-verify": true };
  const user = { tokenFile: "/run/token", "client-certificate": "a.crt", "client-key": "a.key", "client-key-data": btoa(pem) };
  expect(read(config(cluster, user))).toMatchObject({
    value: {
      authority: { data: pem },
      serverName: "kubernetes",
      insecure: true,
      token: { file: "/run/token" },
      certificate: { certificate: { file: "a.crt" }, key: { data: pem } },
    },
  });
});

test.each([
  ["https://k.example/clusters/a/", "https://k.example/clusters/a"],
  ["https://[10.96.0.1]:443", "https://10.96.0.1"],
  ["https://[fd00::1]:6443", "https://[fd00::1]:6443"],
])("the server %s is %s", (server, expected) => {
  expect(read(config({ server }))).toMatchObject({ value: { server: expected } });
});

test("empty texts and nulls count as missing, as in Go", () => {
  const read1 = read(config({ "tls-server-name": "", "proxy-url": null }, { token: "", exec: null, username: "" }));
  expect(read1).toMatchObject({ value: { serverName: undefined, token: undefined } });
});

test("a credential plugin is read only for a caller that accepts one", () => {
  const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "aws", interactiveMode: "Never" };
  const accepted = (user: object): ReturnType<typeof readKubeconfig> =>
    readKubeconfig(config({}, { token: null, ...user }), "/etc/k", readCredentialPlugin);
  expect(accepted({ exec })).toMatchObject({ ok: true, value: { plugin: { command: "aws" }, token: undefined } });
  expect(read(config({}, { token: null, exec }))).toMatchObject({
    ok: false,
    fault: { msg: expect.stringContaining("exec would start a program") },
  });
  for (const other of ["token", "tokenFile", "client-certificate", "client-certificate-data"])
    expect(accepted({ exec, [other]: "x", "client-key": "k" })).toMatchObject({
      fault: { kind: "KUBECONFIG_INVALID", msg: expect.stringContaining(`exec and ${other} are two credentials`) },
    });
  expect(accepted({ exec: { ...exec, command: "" } })).toMatchObject({
    fault: { kind: "KUBECONFIG_INVALID", msg: "kubeconfig /etc/k: user: exec: command is missing" },
  });
});

describe("is refused, with file and key named:", () => {
  test.each<[string, unknown, RegExp]>([
    ["no object", [], /must be an object/],
    ["no current context", config({}, {}, { "current-context": "" }), /current-context is missing/],
    ["a missing context", config({}, {}, { "current-context": "x" }), /contexts has no entry with the name "x"/],
    ["a context without a cluster", config({}, {}, { contexts: [{ name: "here", context: {} }] }), /names no cluster/],
    ["a missing cluster", config({}, {}, { clusters: [] }), /clusters has no entry with the name "local"/],
    ["a missing user", config({}, {}, { users: {} }), /users must be an array/],
    ["no server", config({ server: null }), /server is missing/],
    ["plain HTTP", config({ server: "http://10.96.0.1" }), /must be a URL that begins with https/],
    ["an invalid host in brackets", config({ server: "https://[10.96.0.]:443" }), /must be a URL/],
    ["a query", config({ server: "https://a/?b" }), /must be a URL/],
    ["a line feed", config({ server: "https://a/\nb" }), /must be a URL/],
    ["a password in the URL", config({ server: "https://u:p@a/" }), /a user name or password/],
    ["a proxy", config({ "proxy-url": "http://p" }), /proxy-url/],
    ["a number for a token", config({}, { token: 5 }), /user: token must be a string, but is a number/],
    ["base64 that is malformed", config({ "certificate-authority-data": "***" }), /must be the base64 of a PEM text/],
    ["base64 of text that is not PEM", config({ "certificate-authority-data": btoa("x") }), /must be the base64 of a PEM text/],
    ["a certificate without its key", config({}, { "client-certificate": "a" }), /belong together/],
    ["a flag that is a text", config({ "insecure-skip-tls-verify": "yes" }), /must be true or false/],
    ["a program", config({}, { exec: { command: "x" } }), /exec would start a program/],
    ["a provider", config({}, { "auth-provider": { name: "gcp" } }), /auth-provider was removed/],
    ["a password", config({}, { username: "u", password: "p" }), /username was removed.*password was removed/],
    ["impersonation", config({}, { as: "admin" }), /another user/],
  ])("%s", (_, value, msg) => {
    expect(read(value)).toMatchObject({
      ok: false,
      fault: {
        kind: "KUBECONFIG_INVALID",
        code: 7,
        msg: expect.stringMatching(new RegExp(`^kubeconfig /etc/k: .*${msg.source}`)),
      },
    });
  });

  test("messages never have a secret's text", () => {
    const refused = read(config({ server: "x" }, { token: "s3cret", password: "s3cret", exec: "s3cret" }));
    expect(JSON.stringify(refused)).not.toContain("s3cret");
  });
});
