// A daemon that an attacker has taken over, and the key `devices` of the node's policy: tries to move another link of the node, and to give the node a link.

import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

import type { Done } from "../../../host/protocol/messages.ts";
import { EKEYREJECTED } from "../../../host/system/errno.ts";
import { addressStateIn } from "../../../host/system/netlink/address.ts";
import {
  attribute,
  u32Attribute,
  decodeAnswers,
  encodeRequests,
  type NetlinkRequest,
} from "../../../host/system/netlink/message.ts";
import { concat, cString } from "../../../host/system/netlink/bytes.ts";
import { SECOND_NAMESPACE } from "../../../host/system/netlink/exchange.ts";
import {
  IFLA_IFNAME,
  IFLA_NET_NS_FD,
  ifinfomsg,
  NLM_F_CREATE,
  NLM_F_DUMP,
  NLM_F_EXCL,
  RTM_NEWLINK,
  RTM_SETLINK,
} from "../../../host/system/netlink/link-attributes.ts";
import { linkRename, nameAddition } from "../../../host/system/netlink/link-change.ts";
import { linkMove } from "../../../host/system/netlink/link-move.ts";
import { createPodNamespace, missingPrivateNamespaces, type PodNamespace } from "../../lab/namespaces.ts";
import { missing, type Requirement } from "../../lab/requires.ts";
import { type PolicyShim, shimWithPolicy } from "../../node/shim/testing/policy-shim.ts";
import { callWith, type EngineSide } from "../../node/shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../../node/shim/testing/workshop.ts";

const root: Requirement = () => (process.geteuid?.() === 0 ? undefined : "only root can make a file that belongs to root");
/** linux/if_link.h, linux/if_addr.h, linux/rtnetlink.h. */
const [IFLA_NET_NS_PID, IFA_TARGET_NETNSID, RTM_GETADDR, RTM_GETMULTICAST] = [19, 10, 22, 58] as const;
/** The id by which the pod knows the node's namespace. */
const nodeId = 7;

const indexIn = (where: PodNamespace, name: string): number => {
  const [link] = JSON.parse(where.exec(["ip", "-j", "link", "show", "dev", name]).stdout) as { readonly ifindex: number }[];
  return link?.ifindex ?? 0;
};
const namesIn = (where: PodNamespace): readonly string[] =>
  where
    .links()
    .map(({ name }) => name.replace(/@.*/u, ""))
    .toSorted();
const send = (engine: EngineSide, path: string, requests: readonly NetlinkRequest[], second?: string): Promise<Done> =>
  engine.netlink({ path, request: encodeRequests(requests), deadlineMs: 60_000, second, allowsOwn: true });
const secondNamespace = u32Attribute(IFLA_NET_NS_FD, SECOND_NAMESPACE);
const named = (name: string, ...more: readonly Uint8Array[]): Uint8Array =>
  concat([ifinfomsg(), attribute(IFLA_IFNAME, cString(name)), ...more]);

