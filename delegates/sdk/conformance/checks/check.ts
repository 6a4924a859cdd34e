// The checks of CHECK: it succeeds after an ADD, and fails after each kind of change behind the plugin's back.

import type { CniResult } from "../../../../src/cni/result.ts";
import { type Check, demand, Skip } from "../check.ts";
import type { Lab } from "../lab.ts";
import { wordsOf } from "../reply.ts";
import { changedKeys, kindOf, remains } from "../state-change.ts";
import type { State, StateKind } from "../subject.ts";

const losses: readonly (readonly [number: number, kind: StateKind, title: string])[] = [
  [2, "link", "CHECK fails if the pod's interface is missing."],
  [3, "address", "CHECK fails if an address of the pod is missing."],
  [4, "route", "CHECK fails if a route of the pod is missing."],
  [5, "lease", "CHECK fails if the address is no longer reserved."],
  [6, "rules", "CHECK fails if rules of the firewall are missing."],
  [7, "sysctl", "CHECK fails if a sysctl has another value."],
  [8, "attribute", "CHECK fails if the interface's MAC, MTU or flags have other values."],
];

/** The checks, in the order of the catalogue. */
export const checkChecks: readonly Check[] = [
  {
    id: "CHK-1",
    title: "CHECK after an ADD succeeds.",
    section: "check",
    since: "0.4.0",
    async run(lab) {
      const { attachment, text, result } = await lab.added();
      const reply = await lab.run("CHECK", attachment, { prevResult: text });
      const absent = reply.status === 0 ? [] : missingFrom(await lab.state(attachment), lab, result);
      // CHECK is right then.
      if (absent.length > 0) throw new Skip(`ADD does not make ${absent.join(", ")}, see ADD-7 and ADD-9`);
      demand(reply.status === 0, `CHECK fails: ${wordsOf(reply)}`);
    },
  },
  ...losses.map(([number, kind, title]): Check => ({
    id: `CHK-${number}`,
    title,
    section: "check",
    since: "0.4.0",
    async run(lab) {
      const pod = await lab.pod();
      const before = await lab.state(pod);
      const { text } = await lab.added(pod);
      const now = await lab.state(pod);
      if (changesOf(kind, before, now).length === 0) throw new Skip("ADD changes nothing of this kind");
      const sound = await lab.run("CHECK", pod, { prevResult: text });
      if (sound.status !== 0) throw new Skip(`CHECK fails without a change, see CHK-1: ${wordsOf(sound)}`);
      await lab.node.restore(pod.netns, kind, before, now);
      const reply = await lab.run("CHECK", pod, { prevResult: text });
      demand(reply.status !== 0, `CHECK succeeds without ${changesOf(kind, before, now).join(", ")}`);
    },
  })),
  {
    id: "CHK-9",
    title: "CHECK changes nothing.",
    section: "check",
    since: "0.4.0",
    async run(lab) {
      const { attachment, text } = await lab.added();
      const before = await lab.state(attachment);
      await lab.run("CHECK", attachment, { prevResult: text });
      const changed = remains(before, await lab.state(attachment));
      demand(changed === "", changed);
    },
  },
];

/** The keys of an interface of the result that the state lacks. */
function missingFrom(state: State, { setup }: Lab, { ips }: CniResult): readonly string[] {
  if (setup.role !== "interface") return [];
  const expected = [`link pod ${setup.ifname}`, ...ips.map(({ address }) => `address pod ${setup.ifname} ${address}`)];
  return expected.filter((key) => !state.has(key));
}

/** The changes of a kind in the pod and of its leases and rules. A new link's attributes are part of the link. */
function changesOf(kind: StateKind, before: State, now: State): readonly string[] {
  return changedKeys(before, now, [kind]).filter((key) => {
    if (kind === "lease" || kind === "rules" || kind === "sysctl") return true;
    return key.startsWith(`${kindOf(key)} pod `) && (kind !== "attribute" || before.has(key));
  });
}
