// Each check that applies to components fails for the one defect of test/delegates/flawed/ that breaks its rule, and for no other.

import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { defaultLimits } from "../../../host/sandbox/limits.ts";
import { testDelegate } from "../../../test/delegates/built.ts";
import { prepared, type PreparedComponent } from "../component/run.ts";
import { catalogue } from "./catalogue.ts";
import { componentSubject } from "./component/component-subject.ts";
import { runChecks } from "./run-checks.ts";
import { type Role, setupOf } from "./setup.ts";

/** The check that a defect fails, by role. */
const defects: readonly (readonly [flaw: string, check: string, role: Role])[] = [
  ["add-fails", "ADD-1", "interface"],
  ["lists-no-interface", "ADD-4", "interface"],
  ["wrong-index", "ADD-5", "interface"],
  ["ipam-lists-interface", "ADD-6", "ipam"],
  ["makes-no-link", "ADD-7", "interface"],
  ["accepts-existing", "ADD-8", "interface"],
  ["sets-no-address", "ADD-9", "interface"],
  ["drops-interfaces", "PREV-1", "chained"],
  ["drops-routes", "PREV-2", "chained"],
  ["drops-dns", "PREV-3", "chained"],
  ["del-fails", "DEL-1", "interface"],
  ["del-keeps-link", "DEL-2", "interface"],
  ["del-needs-link", "DEL-3", "interface"],
  ["del-needs-add", "DEL-4", "interface"],
  ["del-needs-netns", "DEL-5", "interface"],
  ["del-keeps-lease", "DEL-6", "ipam"],
  ["del-needs-namespace", "DEL-7", "interface"],
  ["del-needs-result", "DEL-9", "interface"],
  ["check-fails", "CHK-1", "interface"],
  ["check-ignores-link", "CHK-2", "interface"],
  ["check-ignores-address", "CHK-3", "interface"],
  ["check-ignores-route", "CHK-4", "interface"],
  ["check-ignores-lease", "CHK-5", "ipam"],
  ["check-ignores-rules", "CHK-6", "interface"],
  ["check-ignores-sysctl", "CHK-7", "chained"],
  ["check-ignores-attribute", "CHK-8", "chained"],
  ["gc-does-nothing", "GC-1", "ipam"],
  ["gc-removes-all", "GC-2", "ipam"],
  ["gc-fails", "GC-3", "ipam"],
  ["status-fails", "STA-1", "interface"],
  ["status-wrong-code", "STA-2", "interface"],
  ["wrong-code", "ERR-7", "interface"],
  ["refuses-args", "KEY-1", "interface"],
  ["changes-ipam-config", "DLG-1", "interface"],
  ["ignores-ipam", "DLG-2", "interface"],
  ["del-keeps-ipam", "DLG-3", "interface"],
  ["check-ignores-ipam", "DLG-4", "interface"],
  ["gc-keeps-ipam", "DLG-5", "interface"],
  ["status-keeps-ipam", "DLG-6", "interface"],
  ["races", "CON-1", "ipam"],
  ["assigns-twice", "CON-2", "ipam"],
];

let component: PreparedComponent;

beforeAll(async () => {
  const bytes = readFileSync(await testDelegate("flawed"));
  const made = prepared({ type: "flawed", bytes, granted: undefined, limits: defaultLimits });
  if (!made.ok) throw new Error(made.fault.msg);
  component = made.value;
});

/** The outcomes of a defect, of the checks with this verdict: ID and reason. */
async function outcomesOf(role: Role, flaw: string, verdict: "failed" | "passed"): Promise<Record<string, string>> {
  const ipam = role === "chained" ? {} : { ipam: { type: role === "ipam" ? "flawed" : "any" } };
  const rules = role === "interface" ? { rules: true } : {};
  const configuration = { does: role, flaw, ...ipam, ...rules };
  const sysctl = { "net/core/somaxconn": "4096" };
  const setup = setupOf(
    "test",
    { role, configuration, sysctl, invalid: { invalid: true }, notReady: { ready: false } },
    "flawed",
  );
  const outcomes = await runChecks(componentSubject("flawed", component), setup, catalogue);
  return Object.fromEntries(outcomes.filter((each) => each.verdict === verdict).map(({ check, why }) => [check.id, why]));
}

describe("X-7: the conformance kit on a component", () => {
  test.each(["interface", "chained", "ipam"] as const)("a correct component of the role %s fails no check", async (role) => {
    expect(await outcomesOf(role, "", "failed")).toEqual({});
  });

  test("each defect fails exactly its check", async () => {
    const found: (readonly [string, readonly string[]])[] = [];
    for (const [flaw, , role] of defects) found.push([flaw, Object.keys(await outcomesOf(role, flaw, "failed"))]);
    expect(found).toEqual(defects.map(([flaw, check]) => [flaw, [check]]));
  });

  test("the correct components pass every check that a defect fails", async () => {
    const passed = await Promise.all((["interface", "chained", "ipam"] as const).map((role) => outcomesOf(role, "", "passed")));
    const ids = new Set(passed.flatMap((each) => Object.keys(each)));
    expect(defects.map(([, check]) => check).filter((id) => !ids.has(id))).toEqual([]);
  });
});
