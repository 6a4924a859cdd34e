// Messages of one `apply`, in order, in as few sends as their order allows, and what takes each of them back.

import { type Fault, fault } from "../../src/fault/fault.ts";
import { NLM_F_DUMP } from "../netlink/link-attributes.ts";
import type { NetlinkAnswer, NetlinkRequest } from "../netlink/message.ts";
import type { LinksPlace } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import type { Setting, Wrote } from "./settings.ts";
import { type Exchange, isGone, type Namespaces, refusalText } from "./namespaces.ts";

/** What takes something back: a message, or an effect of another kind. Done in the order given. */
export type Undo = {
  readonly what: string;
  /** What others of the node's may count on by then (shared.ts): it stays where they do. */
  readonly shared?: string | undefined;
} & ({ readonly place: LinksPlace; readonly request: NetlinkRequest } | { readonly run: () => Promise<string | undefined> });

export interface Message {
  readonly request: NetlinkRequest;
  /** What it does, in words. */
  readonly what: string;
  /** Errors that are none here. */
  readonly fine?: readonly number[];
  /** It is sent in the host's namespace and names the pod's. */
  readonly reaching?: boolean;
  /** That the pod's namespace is gone is fine, too. */
  readonly goneIsFine?: boolean;
  /** What takes it back, once it has been done. `answer` is undefined where it isn't known whether it was. */
  readonly undo?: (answer: NetlinkAnswer | undefined) => readonly Undo[];
}

/** How something is taken back, or what failed. */
interface Done {
  readonly undo?: Undo;
  readonly fault?: Fault;
}

interface Gathered {
  readonly place: LinksPlace;
  readonly write: (settings: readonly Setting[]) => Promise<readonly Wrote[]>;
  readonly settings: Setting[];
  readonly judges: ((wrote: Wrote) => void)[];
}

interface Entry extends Message {
  /** Which operation, for faults. */
  readonly by: string;
  readonly place: LinksPlace;
  readonly told: (answer: NetlinkAnswer | undefined) => void;
  answer: NetlinkAnswer | undefined;
  exchange: Exchange | undefined;
}

/** The last two bits of a message's type: 0 new, 1 remove, 2 get, 3 set. */
const GET = 2;

/** What it says where a message that takes something back finds it taken back: ENOENT, ESRCH, ENODEV, EEXIST, EADDRNOTAVAIL. */
const TAKEN_BACK = [2, 3, 19, 17, 99];

export class Transaction {
  readonly #namespaces: Namespaces;
  /** All that was asked for, and what was done besides, in order. */
  readonly #log: (Entry | Done)[] = [];
  #queue: Entry[] = [];
  /** Settings that wait; then no message does. */
  #settings: Gathered | undefined;
  #underWay: Promise<void>[] = [];
  #failure: Fault | undefined;
  #by = "";

  constructor(namespaces: Namespaces) {
    this.#namespaces = namespaces;
  }

  /** What follows is of this operation. */
  begin(by: string): void {
    this.#by = by;
  }

  /** The first failure, known once what was asked for has been answered. */
  get failure(): Fault | undefined {
    return this.#failure;
  }

