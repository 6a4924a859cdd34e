// For tests: the capability through the real hands, and what they were asked for.

import { createServer, type Socket } from "node:net";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LinkGrant } from "../../../src/configuration/wasm-configuration.ts";
import { createPodNamespace, type PodNamespace } from "../../../test/harness/namespaces.ts";
import { BrainSide, startHands } from "../../hands/testing/scripted-brain.ts";
import { openWorkshop } from "../../hands/testing/workshop.ts";
import type { NetlinkEffect, SysctlEffect } from "../../hands/hands.ts";
import type { LinksOperation } from "../../sandbox/abi/generated/delegate-0.1.0.ts";
import type { Outcome } from "../../sandbox/abi/guest.ts";
import type { LinkHands } from "../apply.ts";
import type { LinkScope } from "../link-scope.ts";
import { linksFor, type Links } from "../links.ts";

/** An effect that was asked for. */
export interface Asked {
  readonly path: string;
  /** Types of the messages, or the key of a sysctl. */
  readonly types: readonly (number | string)[];
  readonly effect: NetlinkEffect | SysctlEffect;
}

export interface LinkTests {
  capability(terms: {
    readonly pod?: PodNamespace;
    readonly netns?: string;
    readonly grant?: LinkGrant;
    readonly verb?: LinkScope["verb"];
    readonly ifname?: string;
    /** False: the call is about none. */
    readonly attachment?: boolean;
    /** Other hands than the first ones. */
    readonly hands?: LinkHands;
    /** What the hands do instead; undefined: what they always do. */
    readonly instead?: (
      effect: NetlinkEffect,
      number: number,
    ) => Promise<{ errno: number; sent: boolean; reply: Uint8Array }> | undefined;
  }): { readonly capability: Links; readonly sent: readonly Asked[] };
  /** What a bridge plugin does for a pod. */
  attach(address: string, gateway: string, bridge?: string): LinksOperation[];
  good<T>(outcome: Outcome<T, { readonly msg: string; readonly details?: string | undefined }>): T;
  /** A network namespace of these tests' own, which is the node's for the hands: no other test's links are in it. */
  readonly node: PodNamespace;
  /** Runs ip(8) on the node, or in a pod. */
  ip(words: string, pod?: PodNamespace): string;
  /** More hands on the same node. */
  another(): Promise<TestHands>;
  readonly hands: LinkHands;
  dispose(): Promise<void>;
}

export interface TestHands {
  readonly hands: LinkHands;
  dispose(): Promise<void>;
}

/** Starts hands that serve until the end of the tests. */
export async function openLinkTests(): Promise<LinkTests> {
  const shop = await openWorkshop();
  const node = createPodNamespace("node");
  const own = await startTestHands(shop.hands, node);
  return {
    hands: own.hands,
    another: () => startTestHands(shop.hands, node),
    capability({
      pod,
      netns = pod?.path ?? "",
      grant = {},
      verb = "ADD",
      ifname = "eth0",
      attachment = true,
      instead,
      hands: used = own.hands,
    }) {
      const sent: Asked[] = [];
      const hands: LinkHands = {
        netlink: (effect) => {
          const done = instead?.(effect, sent.length);
          sent.push({ path: effect.path, types: typesOf(effect.request), effect });
          return (done ?? used.netlink(effect)).then((answer) => ({ ...answer, kind: "done" }));
        },
        sysctl: (effect) => {
          sent.push({ path: effect.path, types: effect.settings.map(({ key }) => key), effect });
          return used.sysctl(effect);
        },
        tap: (effect) => used.tap(effect),
      };
      const scope: LinkScope = { type: "test", grant, verb, attachment: attachment ? { ifname, netns } : undefined };
      return { capability: linksFor(scope, hands, () => performance.now()), sent };
    },
    attach: (address, gateway, bridge = "lt0") => [
      {
        tag: "ensure-bridge",
        val: { name: bridge, vlanFiltering: false },
      },
      { tag: "ensure-address", val: { link: { place: "host", name: bridge }, address: gateway, replace: false } },
      { tag: "add-veth", val: { name: "eth0", master: bridge, vlans: [], keepDefaultVlan: false, up: true } },
      { tag: "add-address", val: { link: { place: "pod", name: "eth0" }, address, noDad: false } },
      {
        tag: "set-interface",
        val: { link: { place: "pod", name: "eth0" }, family: "ipv4", name: "arp_notify", value: "1", required: false },
      },
      {
        tag: "add-route",
        val: {
          link: { place: "pod", name: "eth0" },
          place: "pod",
          route: { dst: "0.0.0.0/0", gw: gateway.slice(0, gateway.indexOf("/")) },
          onLink: false,
        },
      },
    ],
    good(outcome) {
      if ("ok" in outcome) return outcome.ok;
      throw new Error(`${outcome.err.msg}\n${outcome.err.details ?? ""}`);
    },
    node,
    ip(words, pod = node) {
      const { status, stdout, stderr } = pod.exec(["ip", ...words.split(" ")]);
      if (status !== 0) throw new Error(`ip ${words}: ${stderr}`);
      return stdout;
    },
    async dispose() {
      await own.dispose();
      node.dispose();
      await shop.dispose();
    },
  };
}

/** Starts hands in the node's namespace. */
async function startTestHands(command: string, node: PodNamespace): Promise<TestHands> {
  const directory = mkdtempSync(join(tmpdir(), "plexus-links-"));
  const path = join(directory, "s");
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const connected = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const inNode = join(directory, "hands");
  writeFileSync(inNode, `#!/bin/sh\nexec nsenter --net=${node.path} ${command}\n`, { mode: 0o755 });
  const running = startHands({ hands: inNode, env: { PLEXUS_SOCKET: path } });
  const brain = new BrainSide(running, await connected);
  brain.send(0, { kind: "welcome" });
  await brain.request();
  return {
    hands: brain,
    async dispose() {
      brain.reply();
      await running.answer;
      brain.end();
      server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The types of messages. */
export function typesOf(request: Uint8Array): number[] {
  const view = new DataView(request.buffer, request.byteOffset, request.byteLength);
  const types: number[] = [];
  for (let at = 0; at + 16 <= request.length; at += (view.getUint32(at, true) + 3) & ~3) types.push(view.getUint16(at + 4, true));
  return types;
}
