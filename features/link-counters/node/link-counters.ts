// Reads the counters of pods' further links through the agent, every 15 s as long as somebody asks. A scrape, and plexusctl, get what was read last.

import { resolve } from "node:path";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { type BothDirections, directions, type LinkTraffic, type TrafficDocument } from "../../../src/net/link-traffic.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import { bootId } from "../../../host/system/boot-id.ts";
import { podName } from "../../../src/kube/pod-identity.ts";
import { EntryList, type ListedEntry } from "../../../host/node/reconcile/entry-list.ts";
import { keptConfigurationsWith } from "../../../host/node/reconcile/kept-configurations.ts";
import { ShimGone } from "../../../host/protocol/shim.ts";
import { Journal } from "../../../host/store/journal/journal.ts";
import type { ResidentContext } from "../../resident-part.ts";
import { linkCounterMetrics } from "../metrics.ts";
import { LastReadings } from "../rules/last-readings.ts";
import type { Reading } from "../rules/link-traffic.ts";
import { readCounters } from "./read-counters.ts";

/** Age at which counters are read again, in ms. */
const maxAgeMs = 15_000;
/** Nothing is read without a question within this time, in ms. */
const idleMs = 300_000;
/** Pods that are read at once. */
const atOnce = 4;

interface Counted {
  readonly key: string;
  /** The id of the journal entry. */
  readonly entry: string;
  readonly pod: string;
  readonly ifname: string;
  readonly network: string;
  readonly index: number;
}

interface Kept extends Counted {
  readonly reading: Reading;
  readonly rates: BothDirections;
}

/** The counters of one daemon. */
export class LinkCounters {
  readonly #context: ResidentContext;
  readonly #metrics;
  readonly #states: readonly { readonly directory: string; readonly entries: EntryList }[];
  /** The configurations with the key, by state directory and name. */
  readonly #on = new Set<string>();
  readonly #readings = new LastReadings();
  /** The links of the last round. */
  #kept: ReadonlyMap<string, Kept> = new Map();
  #readAt: number | undefined;
  #askedAt = -Infinity;
  #earlier: Promise<void> | undefined;
  #round: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #hasStopped = false;

