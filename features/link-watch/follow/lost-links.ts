// The lost links of one daemon: since when, how often they were tried to be repaired, and what the pod is told about a change.

import type { PodEvent } from "../../../src/kube/pod-event.ts";
import type { LinkCondition, LinkConditions } from "../rules/link-condition.ts";
import { type LinkFault, type LinkFaultKind, linkFaults } from "../rules/judge-link.ts";
import { repairPauseMs, type RepairTries, withTry } from "../rules/repair-pause.ts";
import type { LinkFaults } from "./settle-container.ts";

/** Changes in a row that a pod is told of without a pause. */
const toldAtOnce = 10;
/** Maximum pause between two changes that a pod is told of, in ms. */
const maxPauseMs = 60_000;

/** A lost link. */
export interface LostLink {
  readonly pod: string;
  readonly ifname: string;
  readonly fault: LinkFault;
  /** ISO 8601. */
  readonly since: string;
}

/** A change of a link's fault. `before`, `after`: undefined for none. */
export interface FaultChange {
  readonly ifname: string;
  readonly before: LinkFault | undefined;
  readonly after: LinkFault | undefined;
  readonly repaired: boolean;
}

/** The lost links by container. */
export class LostLinks {
  readonly #lost = new Map<string, Map<string, LostLink>>();
  readonly #tries = new Map<string, RepairTries & { readonly failed: boolean }>();
  /** How often each pod was told of changes: a pod that changes its links all the time must not fill the API server. */
  readonly #told = new Map<string, RepairTries>();
  /** Interfaces that were repaired since their last comparison. */
  readonly #repaired = new Set<string>();

  /** All lost links, the oldest first. */
  get all(): readonly LostLink[] {
    return [...this.#lost.values()]
      .flatMap((links) => [...links.values()])
      .toSorted((one, other) => (one.since < other.since ? -1 : 1));
  }

  /** The lost links of a container. */
  of(container: string): readonly LostLink[] {
    return [...(this.#lost.get(container)?.values() ?? [])];
  }

  /** The containers with lost links. */
  get containers(): readonly string[] {
    return [...this.#lost.keys()];
  }

  /** The number of lost links by fault. */
  counts(): readonly { readonly fault: LinkFaultKind; readonly count: number }[] {
    const all = this.all;
    return linkFaults.map((kind) => ({ fault: kind, count: all.filter(({ fault }) => fault.kind === kind).length }));
  }

  /** Whether a container's faults are the known ones. */
  isKnown(container: string, faults: LinkFaults): boolean {
    const known = this.#lost.get(container);
    return (known?.size ?? 0) === faults.size && [...faults].every(([ifname, { why }]) => known?.get(ifname)?.fault.why === why);
  }

  /** The changes from the known faults to these. */
  changes(container: string, faults: LinkFaults): readonly FaultChange[] {
    const known = this.#lost.get(container) ?? new Map<string, LostLink>();
    return [...new Set([...known.keys(), ...faults.keys()])].flatMap((ifname): FaultChange[] => {
      const [before, after] = [known.get(ifname)?.fault, faults.get(ifname)];
      const repaired = this.#repaired.has(`${container} ${ifname}`);
      return before?.why === after?.why ? [] : [{ ifname, before, after, repaired }];
    });
  }

  /** Takes over the faults of a container. `since`: now, ISO 8601. */
  keep(container: string, pod: string, faults: LinkFaults, since: string): void {
    const known = this.#lost.get(container);
    const links = [...faults].map(([ifname, fault]): [string, LostLink] => {
      const before = known?.get(ifname);
      return [ifname, before?.fault.kind === fault.kind ? { ...before, fault } : { pod, ifname, fault, since }];
    });
    for (const ifname of known?.keys() ?? []) this.#repaired.delete(`${container} ${ifname}`);
    if (links.length === 0) this.#lost.delete(container);
    else this.#lost.set(container, new Map(links));
  }

  /** Forgets a container that is gone. */
  forget(container: string): void {
    this.#lost.delete(container);
    this.#told.delete(container);
    for (const keys of [this.#tries, this.#repaired])
      for (const key of keys.keys()) if (key.startsWith(`${container} `)) keys.delete(key);
  }

  /** Milliseconds until the pod may be told of the next change. */
  tellingPauseMs(container: string, nowMs: number): number {
    const told = this.#told.get(container);
    if (told === undefined || told.count < toldAtOnce) return 0;
    return Math.min(maxPauseMs, repairPauseMs({ ...told, count: told.count - toldAtOnce + 1 }, nowMs));
  }

  /** Notes that the pod was told of a change. */
  noteTold(container: string, nowMs: number): void {
    this.#told.set(container, withTry(this.#told.get(container), nowMs));
  }

  /** Milliseconds until the next try to repair an interface. */
  pauseMs(container: string, ifname: string, nowMs: number): number {
    return repairPauseMs(this.#tries.get(`${container} ${ifname}`), nowMs);
  }

  /** Notes a try to repair. */
  noteTry(container: string, ifname: string, nowMs: number, repaired: boolean): void {
    const key = `${container} ${ifname}`;
    this.#tries.set(key, { ...withTry(this.#tries.get(key), nowMs), failed: !repaired });
    if (repaired) this.#repaired.add(key);
  }

  /**
   * A link that may be a master came to the node: after a failure the next try need not wait for its pause, which begins anew. A link that was repaired and
   * is lost again lacks no master.
   */
  hurry(): void {
    for (const [key, { lastAt, failed }] of this.#tries) if (failed) this.#tries.set(key, { count: 1, lastAt, failed });
  }
}

/** The Events of changes. */
export function eventsOf(changes: readonly FaultChange[]): readonly PodEvent[] {
  return changes.map(({ ifname, before, after, repaired }): PodEvent => {
    if (after !== undefined) return { reason: "InterfaceLost", message: after.why };
    if (repaired) return { reason: "InterfaceRepaired", message: `${ifname} was attached again (${before?.why ?? ""})` };
    return { reason: "InterfaceRecovered", message: `${ifname} is as its attachment left it again` };
  });
}

/** The conditions of faults. A condition that stays keeps its own time in the status. */
export function conditionsOf(faults: LinkFaults, now: string): LinkConditions {
  return new Map(
    [...faults].map(([ifname, { kind, why }]): [string, LinkCondition] => [
      ifname,
      { type: "LinkLost", status: "True", reason: kind, message: why, lastTransitionTime: now },
    ]),
  );
}
