// The effects of one `apply` (netlink messages and sysctls), each with its undo. The queue keeps their order and sends neighbours to the same
// namespace together.

import { type Fault, fault } from "../../../src/fault/fault.ts";
import { NLM_F_DUMP } from "../../system/netlink/link-attributes.ts";
import type { NetlinkAnswer, NetlinkRequest } from "../../system/netlink/message.ts";
import type { LinksPlace } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { Setting, SettingOutcome } from "./settings.ts";
import { type Exchange, isGone, type Namespaces, refusalText } from "./namespaces.ts";
import { EADDRNOTAVAIL, EEXIST, ENODEV, ENOENT, ESRCH } from "../../system/errno.ts";

/** Undoes one effect: by a message, or by `run`, which answers why it failed. Several undos of one effect run in the order given. */
export type Undo = {
  /** The action that is undone, for faults: `adding 10.9.0.2/24 to link "eth0" of the pod`. */
  readonly action: string;
  /** Name of the node's resource that the action changed. The undo is skipped where other attachments use the resource (shared-resources.ts). */
  readonly shared?: string | undefined;
  /** Runs after all other undos of the apply. */
  readonly last?: true;
} & ({ readonly place: LinksPlace; readonly request: NetlinkRequest } | { readonly run: () => Promise<string | undefined> });

/** A netlink message with its undo. */
export interface Message {
  readonly request: NetlinkRequest;
  /** The action for faults: `adding 10.9.0.2/24 to link "eth0" of the pod`. */
  readonly action: string;
  /** Errnos of the kernel that are not failures. */
  readonly ignoredErrnos?: readonly number[];
  /** The message is sent in the node's namespace and names the pod's as the second one. */
  readonly usesSecondNamespace?: boolean;
  /** A pod namespace that no longer exists is not a failure. */
  readonly ignoresMissingNamespace?: boolean;
  /** The undos of the message. `answer` is undefined where it is unknown whether the kernel carried the message out. */
  readonly undo?: (answer: NetlinkAnswer | undefined) => readonly Undo[];
}

/** The result of an effect that is not a message: its undo, or its failure. */
interface EffectResult {
  readonly undo?: Undo;
  readonly fault?: Fault;
}

/** Settings that are written by one effect. */
interface SettingBatch {
  readonly place: LinksPlace;
  readonly write: (settings: readonly Setting[]) => Promise<readonly SettingOutcome[]>;
  readonly settings: Setting[];
  /** An outcome for each setting. */
  readonly interpreters: ((outcome: SettingOutcome) => void)[];
}

interface Entry extends Message {
  /** The message's operation, as faults name it. */
  readonly label: string;
  readonly place: LinksPlace;
  readonly resolve: (answer: NetlinkAnswer | undefined) => void;
  answer: NetlinkAnswer | undefined;
  exchange: Exchange | undefined;
}

/** The last two bits of a message's type: 0 new, 1 remove, 2 get, 3 set. */
const GET = 2;

/** Errnos that the kernel answers to an undo where the change is already undone. */
const alreadyUndone: readonly number[] = [ENOENT, ESRCH, ENODEV, EEXIST, EADDRNOTAVAIL];

/** The queue of one apply. */
export class EffectQueue {
  readonly #namespaces: Namespaces;
  /** All effects in order. */
  readonly #log: (Entry | EffectResult)[] = [];
  #queue: Entry[] = [];
  /** Settings that are not sent yet; while there are some, `#queue` is empty. */
  #settings: SettingBatch | undefined;
  #pending: Promise<void>[] = [];
  #failure: Fault | undefined;
  #label = "";

  constructor(namespaces: Namespaces) {
    this.#namespaces = namespaces;
  }

  /** Names the operation of the effects that follow, for faults. */
  begin(label: string): void {
    this.#label = label;
  }

  /** The first failure. It is known after the `flush` that waits for its effect. */
  get failure(): Fault | undefined {
    return this.#failure;
  }

