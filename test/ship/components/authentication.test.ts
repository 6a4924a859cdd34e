// Token and basic authentication against docker-registry with TLS, and a token server whose tokens the registry verifies.

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeAuthority } from "../../lab/kube/certificates.ts";
import { dist, missingBuild } from "../../lab/plexus.ts";
import { ComponentNode } from "../../lab/registry/component-node.ts";
import { dockerRegistry } from "../../lab/registry/programs.ts";
import { basicUser, type Registry, startRegistry } from "../../lab/registry/registry.ts";
import { startTokenServer, type TokenServer } from "../../lab/registry/token-server.ts";
import { missing } from "../../lab/requires.ts";

const build = missingBuild({ components: ["tuning"] });
if (build !== undefined) throw new Error(build);

const tuning = join(dist, "delegates", "tuning.wasm");

function encoded(text: string): string {
  return Buffer.from(text).toString("base64");
}

describe.skipIf(missing("authentication at a registry", dockerRegistry))("authentication at a registry", () => {
  let home: ComponentNode;
  let node: ComponentNode;
  let tokens: TokenServer;
  let tokenRegistry: Registry;
  let basicRegistry: Registry;
  let ca: string;

  beforeAll(async () => {
    home = new ComponentNode();
    const authority = makeAuthority(join(home.directory, "ca"), "test authority");
    const tls = authority.issue("registry", { commonName: "registry", alternativeNames: ["IP:127.0.0.1"] });
    ca = authority.certificate;
    const signer = authority.issue("tokens", { commonName: "tokens", alternativeNames: ["DNS:tokens"] });
    const rights = { "author:letmein": ["pull", "push"], "reader:readonly": ["pull"], "refresh-1": ["pull"] };
    tokens = await startTokenServer({ tls, signer, rights });
    for (const name of ["token", "basic"]) mkdirSync(join(home.directory, name));
    tokenRegistry = await startRegistry({ directory: join(home.directory, "token"), tls, auth: tokens });
    basicRegistry = await startRegistry({ directory: join(home.directory, "basic"), tls, auth: "basic" });
  });
  afterAll(async () => {
    await tokenRegistry?.dispose();
    await basicRegistry?.dispose();
    await tokens?.dispose();
    home?.dispose();
  });
  beforeEach(() => {
    node = new ComponentNode();
  });
  afterEach(() => node.dispose());

  function credentials(auths: object): readonly string[] {
    return ["--credentials", node.file("config.json", { auths }), "--ca", ca];
  }

  test("a token is asked for with the user's password, for this repository only, and used for all requests", async () => {
    const { host } = tokenRegistry;
    const seen = tokens.seen.length;
    const author = credentials({ [host]: { auth: encoded("author:letmein") } });
    expect(await node.run("push", tuning, `${host}/team/tuning:1`, ...author)).toMatchObject({ status: 0, stderr: "" });
    const asked = tokens.seen.slice(seen);
    expect(new Set(asked.map(({ credential }) => credential))).toEqual(new Set(["author:letmein"]));
    expect(asked.every(({ scope }) => scope.startsWith("repository:team/tuning:"))).toBe(true);
    expect(asked.length).toBeLessThanOrEqual(3);
    const reader = credentials({ [`https://${host}/v1/`]: { auth: encoded("reader:readonly") } });
    expect(await node.pull(`${host}/team/tuning:1`, ...reader)).toMatchObject({ status: 0, stderr: "" });
  });

  test("an identity token is exchanged for a token", async () => {
    const { host } = tokenRegistry;
    const author = credentials({ [host]: { username: "author", password: "letmein" } });
    expect(await node.run("push", tuning, `${host}/identity/tuning:1`, ...author)).toMatchObject({ status: 0 });
    const seen = tokens.seen.length;
    const pulled = await node.pull(`${host}/identity/tuning:1`, ...credentials({ [host]: { identitytoken: "refresh-1" } }));
    expect(pulled).toMatchObject({ status: 0, stderr: "" });
    expect(tokens.seen.slice(seen)[0]).toMatchObject({ method: "POST", credential: "refresh-1" });
  });

  test.each([
    ["no credentials", {}, "refuses a request without credentials with 401"],
    ["a wrong password", { auth: encoded("author:wrong") }, "refuses the credentials with 401"],
  ])("the token server refuses %s", async (_, entry, text) => {
    const { host } = tokenRegistry;
    const { status, stderr } = await node.pull(`${host}/team/tuning:1`, ...credentials({ [host]: entry }));
    expect(status).toBe(1);
    expect(stderr).toContain(text);
    expect(stderr).toContain("[REGISTRY_UNAUTHORIZED]");
    expect(stderr).not.toContain("wrong");
    expect(existsSync(node.lock)).toBe(false);
  });

  test("a user who may only pull cannot push", async () => {
    const { host } = tokenRegistry;
    const reader = credentials({ [host]: { auth: encoded("reader:readonly") } });
    const { status, stderr } = await node.run("push", tuning, `${host}/team/other:1`, ...reader);
    expect(status).toBe(1);
    expect(stderr).toContain("[REGISTRY_UNAUTHORIZED]");
  });

  test("basic authentication", async () => {
    const { host } = basicRegistry;
    const reference = `${host}/team/tuning:1`;
    const robot = credentials({ [host]: { auth: encoded(`${basicUser.username}:${basicUser.password}`) } });
    expect(await node.run("push", tuning, reference, ...robot)).toMatchObject({ status: 0, stderr: "" });
    expect(await node.pull(reference, ...robot)).toMatchObject({ status: 0, stderr: "" });
    const refused = await node.pull(reference, "--ca", ca);
    expect(refused.stderr).toContain("asks for a user and a password, but none is given");
    const wrong = await node.pull(reference, ...credentials({ [host]: { username: basicUser.username, password: "no" } }));
    expect(wrong.stderr).toContain("[REGISTRY_UNAUTHORIZED]");
  });

  test("a credential helper is not run, but named", async () => {
    const { host } = basicRegistry;
    const file = node.file("config.json", { credHelpers: { [host]: "ecr-login" } });
    const { status, stderr } = await node.pull(`${host}/team/tuning:1`, "--credentials", file, "--ca", ca);
    expect(status).toBe(1);
    expect(stderr).toContain('the helper "ecr-login", which Plexus does not run');
  });

  test("a certificate of an unknown authority, and a registry that has TLS but is asked without", async () => {
    const { host } = basicRegistry;
    const untrusted = await node.pull(`${host}/team/tuning:1`);
    expect(untrusted.stderr).toContain("[REGISTRY_UNREACHABLE]");
    expect(untrusted.stderr).toMatch(/certificate/);
    const plain = await node.pull(`${host}/team/tuning:1`, "--plain-http", host);
    expect(plain.status).toBe(1);
    expect(plain.stderr).toMatch(/\[REGISTRY_(?:REFUSED|UNREACHABLE)\]/);
  });
});
