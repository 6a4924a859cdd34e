import { mkdtempSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import type { CredentialSource } from "./credentials.ts";
import { keptCredentials } from "./kept-credentials.ts";
import { systemClock } from "../../system/clock.ts";

let directory = "";
let path = "";
let source: CredentialSource;
const warnings: string[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-kept-"));
  path = join(directory, "kubeconfig");
  source = keptCredentials(path, { allowInsecure: false }, (text) => void warnings.push(text), systemClock);
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
  warnings.length = 0;
});

const kubeconfig = (server: string): string =>
  JSON.stringify({
    clusters: [{ name: "c", cluster: { server } }],
    users: [{ name: "u", user: { tokenFile: "token" } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  });
const write = (token: string, server = "https://one.example"): void => {
  writeFileSync(join(directory, "token"), token);
  writeFileSync(path, kubeconfig(server));
};

test("unchanged files give the same object", async () => {
  write("one");
  const first = await source();
  expect(first).toMatchObject({ ok: true, value: { token: "one", server: "https://one.example" } });
  const second = await source();
  write("one");
  const third = await source();
  expect(first.ok && second.ok && third.ok && first.value === second.value && second.value === third.value).toBe(true);
});

test("MC-14: a changed token, kubeconfig or link takes effect at the next read, even in quick succession", async () => {
  write("one");
  await source();
  for (let turn = 0; turn < 20; turn++) {
    writeFileSync(join(directory, "token"), `t${turn % 10}`);
    expect(await source()).toMatchObject({ value: { token: `t${turn % 10}` } });
  }
  write("one", "https://two.example");
  expect(await source()).toMatchObject({ value: { server: "https://two.example" } });
  writeFileSync(join(directory, "other-token"), "other");
  unlinkSync(join(directory, "token"));
  symlinkSync("other-token", join(directory, "token"));
  expect(await source()).toMatchObject({ value: { token: "other" } });
});

test("an incomplete or removed kubeconfig leaves the earlier credentials in force, with one warning", async () => {
  write("one");
  const first = await source();
  writeFileSync(path, kubeconfig("https://two.example").slice(0, 40));
  expect([await source(), await source()]).toEqual([first, first]);
  expect(warnings).toEqual([expect.stringMatching(/^the previously read credentials stay in use: kubeconfig .* is not JSON/)]);
  unlinkSync(path);
  expect(await source()).toEqual(first);
  expect(warnings).toEqual([expect.anything(), expect.stringContaining("ENOENT")]);
  write("two");
  expect(await source()).toMatchObject({ value: { token: "two" } });
});

test("a missing kubeconfig is a fault, and is read once it exists", async () => {
  expect(await source()).toMatchObject({ ok: false, fault: { kind: "CREDENTIALS_UNREADABLE" } });
  write("one");
  expect(await source()).toMatchObject({ ok: true });
});