  /**
   * Sends a message, together with its neighbours to the same place. The answer comes with `flush`; undefined: there is none. What
   * is asked for in one place is sent before what is asked for after it in the other one.
   */
  send(place: LinksPlace, message: Message): Promise<NetlinkAnswer | undefined> {
    const apart = (entry: Entry): boolean =>
      entry.place !== place ||
      (isDump(entry.request) && isDump(message.request)) ||
      (place === "pod" && entry.reaching !== message.reaching);
    if (this.#settings !== undefined || this.#queue.some(apart)) this.dispatch();
    return new Promise((told) => {
      const entry: Entry = { ...message, by: this.#by, place, told, answer: undefined, exchange: undefined };
      this.#queue.push(entry);
      this.#log.push(entry);
    });
  }

  /** Sends what waits, without waiting for the answers. */
  dispatch(): void {
    this.#dispatchSettings();
    const [first] = this.#queue;
    if (first === undefined) return;
    const entries = this.#queue;
    this.#queue = [];
    this.#underWay.push(this.#exchange(first.place, entries));
  }

  #dispatchSettings(): void {
    const gathered = this.#settings;
    if (gathered === undefined) return;
    this.#settings = undefined;
    const { write, settings, judges } = gathered;
    const writing = write(settings).then((wrote) => {
      for (const [index, judge] of judges.entries()) judge(wrote[index] ?? { why: "it was not answered" });
    });
    this.#underWay.push(writing);
  }

  async #exchange(place: LinksPlace, entries: readonly Entry[]): Promise<void> {
    const exchange = await this.#namespaces.exchange(
      place,
      entries.map(({ request }) => request),
      entries.some(({ reaching }) => reaching === true),
    );
    for (const [index, entry] of entries.entries()) {
      entry.exchange = exchange;
      entry.answer = exchange.answers[index];
      entry.told(entry.answer);
    }
  }

  /** Sends what waits, and waits for all answers. False: something has failed. */
  async flush(): Promise<boolean> {
    this.dispatch();
    const underWay = this.#underWay;
    this.#underWay = [];
    await Promise.all(underWay);
    for (const entry of this.#log) {
      if (this.#failure !== undefined) break;
      this.#failure = "by" in entry ? failureOf(entry, this.#namespaces) : entry.fault;
    }
    return this.#failure === undefined;
  }

  /** Another failure than a message's. */
  fail(reason: Fault): void {
    this.#failure ??= reason;
  }

  /**
   * Does something that is no message, after what was asked for before; nobody waits for it until `flush`. `act` answers how it is taken
   * back, or what failed.
   */
  run(act: () => Promise<{ readonly undo?: Undo } | { readonly fault: Fault }>): void {
    this.dispatch();
    const slot: { undo?: Undo; fault?: Fault } = {};
    this.#log.push(slot);
    this.#underWay.push(act().then((done) => void Object.assign(slot, done)));
  }

  /**
   * Writes a setting, after what was asked for before, and together with those beside it; nobody waits for it until `flush`. `judge` says how it
   * is taken back, or what failed.
   */
  set(place: LinksPlace, write: Gathered["write"], setting: Setting, judge: (wrote: Wrote) => Done): void {
    if (this.#queue.length > 0 || this.#settings?.place !== place) this.dispatch();
    const slot: Done = {};
    this.#log.push(slot);
    const { settings, judges } = (this.#settings ??= { place, write, settings: [], judges: [] });
    settings.push(setting);
    judges.push((wrote) => void Object.assign(slot, judge(wrote)));
  }

  /** Takes back what was done, last first, but what others count on. Answers what could not be. */
  async undo(isCountedOn: (shared: string) => boolean): Promise<readonly string[]> {
    await this.flush();
    const undos = this.#log
      .toReversed()
      .flatMap((entry) => ("by" in entry ? undosOf(entry) : (entry.undo ?? [])))
      .filter(({ shared }) => shared === undefined || !isCountedOn(shared));
    const left: string[] = [];
    for (let at = 0; at < undos.length;) {
      const undo = undos[at];
      if (undo === undefined) break;
      if ("run" in undo) {
        const failure = await undo.run();
        if (failure !== undefined) left.push(`not undone: ${undo.what}: ${failure}`);
        at++;
        continue;
      }
      const batch: { readonly request: NetlinkRequest; readonly what: string }[] = [];
      for (let next = undos[at]; next !== undefined && "place" in next && next.place === undo.place; next = undos[at]) {
        batch.push(next);
        at++;
      }
      left.push(...(await this.#takeBack(undo.place, batch)));
    }
    return left;
  }

  async #takeBack(
    place: LinksPlace,
    batch: readonly { readonly request: NetlinkRequest; readonly what: string }[],
  ): Promise<readonly string[]> {
    const exchange = await this.#namespaces.exchange(
      place,
      batch.map(({ request }) => request),
    );
    if (isGone(exchange)) return [];
    return batch.flatMap(({ what }, index) => {
      const answer = exchange.answers[index];
      if (answer === undefined) return [`not undone: ${what}: the kernel gave no answer`];
      return answer.errno === 0 || TAKEN_BACK.includes(answer.errno) ? [] : [`not undone: ${what}: ${refusalText(answer)}`];
    });
  }
}

/** The kernel has one dump at a time for each socket (EBUSY). */
function isDump({ type, flags }: NetlinkRequest): boolean {
  return (type & 3) === GET && (flags & NLM_F_DUMP) === NLM_F_DUMP;
}

function undosOf({ exchange, answer, undo }: Entry): readonly Undo[] {
  if (undo === undefined || exchange?.sent !== true) return [];
  return answer === undefined || answer.errno === 0 ? undo(answer) : [];
}

function failureOf({ by, what, fine = [], goneIsFine, exchange, answer }: Entry, namespaces: Namespaces): Fault | undefined {
  if (exchange === undefined) return undefined;
  if (!exchange.sent) {
    if (goneIsFine === true && isGone(exchange)) return undefined;
    const reason = namespaces.unreachable(exchange.errno);
    return { ...reason, msg: `${reason.msg} for ${by}: ${what}` };
  }
  if (answer === undefined)
    return fault(
      "NETLINK_FAILED",
      `links: ${by}: ${what}: the kernel's answer did not come whole, so whether it was done is not known`,
    );
  if (answer.errno === 0 || fine.includes(answer.errno)) return undefined;
  return fault("NETLINK_FAILED", `links: ${by}: ${what}: ${refusalText(answer)}`);
}