  /**
   * Queues a message; neighbours to the same place are sent together. The promise settles after `dispatch` or `flush`; undefined: the kernel gave
   * no answer. Messages to one place are sent before messages to the other place that are queued after them.
   */
  send(place: LinksPlace, message: Message): Promise<NetlinkAnswer | undefined> {
    const excludes = (entry: Entry): boolean =>
      entry.place !== place ||
      (isDump(entry.request) && isDump(message.request)) ||
      (place === "pod" && entry.usesSecondNamespace !== message.usesSecondNamespace);
    if (this.#settings !== undefined || this.#queue.some(excludes)) this.dispatch();
    return new Promise((resolve) => {
      const entry: Entry = { ...message, label: this.#label, place, resolve, answer: undefined, exchange: undefined };
      this.#queue.push(entry);
      this.#log.push(entry);
    });
  }

  /** Sends the queued effects without waiting for their answers. */
  dispatch(): void {
    this.#dispatchSettings();
    const [first] = this.#queue;
    if (first === undefined) return;
    const entries = this.#queue;
    this.#queue = [];
    this.#pending.push(this.#exchange(first.place, entries));
  }

  #dispatchSettings(): void {
    const batch = this.#settings;
    if (batch === undefined) return;
    this.#settings = undefined;
    const { write, settings, interpreters } = batch;
    const writing = write(settings).then((outcomes) => {
      for (const [index, interpret] of interpreters.entries())
        interpret(outcomes[index] ?? { reason: "the shim did not answer" });
    });
    this.#pending.push(writing);
  }

  async #exchange(place: LinksPlace, entries: readonly Entry[]): Promise<void> {
    const exchange = await this.#namespaces.exchange(
      place,
      entries.map(({ request }) => request),
      entries.some(({ usesSecondNamespace }) => usesSecondNamespace === true),
    );
    for (const [index, entry] of entries.entries()) {
      entry.exchange = exchange;
      entry.answer = exchange.answers[index];
      entry.resolve(entry.answer);
    }
  }

  /** Sends the queued effects and waits for all answers. Answers whether everything succeeded so far. */
  async flush(): Promise<boolean> {
    this.dispatch();
    const pending = this.#pending;
    this.#pending = [];
    await Promise.all(pending);
    for (const entry of this.#log) {
      if (this.#failure !== undefined) break;
      this.#failure = "label" in entry ? failureOf(entry, this.#namespaces) : entry.fault;
    }
    return this.#failure === undefined;
  }

  /** Records an undo for a change that was made outside of the queue. */
  record(undo: Undo): void {
    this.dispatch();
    this.#log.push({ undo });
  }

  /** Queues the write of a setting; neighbours in the same place are written together. `interpret` gives the undo or the failure. */
  set(
    place: LinksPlace,
    write: SettingBatch["write"],
    setting: Setting,
    interpret: (outcome: SettingOutcome) => EffectResult,
  ): void {
    if (this.#queue.length > 0 || this.#settings?.place !== place) this.dispatch();
    const result: EffectResult = {};
    this.#log.push(result);
    const { settings, interpreters } = (this.#settings ??= { place, write, settings: [], interpreters: [] });
    settings.push(setting);
    interpreters.push((outcome) => void Object.assign(result, interpret(outcome)));
  }

  /**
   * Undoes all effects, the last first, except on shared resources that others use. Answers a line for each undo that failed.
   */
  async undo(isUsedByOthers: (shared: string) => boolean): Promise<readonly string[]> {
    await this.flush();
    const undos = this.#log
      .toReversed()
      .flatMap((entry) => ("label" in entry ? undosOf(entry) : (entry.undo ?? [])))
      .filter(({ shared }) => shared === undefined || !isUsedByOthers(shared));
    const ordered = [...undos.filter(({ last }) => last !== true), ...undos.filter(({ last }) => last === true)];
    const failures: string[] = [];
    for (let at = 0; at < ordered.length;) {
      const undo = ordered[at];
      if (undo === undefined) break;
      if ("run" in undo) {
        const reason = await undo.run();
        if (reason !== undefined) failures.push(notUndone(undo.action, reason));
        at++;
        continue;
      }
      const batch: { readonly request: NetlinkRequest; readonly action: string }[] = [];
      for (let next = ordered[at]; next !== undefined && "place" in next && next.place === undo.place; next = ordered[at]) {
        batch.push(next);
        at++;
      }
      failures.push(...(await this.#undoBatch(undo.place, batch)));
    }
    return failures;
  }

  async #undoBatch(
    place: LinksPlace,
    batch: readonly { readonly request: NetlinkRequest; readonly action: string }[],
  ): Promise<readonly string[]> {
    const exchange = await this.#namespaces.exchange(
      place,
      batch.map(({ request }) => request),
    );
    if (isGone(exchange)) return [];
    return batch.flatMap(({ action }, index) => {
      const answer = exchange.answers[index];
      if (answer === undefined) return [notUndone(action, "the kernel gave no answer")];
      return answer.errno === 0 || alreadyUndone.includes(answer.errno) ? [] : [notUndone(action, refusalText(answer))];
    });
  }
}

function notUndone(action: string, reason: string): string {
  return `not undone: ${action}: ${reason}`;
}

/** Whether the request is a dump. The kernel runs one dump at a time for each socket (EBUSY). */
function isDump({ type, flags }: NetlinkRequest): boolean {
  return (type & 3) === GET && (flags & NLM_F_DUMP) === NLM_F_DUMP;
}

function undosOf({ exchange, answer, undo }: Entry): readonly Undo[] {
  if (undo === undefined || exchange?.sent !== true) return [];
  return answer === undefined || answer.errno === 0 ? undo(answer) : [];
}

function failureOf(
  { label, action, ignoredErrnos = [], ignoresMissingNamespace, exchange, answer }: Entry,
  namespaces: Namespaces,
): Fault | undefined {
  if (exchange === undefined) return undefined;
  if (!exchange.sent) {
    if (ignoresMissingNamespace === true && isGone(exchange)) return undefined;
    const reason = namespaces.unreachable(exchange.errno);
    return { ...reason, msg: `${reason.msg} for ${label}: ${action}` };
  }
  if (answer === undefined)
    return fault(
      "NETLINK_FAILED",
      `links: ${label}: ${action}: the kernel's answer is incomplete, so it is unknown whether the change was made`,
    );
  if (answer.errno === 0 || ignoredErrnos.includes(answer.errno)) return undefined;
  return fault("NETLINK_FAILED", `links: ${label}: ${action}: ${refusalText(answer)}`);
}
