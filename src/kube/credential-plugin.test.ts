import { describe, expect, test } from "vitest";

import { type CredentialPlugin, pluginInput, readCredentialPlugin, readPluginOutput } from "./credential-plugin.ts";

const v1 = "client.authentication.k8s.io/v1";
const v1beta1 = "client.authentication.k8s.io/v1beta1";
const pem = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n";
const cluster = {
  server: "https://api.example",
  "tls-server-name": "kubernetes",
  "certificate-authority": "ca.crt",
  extensions: [
    { name: "other", extension: {} },
    { name: "client.authentication.k8s.io/exec", extension: { audience: "a" } },
  ],
};

function read(exec: unknown): { readonly plugin: CredentialPlugin | undefined; readonly problems: readonly string[] } {
  const problems: string[] = [];
  return { plugin: readCredentialPlugin(exec, cluster, (why) => void problems.push(why)), problems };
}

/** A plugin of this version, or a failed test. */
function pluginOf(apiVersion: string, more: object = {}): CredentialPlugin {
  const { plugin } = read({ apiVersion, command: "aws", interactiveMode: "Never", ...more });
  if (plugin === undefined) throw new Error("the plugin is refused");
  return plugin;
}

describe("the entry", () => {
  test("is read with its arguments, variables and hint", () => {
    const env = [{ name: "AWS_PROFILE", value: "prod" }, { name: "EMPTY" }];
    const exec = { apiVersion: v1, command: "aws", args: ["eks", "a;b"], env, interactiveMode: "Always", installHint: "see x" };
    expect(read(exec)).toEqual({
      plugin: { ...exec, env: { AWS_PROFILE: "prod", EMPTY: "" }, cluster: undefined },
      problems: [],
    });
  });

  test("of v1beta1 is IfAvailable by default, and null members count as absent", () => {
    for (const interactiveMode of [undefined, null, ""])
      expect(
        read({ apiVersion: v1beta1, command: "x", args: null, env: null, installHint: null, interactiveMode }),
      ).toMatchObject({
        plugin: { interactiveMode: "IfAvailable", args: [], env: {}, installHint: "" },
        problems: [],
      });
  });

  const good = { apiVersion: v1, command: "x", interactiveMode: "Never" };
  test.each<[string, unknown, RegExp]>([
    ["a text", "s3cret", /exec must be an object, but is a string/],
    ["no command", { ...good, command: "" }, /command is missing/],
    ["a command with a null character", { ...good, command: "a\0b" }, /command must be a string without a null/],
    ["v1alpha1", { ...good, apiVersion: "client.authentication.k8s.io/v1alpha1" }, /apiVersion must be .*\/v1 or .*v1beta1/],
    ["no apiVersion", { ...good, apiVersion: undefined }, /apiVersion must be/],
    ["v1 without interactiveMode", { ...good, interactiveMode: undefined }, /interactiveMode must be Never, IfAvailable, Always/],
    ["an unknown interactiveMode", { ...good, interactiveMode: "never" }, /interactiveMode must be/],
    ["arguments that are a text", { ...good, args: "eks" }, /args must be an array/],
    ["an argument that is a number", { ...good, args: [1] }, /args must be an array/],
    ["a variable without a name", { ...good, env: [{ value: "s3cret" }] }, /env must be an array/],
    ["a variable's name with =", { ...good, env: [{ name: "A=B", value: "s3cret" }] }, /env must be an array/],
    ["variables as an object", { ...good, env: { A: "s3cret" } }, /env must be an array/],
  ])("%s is refused", (_, exec, why) => {
    const { plugin, problems } = read(exec);
    expect([plugin, problems.length]).toEqual([undefined, 1]);
    expect(problems[0]).toMatch(why);
    expect(problems[0]).not.toContain("s3cret");
  });
});

describe("the input", () => {
  test("has no cluster unless the kubeconfig says so", () => {
    expect(JSON.parse(pluginInput(pluginOf(v1), true, btoa(pem)))).toEqual({
      apiVersion: v1,
      kind: "ExecCredential",
      spec: { interactive: true },
    });
  });

  test("has the cluster with its authority and the extension for plugins", () => {
    const plugin = pluginOf(v1beta1, { provideClusterInfo: true });
    expect(JSON.parse(pluginInput(plugin, false, btoa(pem)))).toEqual({
      apiVersion: v1beta1,
      kind: "ExecCredential",
      spec: {
        interactive: false,
        cluster: {
          server: "https://api.example",
          "tls-server-name": "kubernetes",
          "certificate-authority-data": btoa(pem),
          config: { audience: "a" },
        },
      },
    });
  });
});

describe("the output", () => {
  const output = (status: unknown, more: object = {}): ReturnType<typeof readPluginOutput> =>
    readPluginOutput(JSON.stringify({ apiVersion: v1, kind: "ExecCredential", status, ...more }), pluginOf(v1), "plugin x");

  test("gives a token with its end, or a certificate with its key", () => {
    expect(output({ token: "t", expirationTimestamp: "2026-01-01T00:00:00Z" })).toEqual({
      ok: true,
      value: { token: "t", certificate: undefined, expirationTimestamp: "2026-01-01T00:00:00Z" },
    });
    expect(output({ token: null, clientCertificateData: pem, clientKeyData: pem })).toEqual({
      ok: true,
      value: { token: undefined, certificate: { certificate: pem, key: pem }, expirationTimestamp: undefined },
    });
  });

  test.each<[string, ReturnType<typeof readPluginOutput>, RegExp]>([
    ["a bare token", readPluginOutput("s3cret\n", pluginOf(v1), "plugin x"), /no ExecCredential in JSON/],
    ["another kind", output({ token: "s3cret" }, { kind: "Secret" }), /no ExecCredential/],
    [
      "another version",
      output({ token: "s3cret" }, { apiVersion: v1beta1 }),
      /has apiVersion .*\/v1, but the output has .*v1beta1/,
    ],
    ["no version", output({ token: "s3cret" }, { apiVersion: 1 }), /but the output has none/],
    ["no status", output(undefined), /has no status/],
    ["an empty status", output({}), /neither a token nor a client certificate/],
    ["a token that is an object", output({ token: { a: "s3cret" } }), /not a string/],
    ["a key without its certificate", output({ token: "t", clientKeyData: "s3cret" }), /belong together/],
    ["a certificate that is not PEM", output({ clientCertificateData: pem, clientKeyData: "s3cret" }), /must be PEM/],
  ])("%s is refused, and no message has a part of it", (_, read1, msg) => {
    expect(read1).toMatchObject({ ok: false, fault: { kind: "CREDENTIALS_UNREADABLE", msg: expect.stringMatching(msg) } });
    expect(JSON.stringify(read1)).toContain("plugin x: ");
    expect(JSON.stringify(read1)).not.toContain("s3cret");
  });
});
