// A network of each kind of component on a node without native plugins: a pod has what the plugin promises, and its DEL leaves nothing. `npm run vm --
// test/node/attach/component-networks.test.ts` runs it on Debian's kernel, for kinds that this kernel lacks.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { root } from "../../lab/compiled.ts";
import { componentGrants, shownElsewhere } from "../../lab/component-grants.ts";
import { componentNetworks } from "../../lab/component-networks.ts";
import { missingBuild } from "../../lab/plexus.ts";
import { iproute2, linkType, missing, privateNamespaces } from "../../lab/requires.ts";
import { nothing, openStage } from "../../lab/stage.ts";

const components = ["host-local", ...Object.keys(componentGrants)];
const needs = [privateNamespaces, iproute2, linkType("veth"), () => missingBuild({ components })] as const;

test("each component of the tree has a network here, or a test elsewhere", () => {
  const types = readdirSync(join(root, "delegates")).filter((name) => name !== "sdk");
  const shown = [...componentNetworks.map(({ type }) => type), ...Object.keys(shownElsewhere)];
  expect(types.filter((type) => !shown.includes(type))).toEqual([]);
});

describe.each(componentNetworks)("a network of $type", ({ type, requires = [], ...network }) => {
  const { plugins, runtimeConfig, prepare, prove, proveGone } = network;
  test.skipIf(missing(`a network of ${type}`, ...needs, ...requires))(
    "gives the pod what it promises, passes CHECK, and leaves nothing after DEL",
    async () => {
      const stage = openStage({ components });
      const remove = await prepare?.(stage.node);
      try {
        const grants = { ...componentGrants, "host-local": { leases: { directories: [stage.leases] }, resolver: {}, log: {} } };
        const config = stage.network(plugins, {
          ...(runtimeConfig === undefined ? {} : { runtimeConfig }),
          wasm: { grants },
        });
        const attaching = { config, containerId: "c1", pod: stage.pod(), ifname: "net1" };
        const before = stage.left().links;
        await stage.succeed("ADD", attaching);
        expect(stage.steps().map(({ kind }) => kind)).not.toContain("native");
        prove({ node: stage.node, pod: attaching.pod, ifname: "net1" });
        await stage.succeed("CHECK", attaching);
        await stage.succeed("DEL", attaching);
        await stage.succeed("DEL", attaching);
        expect(stage.left()).toEqual({ ...nothing, links: before });
        expect(attaching.pod.links()).toEqual([]);
        proveGone?.(stage.node);
      } finally {
        await remove?.();
        stage.dispose();
      }
    },
  );
});
