// Real virtual functions (SR-IOV) for tests: those of the emulated adapter of `npm run vm`. The kernel makes their links in the machine's first network
// namespace, and returns them there when another one ends.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { NamespaceCommands } from "./namespaces.ts";
import type { Requirement } from "./requires.ts";

const driver = "/sys/bus/pci/drivers/igbvf";
const devices = "/sys/bus/pci/devices";

/** A virtual function by its PCI address, with that of its physical function. */
export interface TestFunction {
  readonly pci: string;
  readonly physicalPci: string;
}

/** The machine's first virtual function, which has the number 0; undefined: it has none. */
export function firstFunction(): TestFunction | undefined {
  const names = existsSync(driver) ? readdirSync(driver).toSorted() : [];
  const pci = names.find((name) => existsSync(join(devices, name, "physfn")));
  return pci === undefined ? undefined : { pci, physicalPci: basename(readlinkSync(join(devices, pci, "physfn"))) };
}

/** Requires a virtual function whose settings a test may change. */
export const virtualFunction: Requirement = () =>
  firstFunction() === undefined ? "the machine has no virtual function of igb (npm run vm emulates one)" : undefined;

/** Runs a command in the machine's first network namespace. */
export function inFirstNamespace(...command: readonly string[]): string {
  return execFileSync("nsenter", ["--net=/proc/1/ns/net", "--", ...command], { encoding: "utf8" });
}

/** The name of a device's link in the machine's first network namespace; empty while it has none there. */
export function firstLinkOf(pci: string): string {
  const shown = JSON.parse(inFirstNamespace("ip", "-d", "-j", "link", "show")) as readonly {
    readonly ifname: string;
    readonly parentdev?: string;
  }[];
  return shown.find(({ parentdev }) => parentdev === pci)?.ifname ?? "";
}

/** The names of the links of a function and of its physical function. */
export interface FunctionLinks {
  readonly link: string;
  readonly physical: string;
}

/** Moves the links of a function and of its physical function to a namespace, and answers their names; the physical one's link gets a carrier there. */
export async function moveFunction(
  { pci, physicalPci }: TestFunction,
  to: NamespaceCommands & { readonly name: string },
): Promise<FunctionLinks> {
  await until("the kernel returned the function's links", () => firstLinkOf(pci) !== "" && firstLinkOf(physicalPci) !== "");
  const [link, physical] = [firstLinkOf(pci), firstLinkOf(physicalPci)];
  for (const name of [link, physical]) inFirstNamespace("ip", "link", "set", name, "netns", to.name);
  to.exec(["ip", "link", "set", physical, "up"]);
  // The driver accepts a rate only then.
  await until("the adapter has a carrier", () => to.exec(["ip", "link", "show", physical]).stdout.includes("LOWER_UP"));
  return { link, physical };
}

const maxWaitMs = 120_000;
const pauseMs = 100;

/** Waits. Throws after two minutes. */
export async function until(what: string, isSo: () => boolean): Promise<void> {
  for (let waited = 0; !isSo(); waited += pauseMs) {
    if (waited >= maxWaitMs) throw new Error(`not within ${maxWaitMs} ms: ${what}`);
    await setTimeout(pauseMs);
  }
}

/** The settings of the first function of a physical function's link, by ip(8). */
export function functionSettings(where: NamespaceCommands, physical: string): Readonly<Record<string, unknown>> {
  const { stdout } = where.exec(["ip", "-d", "-j", "link", "show", "dev", physical]);
  const [shown] = JSON.parse(stdout) as readonly { readonly vfinfo_list: readonly Record<string, unknown>[] }[];
  return shown?.vfinfo_list.find(({ vf }) => vf === 0) ?? {};
}

/** The VLAN in such settings; undefined: none. */
export function vlanOf(settings: Readonly<Record<string, unknown>>): string | undefined {
  return /"vlan":(\d+)/u.exec(JSON.stringify(settings["vlan_list"] ?? []))?.[1];
}

/** The administrative MAC of a function for which nobody has set one. */
const noMac = "00:00:00:00:00:00";

/**
 * The settings without a MAC that the function's own driver has set: igb reports the last MAC that either side has set, and the function's driver sets that of
 * its link whenever the link comes up.
 */
export function settingsWithoutOwnMac(
  settings: Readonly<Record<string, unknown>>,
  linkMac: string,
): Readonly<Record<string, unknown>> {
  return settings["address"] === linkMac ? { ...settings, address: noMac } : settings;
}

/**
 * Gives the first function its first settings, and the node its link, from wherever an attachment has left it. The pods that had the function must be gone:
 * the kernel has returned a link of theirs to the machine's first namespace.
 */
export async function resetFunction(
  { pci }: TestFunction,
  node: NamespaceCommands & { readonly name: string },
  { link, physical }: FunctionLinks,
): Promise<void> {
  const isOnNode = (): boolean => node.links().some(({ name }) => name === link);
  await until("the function's link came back", () => isOnNode() || firstLinkOf(pci) !== "");
  if (!isOnNode()) {
    const name = firstLinkOf(pci);
    inFirstNamespace("ip", "link", "set", name, "down");
    if (name !== link) inFirstNamespace("ip", "link", "set", name, "name", link);
    inFirstNamespace("ip", "link", "set", link, "netns", node.name);
  }
  node.exec(["ip", "link", "set", link, "down"]);
  const settings = ["mac", noMac, "vlan", "0", "spoofchk", "on", "trust", "off", "max_tx_rate", "0"];
  // One setting in each call: igb lacks some, and one refusal would end the others.
  for (let at = 0; at < settings.length; at += 2)
    node.exec(["ip", "link", "set", "dev", physical, "vf", "0", ...settings.slice(at, at + 2)]);
}
