// Runs checks, each on a fresh node.

import { type CniVersion, SUPPORTED_VERSIONS, versionAtLeast } from "../../../src/cni/versions.ts";
import { type Check, type Outcome, Skip, Violation } from "./check.ts";
import { Lab, type SharedReplies } from "./lab.ts";
import { jsonIn } from "./reply.ts";
import type { Setup } from "./setup.ts";
import type { Subject } from "./subject.ts";

/** Versions of a plugin whose answer to VERSION is unusable. */
const assumedVersions = ["0.4.0"] as const;

/** Checks of a native plugin that run at once: most of their time is the kernel's, which makes and removes namespaces. */
const nativeChecksAtOnce = 8;

/**
 * Runs the checks. `ended` is called for each, in their order. Rejects with a Skip if the machine can't
 * have a node as the set-up describes, and with another error for a defect of the kit.
 */
export async function runChecks(
  subject: Subject,
  setup: Setup,
  checks: readonly Check[],
  ended: (outcome: Outcome) => void = () => {},
): Promise<readonly Outcome[]> {
  const versions = await supportedVersions(subject, setup);
  const shared: SharedReplies = {};
  const outcomes: (Outcome | undefined)[] = checks.map(() => undefined);
  let [next, reported] = [0, 0];
  const work = async (): Promise<void> => {
    for (let at = next; at < checks.length; at = next) {
      next += 1;
      const check = checks[at];
      if (check === undefined) return;
      const started = performance.now();
      const judged = await judge(subject, setup, check, versions, shared);
      outcomes[at] = { check, ...judged, ms: performance.now() - started };
      for (let done = outcomes[reported]; done !== undefined; done = outcomes[reported]) {
        reported += 1;
        ended(done);
      }
    }
  };
  await Promise.all(Array.from({ length: subject.kind === "native" ? nativeChecksAtOnce : 1 }, work));
  return outcomes.filter((outcome) => outcome !== undefined);
}

type Judged = Pick<Outcome, "verdict" | "why">;

async function judge(
  subject: Subject,
  setup: Setup,
  check: Check,
  versions: readonly CniVersion[],
  shared: SharedReplies,
): Promise<Judged> {
  const inapplicable = reasonToSkip(subject, setup, check, versions);
  if (inapplicable !== undefined) return { verdict: "skipped", why: inapplicable };
  try {
    const node = await subject.openNode(setup);
    try {
      await check.run(new Lab(subject, setup, node, versions, shared));
      return { verdict: "passed", why: "" };
    } finally {
      await node.dispose();
    }
  } catch (error) {
    if (error instanceof Violation) return { verdict: "failed", why: error.message };
    if (error instanceof Skip) return { verdict: "skipped", why: error.message };
    throw error;
  }
}

function reasonToSkip(subject: Subject, setup: Setup, check: Check, versions: readonly CniVersion[]): string | undefined {
  const own = setup.skip[check.id];
  if (own !== undefined) return own;
  if (check.kinds?.includes(subject.kind) === false) return "a node does this for a component";
  if (check.roles?.includes(setup.role) === false) return `not for the role ${setup.role}`;
  if (check.delegates === true && setup.configuration["ipam"] === undefined) return "the configuration has no ipam";
  const { since } = check;
  if (since !== undefined && !versions.some((version) => isAtLeast(version, since)))
    return `the plugin does not support ${since}`;
  return undefined;
}

function isAtLeast(version: string, floor: CniVersion): boolean {
  const holds = versionAtLeast(version, floor);
  return holds.ok && holds.value;
}

async function supportedVersions(subject: Subject, setup: Setup): Promise<readonly CniVersion[]> {
  const node = await subject.openNode(setup);
  try {
    const reply = await node.execute({ verb: "VERSION", env: {}, stdin: `{"cniVersion":"1.0.0"}` });
    const named = reply.status === 0 ? jsonIn(reply.stdout)?.["supportedVersions"] : undefined;
    const known = SUPPORTED_VERSIONS.filter((version) => Array.isArray(named) && named.includes(version));
    return known.length === 0 ? assumedVersions : known;
  } finally {
    await node.dispose();
  }
}
