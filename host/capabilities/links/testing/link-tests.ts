// For tests: the capability with a real shim, in a network namespace of its own as the node's, and the effects that it requests.

import { createServer, type Socket } from "node:net";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LinkGrant } from "../../../../src/configuration/keys/grant-keys.ts";
import { createPodNamespace, type PodNamespace } from "../../../../test/lab/namespaces.ts";
import { EngineSide, startShim } from "../../../../test/node/shim/testing/scripted-engine.ts";
import { openWorkshop } from "../../../../test/node/shim/testing/workshop.ts";
import type { NetlinkEffect, SysctlEffect } from "../../../protocol/shim.ts";
import type { LinksOperation } from "../../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { Outcome } from "../../../sandbox/abi/guest.ts";
import type { LinkShim } from "../apply.ts";
import { Sysfs } from "../devices/sysfs.ts";
import type { DeviceScope, LinkScope, PodSide } from "../link-scope.ts";
import { linksFor, type Links } from "../links.ts";

type DeviceTerms = Omit<DeviceScope, "sysfs">;

/** An effect that the capability requested. */
export interface RecordedEffect {
  readonly path: string;
  /** Types of the messages, or the key of a sysctl. */
  readonly types: readonly (number | string)[];
  readonly effect: NetlinkEffect | SysctlEffect;
}

/** The capability for one call. */
export interface CapabilityTerms {
  readonly pod?: PodNamespace;
  readonly netns?: string;
  readonly grant?: LinkGrant;
  readonly verb?: LinkScope["verb"];
  readonly ifname?: string;
  /** False: a verb without an attachment. */
  readonly attachment?: boolean;
  /** The links that the ADD made. */
  readonly ownLinks?: PodSide["ownLinks"];
  /** The records of devices; absent: none can be taken. */
  readonly devices?: DeviceTerms;
  /** Another shim than `shim`. */
  readonly shim?: LinkShim;
  /** Answers a netlink effect in place of the shim; undefined: the shim answers. */
  readonly intercept?: (
    effect: NetlinkEffect,
    number: number,
  ) => Promise<{ errno: number; sent: boolean; reply: Uint8Array }> | undefined;
}

/** The environment of one test. */
export interface LinkTests {
  capability(terms: CapabilityTerms): { readonly capability: Links; readonly sent: readonly RecordedEffect[] };
  /** The operations with which a bridge plugin attaches a pod. */
  attach(address: string, gateway: string, bridge?: string): LinksOperation[];
  /** The value of an outcome. Throws its fault. */
  valueOf<T>(outcome: Outcome<T, { readonly msg: string; readonly details?: string | undefined }>): T;
  /** The network namespace in which the shim runs. Links of other tests are not in it. */
  readonly node: PodNamespace;
  /** Runs ip(8) on the node or in a pod. */
  ip(args: string, pod?: PodNamespace): string;
  /** Starts another shim on the same node. */
  startSecondShim(): Promise<TestShim>;
  readonly shim: LinkShim;
  dispose(): Promise<void>;
}

/** A running shim. */
export interface TestShim {
  readonly shim: LinkShim;
  dispose(): Promise<void>;
}

/** Starts a shim that serves until `dispose`. */
export async function openLinkTests(): Promise<LinkTests> {
  const shop = await openWorkshop();
  const node = createPodNamespace("node");
  const first = await startTestShim(shop.shim, node);
  return {
    shim: first.shim,
    startSecondShim: () => startTestShim(shop.shim, node),
    capability: (terms) => recordedCapability(terms, terms.shim ?? first.shim),
    attach: bridgeAttachment,
    valueOf(outcome) {
      if ("ok" in outcome) return outcome.ok;
      throw new Error(`${outcome.err.msg}\n${outcome.err.details ?? ""}`);
    },
    node,
    ip(args, pod = node) {
      const { status, stdout, stderr } = pod.exec(["ip", ...args.split(" ")]);
      if (status !== 0) throw new Error(`ip ${args}: ${stderr}`);
      return stdout;
    },
    async dispose() {
      await first.dispose();
      node.dispose();
      await shop.dispose();
    },
  };
}

/** The capability, and the effects that it requests of the shim. */
function recordedCapability(
  {
    pod,
    netns = pod?.path ?? "",
    grant = {},
    verb = "ADD",
    ifname = "eth0",
    attachment = true,
    devices,
    ownLinks,
    intercept,
  }: CapabilityTerms,
  shim: LinkShim,
): { readonly capability: Links; readonly sent: readonly RecordedEffect[] } {
  const sent: RecordedEffect[] = [];
  const recording: LinkShim = {
    netlink: (effect) => {
      const done = intercept?.(effect, sent.length);
      sent.push({ path: effect.path, types: typesOf(effect.request), effect });
      return (done ?? shim.netlink(effect)).then((answer) => ({ ...answer, kind: "done" }));
    },
    sysctl: (effect) => {
      sent.push({ path: effect.path, types: effect.settings.map(({ key }) => key), effect });
      return shim.sysctl(effect);
    },
    tap: (effect) => shim.tap(effect),
  };
  const scope: LinkScope = {
    type: "test",
    grant,
    verb,
    attachment: attachment ? { ifname, netns, ownLinks } : undefined,
    ...(devices === undefined ? {} : { devices: { ...devices, sysfs: new Sysfs() } }),
  };
  return { capability: linksFor(scope, recording, () => performance.now()), sent };
}

/** The operations with which a bridge plugin attaches a pod. */
function bridgeAttachment(address: string, gateway: string, bridge = "lt0"): LinksOperation[] {
  return [
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
  ];
}

/** Starts a shim in the node's namespace. */
async function startTestShim(command: string, node: PodNamespace): Promise<TestShim> {
  const directory = mkdtempSync(join(tmpdir(), "plexus-links-"));
  const path = join(directory, "s");
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const connected = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const inNode = join(directory, "shim");
  writeFileSync(inNode, `#!/bin/sh\nexec nsenter --net=${node.path} ${command}\n`, { mode: 0o755 });
  const running = startShim({ shim: inNode, env: { PLEXUS_SOCKET: path } });
  const engine = new EngineSide(running, await connected);
  engine.send(0, { kind: "welcome" });
  await engine.request();
  return {
    shim: engine,
    async dispose() {
      engine.reply();
      await running.answer;
      engine.end();
      server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The types of the messages in a request. */
export function typesOf(request: Uint8Array): number[] {
  const view = new DataView(request.buffer, request.byteOffset, request.byteLength);
  const types: number[] = [];
  for (let at = 0; at + 16 <= request.length; at += (view.getUint32(at, true) + 3) & ~3) types.push(view.getUint16(at + 4, true));
  return types;
}
