// Takes away what was found stale: with the code, the configuration and the locks of a DEL, by resident hands. Before anything is
// touched all that made it stale is looked at again, under the container's lock.

import { resolve } from "node:path";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import type { Staleness } from "../../src/reconcile/judge-entry.ts";
import type { Lease } from "../../src/reconcile/lease-owners.ts";
import type { BrainDeps } from "../brain/answer.ts";
import type { CallContext } from "../brain/call-context.ts";
import { undoOrLeave } from "../brain/converge.ts";
import { finishLeftBehind } from "../brain/finish-left-behind.ts";
import { callLocks } from "../brain/locks.ts";
import { lookAtNamespace } from "../brain/namespace-gone.ts";
import { removeNest } from "../brain/nest-directory.ts";
import type { OneCall } from "../brain/one-call.ts";
import { deletionOf } from "../brain/own-call.ts";
import { podIdentity } from "../brain/pod-identity.ts";
import { withoutSharedResults } from "../brain/shared-addresses.ts";
import { undoEntry } from "../brain/undo.ts";
import type { Environment } from "../hands/fields.ts";
import type { Hands } from "../hands/hands.ts";
import type { Request } from "../hands/messages.ts";
import type { JournalEntry, JournalPlan } from "../journal/entry.ts";
import { sameKey } from "../journal/entry-file.ts";
import type { LeftBehindFile } from "../journal/left-behind.ts";
import { listLinks } from "../netlink/operations.ts";
import { hostLinksOf } from "./host-links.ts";
import { isUnchanged, type ListedEntry } from "./entry-list.ts";
import type { Handling } from "./finding.ts";
import { isHeld } from "./lease-list.ts";
import type { KeptConfigurations } from "./kept-configurations.ts";

/** Milliseconds of one native step: a DEL of the runtime that waits for the container's lock waits 60 s. */
const stepMs = 15_000;

/** What became of one piece of work. */
export interface Handled {
  readonly handling: Handling;
  readonly note?: string;
}

export interface CleanDeps {
  /** Absolute, without a slash at its end. */
  readonly stateDirectory: string;
  readonly configurations: KeptConfigurations;
  readonly resident: RoundHands;
  readonly takeLock: BrainDeps["takeLock"];
  readonly dryRun: boolean;
  /** The journal's entries as they are now. */
  readonly entries: () => Promise<readonly ListedEntry[]>;
  /** Takes lines of a call's log. */
  readonly log: (lines: string) => void;
}

/** Hands of one connection that stay; another connection is another object. */
export interface RoundHands {
  /** To look at namespaces and links by. */
  readonly hands: Pick<Hands, "netlink" | "ensureThere">;
  /** Theirs. */
  readonly environment: Environment;
  /** A call of their own. */
  readonly openCall: () => OneCall;
  /** A call's request, as hands that were started for it would have passed it on. */
  readonly requestOf: (variables: Environment, stdin: Uint8Array) => Request;
}

type Work = (context: CallContext) => Promise<Result<Handled>>;

export class Cleaner {
  readonly #deps: CleanDeps;

  constructor(deps: CleanDeps) {
    this.#deps = deps;
  }

  /** Undoes a stale entry of the journal. Throws HandsGone. */
  entry(found: ListedEntry, why: Staleness): Promise<Handled> {
    const { plan } = found.entry;
    return this.#act(plan, async (context) => {
      if (!isUnchanged(context.journal, found)) return ok(changed);
      const doubt = why === "namespace-gone" ? await this.#doubt(found.entry) : undefined;
      if (doubt !== undefined) return ok({ handling: "reported", note: doubt });
      if (this.#isDry(context)) return ok(dry);
      const before = leftBehindOf(context);
      const undone = await undoOrLeave(context, await this.#unshared(found.entry), "", { choose: (list) => !list.disableGC });
      if (!undone.ok) return undone;
      if (leftBehindOf(context) > before) return ok({ handling: "given-up" });
      const stays = context.journal.load(plan);
      if (!stays.ok || stays.value !== undefined) return ok(declined);
      removeNest(context.configuration.runDir, plan, plan.network);
      return ok(cleaned);
    });
  }