  constructor(context: ResidentContext) {
    this.#context = context;
    this.#metrics = context.metrics.with(linkCounterMetrics);
    this.#states = context.directories.map((path) => {
      const directory = resolve(path);
      return { directory, entries: new EntryList(new Journal(directory), directory) };
    });
  }

  /** Begins with the configurations that earlier calls left, and with the links that the node has by then. */
  async start(): Promise<void> {
    for (const { directory } of this.#states)
      for (const configuration of keptConfigurationsWith(directory, (each) => each.linkCounters))
        this.noteConfiguration(configuration);
    this.#earlier = this.#noteEarlier();
    await this.#earlier;
  }

  /** Notes the configuration of a call. */
  noteConfiguration({ cniDir, name, linkCounters, retired }: HostConfiguration): void {
    const source = `${resolve(cniDir)} ${name}`;
    if (linkCounters && !retired) this.#on.add(source);
    else this.#on.delete(source);
  }

  /** Begins to read if the last readings are old. Never waits, so a scrape enters no network namespace. */
  ask(): void {
    this.#askedAt = this.#context.clock.now();
    this.#begin();
  }

  /** The counters of the last read. */
  document(): TrafficDocument {
    const links = [...this.#kept.values()].map(({ pod, ifname, network, reading, rates: perSecond }): LinkTraffic => {
      const { receive, transmit } = reading;
      return { pod, ifname, network, receive, transmit, rates: perSecond };
    });
    const ageMs = this.#readAt === undefined ? null : this.#context.clock.now() - this.#readAt;
    return { apiVersion: "plexus/v1", kind: "LinkTraffic", ageMs, links };
  }

  /** Begins nothing more, and waits for the round that is under way. */
  async stop(): Promise<void> {
    this.#hasStopped = true;
    clearTimeout(this.#timer);
    await this.#round;
  }

  #begin(): void {
    const now = this.#context.clock.now();
    if (this.#hasStopped || this.#on.size === 0 || this.#round !== undefined) return;
    if (now - this.#askedAt > idleMs || (this.#readAt !== undefined && now - this.#readAt < maxAgeMs)) return;
    this.#round = this.#read()
      .catch((error: unknown) => {
        if (error instanceof ShimGone) return;
        this.#context.log("warn", `link-counters: ${inertLine(error instanceof Error ? error.message : String(error), 1024)}`);
      })
      .finally(() => {
        this.#round = undefined;
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#begin(), maxAgeMs).unref();
      });
  }

  async #read(): Promise<void> {
    const agent = this.#context.agent();
    if (agent === undefined) return;
    const kept = new Map<string, Kept>();
    const beganAt = this.#context.clock.now();
    await this.#earlier;
    const { pods, entries } = await this.#pods();
    if (entries !== undefined) this.#readings.keepOnly(entries);
    const readOne = async ({ netns, cookie, links }: Pod): Promise<void> => {
      const counters = await readCounters(agent.shim, { netns, cookie, indexes: links.map(({ index }) => index) });
      const readAt = this.#context.clock.now();
      for (const link of links) {
        const found = counters.find(({ index }) => index === link.index);
        if (found === undefined) continue;
        const reading: Reading = { ...found, readAt };
        const traffic = this.#readings.take(link, reading);
        this.#count(link.network, traffic.increase);
        kept.set(link.key, { ...link, reading, rates: traffic.rates });
      }
    };
    for (let at = 0; at < pods.length && !this.#hasStopped; at += atOnce)
      await Promise.all(pods.slice(at, at + atOnce).map(readOne));
    this.#kept = kept;
    this.#readAt = beganAt;
  }

  async #noteEarlier(): Promise<void> {
    for (const { entries } of this.#states) {
      const listed = await entries.refresh();
      for (const { id, entry } of listed.ok ? listed.value.entries : [])
        for (const { name, index } of entry.pod?.made ?? [])
          this.#readings.noteEarlier({ key: keyOf(id, name), entry: id, index });
    }
  }

  #count(network: string, { receive, transmit }: BothDirections): void {
    const by = { receive, transmit };
    for (const direction of directions) {
      const { bytes, packets, errors, drops } = by[direction];
      this.#metrics.add("plexus_network_bytes_total", { network, direction }, bytes);
      this.#metrics.add("plexus_network_packets_total", { network, direction }, packets);
      this.#metrics.add("plexus_network_errors_total", { network, direction }, errors);
      this.#metrics.add("plexus_network_drops_total", { network, direction }, drops);
    }
  }

  /** The pods to read, and the ids of all journal entries; undefined: a journal could not be listed. */
  async #pods(): Promise<{ readonly pods: readonly Pod[]; readonly entries: ReadonlySet<string> | undefined }> {
    const boot = bootId();
    const pods: Pod[] = [];
    const ids = new Set<string>();
    let isWhole = true;
    for (const { directory, entries } of this.#states) {
      const listed = await entries.refresh();
      if (!listed.ok) {
        isWhole = false;
        continue;
      }
      for (const each of listed.value.entries) {
        ids.add(each.id);
        const { plan } = each.entry;
        if (plan.bootId === boot && this.#on.has(`${directory} ${plan.network}`)) pods.push(...podOf(each));
      }
    }
    return { pods, entries: isWhole ? ids : undefined };
  }
}

interface Pod {
  readonly netns: string;
  readonly cookie: string | undefined;
  readonly links: readonly Counted[];
}

/** The further links of an entry that its ADD made, or none. */
function podOf({ id, entry: { plan, pod, closed, failures } }: ListedEntry): readonly Pod[] {
  if (!closed || failures.count > 0 || plan.netns === "" || pod?.made === undefined) return [];
  const name = podName(plan.cniArgs) ?? plan.containerId;
  const links = plan.attachments.flatMap(({ ifname, source }, index): Counted[] => {
    const made = index === 0 ? undefined : pod.made?.find((link) => link.name === ifname);
    return made === undefined
      ? []
      : [{ key: keyOf(id, ifname), entry: id, pod: name, ifname, network: source, index: made.index }];
  });
  return links.length === 0 ? [] : [{ netns: plan.netns, cookie: pod.cookie, links }];
}

/** The key of an interface of a journal entry. */
function keyOf(entry: string, ifname: string): string {
  return `${entry} ${ifname}`;
}
