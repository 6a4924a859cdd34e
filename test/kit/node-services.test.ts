// The services of a set-up, on a correct IPAM plugin.

import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compiledPlugin } from "../lab/compiled.ts";
import { iproute2, linkType, missing, privateNamespaces } from "../lab/requires.ts";
import { catalogue } from "../../delegates/sdk/conformance/catalogue.ts";
import type { Outcome } from "../../delegates/sdk/conformance/check.ts";
import { runChecks } from "../../delegates/sdk/conformance/run-checks.ts";
import { type Setup, setupOf } from "../../delegates/sdk/conformance/setup.ts";
import { nativeSubject } from "../../delegates/sdk/conformance/native/native-subject.ts";

let directory: string;
let plugin: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-services-"));
  plugin = join(directory, "flawed-none");
  symlinkSync(compiledPlugin("flawed"), plugin);
});
afterAll(() => rmSync(directory, { recursive: true }));

const configuration = { ipam: { type: "flawed-none", dataDir: "$STATE" } };
const setupWith = (members: object): Setup => setupOf("conformance.json", { configuration, ...members }, "flawed-none");

/** The outcome of one check. */
async function checked(setup: Setup, id: string, withoutNamespaces?: string): Promise<Outcome | undefined> {
  const chosen = catalogue.filter((check) => check.id === id);
  const [outcome] = await runChecks(nativeSubject(plugin, withoutNamespaces), setup, chosen);
  return outcome;
}

describe("a set-up with services", () => {
  test("names the mistake in a bridge and in the file of a service", () => {
    expect(() => setupWith({ bridge: "kit0" })).toThrow(
      'conformance.json: bridge: kit0 is no bridge of links: add { "name": "kit0" } there',
    );
    const services = [{ command: "true", ready: "/tmp/ready" }];
    expect(() => setupWith({ services })).toThrow("conformance.json: services.0.ready: must begin with $RUN/");
  });

  test("is skipped by name where there are no namespaces", async () => {
    const services = [{ command: "true", ready: "$RUN/ready" }];
    await expect(checked(setupWith({ services }), "ADD-1", "no user namespaces")).rejects.toThrow(
      "services need network namespaces: no user namespaces",
    );
  });
});

const skip = missing("services of the conformance kit", privateNamespaces, iproute2, linkType("veth"), linkType("bridge"));
describe.skipIf(skip)("a service", () => {
  test("runs on the node beside the plugin, sees the pods' bridge, and ends with the check", async () => {
    const log = join(directory, "log");
    const command = `ip -br link show kit0 >${log}; echo $$ >>${log}; echo "$PLUGIN" >>${log}; touch $RUN/ready; sleep 600 & wait`;
    const setup = setupWith({
      links: [{ name: "kit0" }],
      bridge: "kit0",
      services: [{ command, ready: "$RUN/ready" }],
    });
    expect(await checked(setup, "ADD-1")).toMatchObject({ verdict: "passed" });
    const [link = "", pid = "", file] = readFileSync(log, "utf8").split("\n");
    expect(link).toMatch(/^kit0 /);
    expect(file).toBe(plugin);
    expect(existsSync(`/proc/${pid}`)).toBe(false);
  });

  test("that ends is the reason for which the checks are skipped", async () => {
    const services = [{ command: "echo no such option >&2; exit 3", ready: "$RUN/ready" }];
    const outcome = await checked(setupWith({ services }), "ADD-1").catch((error: unknown) => String(error));
    expect(JSON.stringify(outcome)).toContain("ended: no such option");
  });
});
