// The key `selinuxContext` of the delegate tap beside the reference plugin, where a policy of SELinux decides which process may open a tap.
// `npm run vm -- test/node/attach/selinux-context.test.ts` loads such a policy.

import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PodNamespace } from "../../lab/namespaces.ts";
import type { Answer } from "../../lab/plexus.ts";
import { newer, newerPlugins } from "../../lab/newer-plugins.ts";
import { iproute2, missing, privateNamespaces, tunDevice } from "../../lab/requires.ts";
import { labPolicy, machineContext, otherContext, removesTap } from "../../lab/selinux.ts";
import { openStage, type Stage } from "../../lab/stage.ts";

const kinds = ["native", "wasm"] as const;
type Kind = (typeof kinds)[number];

const unable = missing("the SELinux context of a tap", privateNamespaces, iproute2, tunDevice, labPolicy, newer);

describe.skipIf(unable)("DE-TAP-07", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = openStage({ components: ["tap"], native: ["tap"], findNative: (name) => join(newerPlugins() ?? "", name) });
  });
  afterEach(() => stage.dispose());

  async function call(
    verb: string,
    kind: Kind,
    pod: PodNamespace,
    selinuxContext?: string,
    granted: readonly string[] = ["*"],
  ): Promise<Answer> {
    // Generous, because an emulated machine is slow and the test measures no time.
    const limits = { timeMs: 60_000, admissionMs: 60_000 };
    const grants = { tap: { log: {}, delegation: { plugins: [] }, links: { selinuxContexts: granted } } };
    const wasm = { grants, limits, prefer: kind === "wasm" ? ["tap"] : [] };
    const plugin = { type: "tap", ...(selinuxContext === undefined ? {} : { selinuxContext }) };
    return stage.call(verb, { config: stage.network([plugin], { wasm }), containerId: pod.name, pod, ifname: "tap1" });
  }

  test.each(kinds)("DE-TAP-07: a process of the context may open the tap, and no other one: %s", async (kind) => {
    const pod = stage.pod();
    const { status, stdout } = await call("ADD", kind, pod, machineContext);
    expect([status, status === 0 ? "" : stdout]).toEqual([0, ""]);
    expect(removesTap(pod, "tap1", otherContext)).toBe(false);
    expect(pod.links()).toMatchObject([{ name: "tap1" }]);
    expect(removesTap(pod, "tap1", machineContext)).toBe(true);
    expect(pod.links()).toEqual([]);
    expect((await call("DEL", kind, pod, machineContext)).status).toBe(0);
  });

  test.each(kinds)("without the key no process of a virtual machine may open the tap: %s", async (kind) => {
    const pod = stage.pod();
    expect((await call("ADD", kind, pod)).status).toBe(0);
    expect(removesTap(pod, "tap1", machineContext)).toBe(false);
    expect((await call("DEL", kind, pod)).status).toBe(0);
    expect(pod.links()).toEqual([]);
  });

  test.each(kinds)("a context that the policy does not know fails the ADD, and leaves no tap: %s", async (kind) => {
    const pod = stage.pod();
    const { status, json } = await call("ADD", kind, pod, "system_u:system_r:unknown_t");
    expect([status, json?.msg]).toEqual([1, expect.stringMatching(/invalid argument/iu)]);
    expect(pod.links()).toEqual([]);
  });

  test("a context that the grant lacks is refused by name", async () => {
    const pod = stage.pod();
    const { status, json } = await call("ADD", "wasm", pod, machineContext, ["system_u:system_r:other_*"]);
    expect([status, json?.msg]).toEqual([1, expect.stringContaining("links.selinuxContexts")]);
    expect(pod.links()).toEqual([]);
  });
});