describe.skipIf(missing("the node's policy", root) || missing("network namespaces", missingPrivateNamespaces))(
  "with `devices`",
  () => {
    let shop: Workshop;
    let bounded: PolicyShim;
    let node: PodNamespace;
    let pod: PodNamespace;
    beforeAll(async () => {
      shop = await openWorkshop();
      bounded = await shimWithPolicy(shop.directory, "moved-devices");
    });
    afterAll(() => {
      bounded?.dispose();
      shop.dispose();
    });
    beforeEach(() => {
      node = createPodNamespace("node");
      pod = createPodNamespace("pod");
      node.exec(["ip", "link", "add", "devown", "type", "veth", "peer", "name", "devother"]);
      pod.exec(["ip", "netns", "set", node.name, String(nodeId)]);
    });
    afterEach(() => {
      node.dispose();
      pod.dispose();
    });

    const policy = (content: unknown): void => {
      writeFileSync(bounded.file, JSON.stringify(content));
      chmodSync(bounded.file, 0o644);
    };
    /** Runs `script` as the daemon of a call on the node. */
    const attack = async (script: (engine: EngineSide) => Promise<void>): Promise<void> => {
      await callWith(script, { shim: bounded.path, netns: node.path, env: { CNI_PATH: shop.cniPath }, stdin: "{}" });
    };
    test.each<[string, (other: number) => readonly NetlinkRequest[]]>([
      ["with the flags of a creation", (other) => [{ ...linkMove(other, "net1"), flags: NLM_F_CREATE | NLM_F_EXCL }]],
      ["by name alone", () => [{ type: RTM_SETLINK, flags: 0, body: named("devother", secondNamespace) }]],
      [
        "under a listed name that the batch gives it",
        (other) => [linkRename(other, "devown2n"), { type: RTM_SETLINK, flags: 0, body: named("devown2n", secondNamespace) }],
      ],
      [
        "under a listed alternative name that the batch gives it",
        (other) => [nameAddition(other, "devown2n"), { type: RTM_SETLINK, flags: 0, body: named("devown2n", secondNamespace) }],
      ],
      [
        "under two names, of which the kernel takes the last",
        () => [
          {
            type: RTM_SETLINK,
            flags: 0,
            body: concat([
              ifinfomsg(),
              ...["xxxxxxxxn", "devother"].map((name) => attribute(IFLA_IFNAME, Buffer.from(name))),
              secondNamespace,
            ]),
          },
        ],
      ],
    ])("FI-01: no other link leaves the node %s", async (_, requests) => {
      policy({ devices: ["devo*n"] });
      await attack(async (engine) => {
        const done = await send(engine, "", requests(indexIn(node, "devother")), pod.path);
        expect(done).toMatchObject({ errno: EKEYREJECTED, sent: false });
      });
      expect([namesIn(node), namesIn(pod)]).toEqual([["devother", "devown"], []]);
    });

    test("FI-01: a link that is not listed gets no listed name, which the next message could move; a listed one keeps its rights", async () => {
      policy({ devices: ["devo*n", "net*"] });
      await attack(async (engine) => {
        const [own, other] = [indexIn(node, "devown"), indexIn(node, "devother")];
        expect(await send(engine, "", [linkRename(other, "devnon")])).toMatchObject({ errno: 0 });
        for (const message of [linkRename(other, "devown2n"), { ...linkRename(other, "devown2n"), type: RTM_NEWLINK }])
          expect(await send(engine, "", [message])).toMatchObject({ errno: EKEYREJECTED, sent: false });
        // A device whose pod has ended comes back under the pod's name.
        expect(await send(engine, "", [linkRename(own, "net1")])).toMatchObject({ errno: 0 });
        expect(await send(engine, "", [linkRename(own, "devown")])).toMatchObject({ errno: 0 });
        expect(await send(engine, "", [linkMove(own, "net1")], pod.path)).toMatchObject({ errno: 0 });
      });
      expect([namesIn(node), namesIn(pod)]).toEqual([["devnon"], ["net1"]]);
    });

    test("FI-01: no link comes to the node from a pod by a process or an id, without `nodeNetlink`, too", async () => {
      policy({ devices: ["devo*n"] });
      pod.exec(["ip", "link", "add", "near", "type", "veth", "peer", "name", "far"]);
      await attack(async (engine) => {
        const shimPid = Number(readFileSync(`/proc/${engine.shim.pid}/stat`, "utf8").split(" ")[0]);
        const body = concat([
          ifinfomsg(indexIn(pod, "near")),
          u32Attribute(IFLA_NET_NS_PID, shimPid),
          attribute(IFLA_IFNAME, cString("evil0")),
        ]);
        expect(await send(engine, pod.path, [{ type: RTM_SETLINK, flags: 0, body }])).toMatchObject({
          errno: EKEYREJECTED,
          sent: false,
        });
      });
      expect([namesIn(node), namesIn(pod)]).toEqual([
        ["devother", "devown"],
        ["far", "near"],
      ]);
    });

    test.each([
      ["addresses", RTM_GETADDR],
      ["multicast addresses", RTM_GETMULTICAST],
    ])("FI-01: with `nodeNetlink` a pod's namespace shows none of the node's %s by an id", async (_, type) => {
      policy({ nodeNetlink: [] });
      node.exec(["ip", "link", "set", "devown", "up"]);
      node.exec(["ip", "address", "add", "198.51.100.77/24", "dev", "devown"]);
      await attack(async (engine) => {
        const body = concat([new Uint8Array(8), u32Attribute(IFA_TARGET_NETNSID, nodeId)]);
        const done = await send(engine, pod.path, [{ type, flags: NLM_F_DUMP, body }]);
        const [answer] = decodeAnswers(done.reply, 1);
        expect(answer?.messages.flatMap((message) => addressStateIn(message) ?? []) ?? []).toEqual([]);
        expect(done).toMatchObject({ errno: EKEYREJECTED, sent: false });
      });
    });
  },
);
