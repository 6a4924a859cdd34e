// Ports made ahead: a pod's port is renamed instead of made, which takes less time. A port's name says whether it is free, and each change of the name
// needs the port's revision, so that two controllers never give one port to two pods.

import { createHash } from "node:crypto";
import { type FreePort, planAhead, portsInTheWay, type Refusal } from "../../rules/ports-ahead.ts";
import { type AheadState, failure, type PortsAhead, type ProviderFailure, type ProviderResult } from "../provider.ts";
import { type Body, type NeutronClient, type NeutronFailure, type NeutronResult, objectsOf, portsOf } from "./client.ts";
import type { SubnetValues } from "./port-values.ts";
import type { NeutronSettings } from "./settings.ts";

/** Attempts with a newer revision of a port that is still free: Neutron changes a port's state by itself. */
const maxRevisions = 4;

/** Ports that one request makes at most: a slow Neutron must answer within the time limit of a request. */
const maxBulk = 10;

/** Settings of the pools of one provider. */
export interface AheadInit {
  readonly client: NeutronClient;
  readonly settings: NeutronSettings;
  /** The name of all free ports of this cluster. */
  readonly freeName: string;
  readonly ownerTag: string;
  readonly subnet: (id: string) => Promise<ProviderResult<SubnetValues>>;
  /** Writes the owner's tag on a port. */
  readonly tag: (port: Body) => Promise<ProviderResult<Body>>;
}

function refusalOf({ reason, type }: NeutronFailure): Refusal | undefined {
  if (type === "IpAddressAlreadyAllocated") return "address-in-use";
  if (reason !== "quota") return undefined;
  return type === "OverQuota" ? "quota" : "no-address";
}

/** The pools. */
export class NeutronPortsAhead implements PortsAhead {
  readonly #init: AheadInit;
  readonly #mark: string;
  /** Free ports of the last look, less those taken since. Another controller may have taken some: the revision tells. */
  #free = new Map<string, FreePort[]>();
  /** Ports taken since the begin of the last look, whose list may still have them as free. */
  readonly #taken = new Set<string>();
  #low = Promise.withResolvers<void>();

  constructor(init: AheadInit) {
    this.#init = init;
    const { portSecurity, securityGroups } = init.settings;
    const text = JSON.stringify([portSecurity ?? null, securityGroups?.toSorted() ?? null]);
    this.#mark = `free port of Plexus, settings ${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
  }

