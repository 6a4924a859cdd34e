// Each check of native plugins fails for the one defect of test/lab/plugins/flawed.c that breaks its rule, and for no other.

import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compiledPlugin } from "../lab/compiled.ts";
import { iproute2, linkType, missing, privateNamespaces } from "../lab/requires.ts";
import { catalogue } from "../../delegates/sdk/conformance/catalogue.ts";
import { nativeSubject } from "../../delegates/sdk/conformance/native/native-subject.ts";
import { runChecks } from "../../delegates/sdk/conformance/run-checks.ts";
import { type Role, setupOf } from "../../delegates/sdk/conformance/setup.ts";
import { nativeDefects } from "../../delegates/sdk/conformance/testing/defects.ts";

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-kit-"));
});
afterAll(() => rmSync(directory, { recursive: true }));

/** The IDs of the checks with this verdict, with the reasons. An IPAM plugin needs no namespaces. */
async function outcomesOf(role: Role, flaw: string, verdict: "failed" | "passed"): Promise<Record<string, string>> {
  const file = join(directory, `flawed-${flaw}`);
  symlinkSync(compiledPlugin("flawed"), file);
  const ipam = role === "ipam" ? { ipam: { type: `flawed-${flaw}`, dataDir: "$STATE" } } : {};
  const setup = setupOf(
    "test",
    { role, configuration: ipam, invalid: { invalid: true }, notReady: { ready: false }, attachments: 4 },
    "",
  );
  const subject = nativeSubject(file, role === "ipam" ? "the test makes no namespaces" : undefined);
  const outcomes = await runChecks(subject, setup, catalogue);
  return Object.fromEntries(outcomes.filter((each) => each.verdict === verdict).map(({ check, why }) => [check.id, why]));
}

describe("X-7: the conformance kit on a native plugin", () => {
  test("a correct IPAM plugin fails no check, and passes every check that a defect fails", async () => {
    expect(await outcomesOf("ipam", "", "failed")).toEqual({});
    const passed = Object.keys(await outcomesOf("ipam", "none", "passed"));
    const expected = nativeDefects.filter(([, , role]) => role === "ipam").map(([, check]) => check);
    expect(expected.filter((id) => !passed.includes(id))).toEqual([]);
  });

  test.each(nativeDefects.filter(([, , role]) => role === "ipam"))("the defect %s fails %s alone", async (flaw, check, role) => {
    expect(await outcomesOf(role, flaw, "failed")).toEqual({ [check]: expect.any(String) });
  });
});

const skip = missing("the conformance kit on a chained native plugin", privateNamespaces, iproute2, linkType("veth"));
describe.skipIf(skip)("X-7: the conformance kit on a chained native plugin", () => {
  test("a correct plugin fails no check", async () => {
    expect(await outcomesOf("chained", "not", "failed")).toEqual({});
  });

  test.each(nativeDefects.filter(([, , role]) => role === "chained"))(
    "the defect %s fails %s alone",
    async (flaw, check, role) => {
      expect(await outcomesOf(role, flaw, "failed")).toEqual({ [check]: expect.any(String) });
    },
  );
});
