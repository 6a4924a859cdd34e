import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { ENOENT } from "../../system/errno.ts";
import { routingFor } from "./scope.ts";

/** A shim in whose node the pod's namespace is gone. Each answer comes in a later turn, so that requests of one turn overlap. */
function slowShim(): { readonly mostAtOnce: () => number; readonly netlink: Parameters<typeof routingFor>[1]["netlink"] } {
  let open = 0;
  let most = 0;
  return {
    mostAtOnce: () => most,
    async netlink() {
      most = Math.max(most, ++open);
      await setImmediate();
      open--;
      return { kind: "done", errno: ENOENT, sent: false, reply: new Uint8Array(0) };
    },
  };
}

const scope = {
  type: "sbr",
  verb: "ADD",
  hasPod: true,
  grant: {},
  netns: "/run/netns/gone",
} as const;

test("the dumps of rules, routes and VRFs are one round trip to the shim", async () => {
  const shim = slowShim();
  expect(await routingFor(scope, shim).freeTables(2)).toEqual({ ok: [100, 101] });
  expect(shim.mostAtOnce()).toBe(5);
});

test("the dumps of both families' rules are one round trip", async () => {
  const shim = slowShim();
  expect(await routingFor(scope, shim).listRules("pod")).toEqual({ ok: [] });
  expect(shim.mostAtOnce()).toBe(2);
});