  free(): AheadState {
    return new Map([...this.#free].map(([subnet, { length }]) => [subnet, length]));
  }

  untilLow(): Promise<void> {
    return this.#low.promise;
  }

  /**
   * Gives a free port of the subnet to a pod by this change of the port; undefined if none is free. A failure leaves open whether a port was given: the
   * next try finds the port by its new name.
   */
  async take(subnet: string, change: Body): Promise<ProviderResult<Body | undefined>> {
    for (;;) {
      const port = this.#next(subnet);
      if (port === undefined) return { ok: true, value: undefined };
      const taken = await this.#rename(port, change);
      if (!taken.ok || taken.value !== undefined) return taken;
    }
  }

  /** Gives free ports back that keep a refused port from being made; answers whether another try is worthwhile. */
  async giveWay(subnet: string, ips: readonly string[], refusal: NeutronFailure): Promise<boolean> {
    const kind = refusalOf(refusal);
    if (this.#init.settings.ahead.length === 0 || kind === undefined) return false;
    const free = await this.#list();
    if (!free.ok) return false;
    const inTheWay = portsInTheWay(free.value, subnet, ips, kind);
    const removed = await Promise.all(inTheWay.map((port) => this.#giveBack(port)));
    return removed.some(({ ok }) => ok);
  }

  async keep(): Promise<ProviderResult<AheadState>> {
    const { settings } = this.#init;
    this.#taken.clear();
    const before = await this.#list();
    if (!before.ok) return before;
    const plan = planAhead(before.value, settings.ahead, this.#mark);
    const works = [
      ...plan.surplus.map((port) => () => this.#giveBack(port)),
      ...plan.untagged.map(
        ({ id }) =>
          () =>
            this.#init.tag({ id }),
      ),
      ...plan.missing.map(
        ({ subnet, count }) =>
          () =>
            this.#make(subnet, count),
      ),
    ];
    let problem: ProviderFailure | undefined;
    // One after the other: pods' own requests come first. A Neutron that does not answer takes the time limit of a request for each of them.
    for (const work of works) {
      if (problem?.reason === "unavailable") break;
      const done = await work();
      if (!done.ok) problem = done;
    }
    const isChanged = plan.missing.length + plan.untagged.length > 0;
    // Tags change the revisions.
    const after = isChanged && problem?.reason !== "unavailable" ? await this.#list() : before;
    if (!after.ok) return after;
    const { usable } = after === before ? plan : planAhead(after.value, settings.ahead, this.#mark);
    this.#free = new Map([...usable].map(([subnet, ports]) => [subnet, ports.filter(({ id }) => !this.#taken.has(id))]));
    this.#low = Promise.withResolvers();
    // Pods took ports meanwhile.
    if (settings.ahead.some(({ subnet, min }) => (this.#free.get(subnet)?.length ?? 0) < min)) this.#low.resolve();
    return problem ?? { ok: true, value: this.free() };
  }

  #next(subnet: string): FreePort | undefined {
    const ports = this.#free.get(subnet);
    const port = ports?.shift();
    if (port !== undefined) this.#taken.add(port.id);
    const pool = this.#init.settings.ahead.find((each) => each.subnet === subnet);
    if (pool !== undefined && (ports?.length ?? 0) < pool.min) this.#low.resolve();
    return port;
  }

  /** Renames a port that is still free; answers undefined if it is not. */
  async #rename({ id, revision }: FreePort, change: Body): Promise<ProviderResult<Body | undefined>> {
    const { client } = this.#init;
    const changed = await this.#whileFree(id, revision, (now) => client.send("PUT", `/ports/${id}`, { port: change }, now));
    if (changed === "taken") return { ok: true, value: undefined };
    return changed.ok ? { ok: true, value: portsOf([changed.value["port"]])[0] } : changed;
  }

  /** Removes a port that is still free; a port that another controller has given to a pod meanwhile stays. */
  async #giveBack({ id, revision }: FreePort): Promise<{ readonly ok: true } | NeutronFailure> {
    const { client } = this.#init;
    const removed = await this.#whileFree(id, revision, (now) => client.send("DELETE", `/ports/${id}`, undefined, now));
    return removed === "taken" || removed.ok ? { ok: true } : removed;
  }

  /** Sends a write that needs the port's revision, with newer revisions as long as the port is free. */
  async #whileFree(
    id: string,
    known: number,
    write: (revision: number) => Promise<NeutronResult>,
  ): Promise<NeutronResult | "taken"> {
    let revision = known;
    for (let attempt = 0; attempt < maxRevisions; attempt++) {
      const written = await write(revision);
      if (written.ok || (written.status !== 412 && written.status !== 404)) return written;
      const now = await this.#init.client.send("GET", `/ports/${id}`);
      if (!now.ok && now.status !== 404) return now;
      const [current] = now.ok ? objectsOf([now.value["port"]]) : [];
      const free = current?.["name"] === this.#init.freeName ? this.#freePort(current) : undefined;
      if (free === undefined) return "taken";
      revision = free.revision;
    }
    const why = `free port ${id} has changed before each write (HTTP 412), ${maxRevisions} times`;
    return failure("unavailable", `${why}. Stop the program that changes this cluster's free ports, or switch the pool off`);
  }

  /** Makes free ports, `maxBulk` in a request; fewer, if the fabric has not so many more. */
  async #make(subnetId: string, count: number): Promise<{ readonly ok: true } | NeutronFailure> {
    const { client, settings, freeName, subnet: find, tag } = this.#init;
    const subnet = await find(subnetId);
    if (!subnet.ok) return subnet;
    const port = {
      network_id: subnet.value.networkId,
      name: freeName,
      description: this.#mark,
      admin_state_up: true,
      fixed_ips: [{ subnet_id: subnetId }],
      ...(settings.portSecurity === undefined ? {} : { port_security_enabled: settings.portSecurity }),
      ...(settings.securityGroups === undefined ? {} : { security_groups: settings.securityGroups }),
    };
    let full: NeutronFailure | undefined;
    for (let left = count, size = Math.min(left, maxBulk); size > 0;) {
      const made = await client.send("POST", "/ports", { ports: Array.from({ length: size }, () => port) });
      if (made.ok) {
        // One after the other: pods' own requests come first.
        const ports = portsOf(made.value["ports"]);
        if (ports.length === 0) return failure("unavailable", "Neutron made ports ahead, but its answer has none");
        for (const each of ports) {
          const tagged = await tag(each);
          if (!tagged.ok) return tagged;
        }
        if (full !== undefined) return full;
        left -= size;
        size = Math.min(left, maxBulk);
      } else {
        if (made.reason !== "quota") return made;
        full = made;
        size = Math.floor(size / 2);
      }
    }
    return full ?? { ok: true };
  }

  async #list(): Promise<ProviderResult<readonly FreePort[]>> {
    const listed = await this.#init.client.list("ports", [["name", this.#init.freeName]]);
    if (!listed.ok) return listed;
    return { ok: true, value: listed.value.flatMap((port) => this.#freePort(port) ?? []) };
  }

  #freePort({ id, revision_number: revision, fixed_ips: fixed, description, tags }: Body): FreePort | undefined {
    if (typeof id !== "string" || typeof revision !== "number") return undefined;
    const addresses = objectsOf(fixed);
    const subnet = addresses[0]?.["subnet_id"];
    return {
      id,
      revision,
      subnet: typeof subnet === "string" ? subnet : undefined,
      addresses: addresses.flatMap(({ ip_address: address }) => (typeof address === "string" ? [address] : [])),
      mark: typeof description === "string" ? description : "",
      isTagged: Array.isArray(tags) && tags.includes(this.#init.ownerTag),
    };
  }
}