  /** Tries again what was left behind. Throws HandsGone. */
  leftBehind(file: LeftBehindFile, { plan }: JournalEntry): Promise<Handled> {
    return this.#act(plan, async (context) => {
      if (this.#isDry(context)) return ok(dry);
      const finished = await finishLeftBehind(context, file);
      if (!finished.ok) return finished;
      const stays = context.leftBehind.load(file);
      return ok(stays.ok && stays.value === undefined ? cleaned : declined);
    });
  }

  /** Undoes once more what was undone already, because an address of it is still held. Throws HandsGone. */
  departed(entry: JournalEntry, lease: Lease): Promise<Handled> {
    return this.#act(entry.plan, async (context) => {
      const doubt = await this.#doubt(entry);
      if (doubt !== undefined) return ok({ handling: "reported", note: doubt });
      const keys = context.journal.list();
      if (!keys.ok) return keys;
      if (keys.value.some(({ containerId }) => containerId === entry.plan.containerId)) return ok(changed);
      if (this.#isDry(context)) return ok(dry);
      const keeper = { append: () => ok(undefined), remove: () => ok(undefined) };
      const all = { ...entry, progress: entry.progress.map((each) => ({ ...each, attempted: true, undone: false })) };
      const undone = await undoEntry(context, await this.#unshared(all), "", { choose: (list) => !list.disableGC, keeper });
      if (!undone.ok) return undone;
      return ok(isHeld(lease) ? { handling: "failed", note: "its plugins' DEL succeeds, and the address stays" } : cleaned);
    });
  }

  /** Runs `work` under the container's lock, if nobody holds it now, with what a DEL of the runtime would work with. */
  async #act(plan: JournalPlan, work: Work): Promise<Handled> {
    const { configurations, takeLock, stateDirectory, log } = this.#deps;
    const { environment, openCall, requestOf, hands } = this.#deps.resident;
    const stdin = configurations.load(plan.network);
    if (!stdin.ok) return { handling: "reported", note: stdin.fault.msg };
    if (stdin.value === undefined) {
      return { handling: "reported", note: `the runtime has not yet given configuration ${plan.network} to the daemon` };
    }
    const path = environment.get("CNI_PATH") ?? "";
    if (!covers(path, plan.cniPath)) {
      const note = `its plugins are on CNI_PATH ${plan.cniPath}, that of the resident hands is ${path}`;
      return { handling: "reported", note };
    }
    const call = openCall();
    let handled: Handled = { handling: "reported" };
    try {
      const { ended, told } = await call.act(requestOf(deletionOf(plan), Buffer.from(stdin.value)), async (opened) => {
        const { cniDir, name } = opened.configuration;
        if (resolve(cniDir) !== stateDirectory || name !== plan.network) {
          return failed(fault("INTERNAL", `configuration ${plan.network} kept in ${stateDirectory} is ${name} of ${cniDir}`));
        }
        const locks = callLocks({ hands, takeLock }, stateDirectory, () => 0);
        const context: CallContext = { ...opened, locks, runStep: (network, ifname) => opened.runStep(network, ifname, stepMs) };
        const held = await locks.container(plan);
        if (!held.ok) {
          handled = held.fault.kind === "CALL_BUSY" ? { handling: "busy" } : { handling: "failed", note: held.fault.msg };
          return ok(undefined);
        }
        try {
          const worked = await work(context);
          handled = worked.ok ? worked.value : { handling: "failed", note: worked.fault.msg };
        } finally {
          held.value();
        }
        await tellPod(context, plan, handled);
        return ok(undefined);
      });
      log(told);
      return ended.ok ? handled : { handling: "failed", note: ended.fault.msg };
    } finally {
      void call.end();
    }
  }

  async #unshared(entry: JournalEntry): Promise<JournalEntry> {
    const others = await this.#deps.entries();
    return withoutSharedResults(
      entry,
      entry.plan,
      others.map((listed) => listed.entry),
    );
  }

  #isDry({ configuration }: CallContext): boolean {
    return this.#deps.dryRun || configuration.gc.dryRun;
  }

  /**
   * Why the namespace may live although its path is gone: looked at again; and one end of a veth goes with the namespace of its other
   * end, so a veth of the result that is still on the host, and no other entry's, has a peer in a namespace that lives.
   */
  async #doubt(entry: JournalEntry): Promise<string | undefined> {
    const { hands } = this.#deps.resident;
    const { netns } = entry.plan;
    if (netns !== "" && (await lookAtNamespace(hands, netns)) !== "gone") return `${netns} is there again`;
    const wanted = hostLinksOf(entry);
    if (wanted.size === 0) return undefined;
    const links = await listLinks(hands, "");
    if (!links.ok) return links.fault.msg;
    // udev gives a veth another MAC, a moment after its plugin told of it; a name may have been given again, where it is made of the pod's.
    const entries = (await this.#deps.entries()).filter(({ key }) => !sameKey(key, entry.plan));
    const others = new Set(entries.flatMap((listed) => [...hostLinksOf(listed.entry).keys()]));
    const alive = links.value.find(
      ({ name, kind, mac }) => kind === "veth" && wanted.has(name) && (wanted.get(name) === mac || !others.has(name)),
    );
    return alive === undefined ? undefined : `${netns} is gone, but its namespace lives: veth ${alive.name} is on the host`;
  }
}

const cleaned: Handled = { handling: "cleaned" };
const dry: Handled = { handling: "dry-run" };
const changed: Handled = { handling: "busy" };
const declined: Handled = {
  handling: "reported",
  note: "disableGC of its network says that only the runtime's DEL may take it away",
};

function leftBehindOf({ leftBehind, call, configuration }: CallContext): number {
  const files = leftBehind.list({ containerId: call.containerId, network: configuration.name, ifname: call.ifname });
  return files.ok ? files.value.length : 0;
}

/** Whether `wide` has the directories of `path`, in their order, whatever stands between them. */
function covers(wide: string, path: string): boolean {
  const left = directoriesOf(path);
  for (const directory of directoriesOf(wide)) if (directory === left[0]) left.shift();
  return left.length === 0;
}

function directoriesOf(path: string): string[] {
  const directories = path.split(":").filter((directory) => directory !== "");
  return directories.map((directory) => directory.replace(/(?<=.)\/+$/u, ""));
}

/** An Event on the pod, where an API is configured. The pod may be long gone: then nobody hears it. */
async function tellPod(context: CallContext, plan: JournalPlan, { handling, note }: Handled): Promise<void> {
  if (!["cleaned", "given-up", "failed"].includes(handling)) return;
  const identity = podIdentity(plan.cniArgs);
  if (!identity.ok || identity.value === undefined) return;
  const cluster = await context.cluster();
  const { namespace, name, uid } = identity.value;
  const networks = plan.attachments.map(({ source, ifname }) => `${source} as ${ifname}`).join(", ");
  const who = `sandbox ${plan.containerId} was gone without a DEL; its networks (${networks})`;
  cluster?.tell(
    { namespace, name, ...(uid === undefined ? {} : { uid }), annotations: new Map() },
    handling === "cleaned"
      ? { reason: "StaleAttachmentRemoved", message: `${who} were taken away` }
      : { reason: "StaleAttachmentLeft", message: `${who} could not be taken away: ${note ?? "given up"}` },
  );
}
