import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type CallRequest, readRequest } from "./read-configuration.ts";

const path = "/opt/cni/bin";
const base = { cniVersion: "1.1.0", name: "pods", type: "plexus", clusterNetwork: "main" };

function read(verb: "ADD" | "DEL" | "STATUS", more: object, on = path): CallRequest {
  const request = readRequest(verb, on, JSON.stringify({ ...base, ...more }));
  if (!request.ok) throw new Error(request.fault.msg);
  return request.value;
}

test("a repeated text is parsed once for each verb and CNI_PATH", () => {
  const first = read("ADD", {});
  expect(read("ADD", {})).toBe(first);
  expect(read("ADD", { namespaceIsolation: true })).not.toBe(first);
  expect(read("STATUS", {})).not.toBe(first);
  expect(read("ADD", {}, "/usr/lib/cni")).not.toBe(first);
});

test("a binDir that is not the first directory of CNI_PATH is a fault", () => {
  const configuration = { binDir: "/opt/own/bin" };
  expect(read("ADD", configuration, "/opt/own/bin:/opt/cni/bin").configured.ok).toBe(true);
  expect(read("ADD", configuration).configured).toMatchObject({ ok: false, fault: { kind: "CONFIG_INVALID" } });
});

test("a text with a single pod's result or with a configFile is parsed each time", () => {
  const withResult = { prevResult: { cniVersion: "1.0.0" } };
  expect(read("DEL", withResult)).not.toBe(read("DEL", withResult));
  const directory = mkdtempSync(join(tmpdir(), "plexus-request-"));
  try {
    const file = join(directory, "plexus.json");
    // The second spelling is canonicalised.
    for (const key of ["configFile", "configfile"]) {
      for (const stepTimeoutMs of [1000, 2000]) {
        writeFileSync(file, JSON.stringify({ stepTimeoutMs }));
        const { configured } = read("ADD", { [key]: file });
        expect(configured).toMatchObject({ ok: true, value: { configuration: { stepTimeoutMs } } });
      }
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("the cache removes the least recently used text, and keeps a text in frequent use", () => {
  const rare = read("ADD", { log: { level: "debug" } });
  const frequent = read("ADD", {});
  for (let number = 0; number < 100; number++) {
    read("ADD", { runtimeConfig: { number } });
    expect(read("ADD", {})).toBe(frequent);
  }
  expect(read("ADD", { log: { level: "debug" } })).not.toBe(rare);
});
