// Undoes stale attachments through the agent, with the code, the configuration and the locks of a DEL. Under the container's lock, the
// facts that made the attachment stale are checked again before anything changes.

import { ok, type Result } from "../../../src/fault/result.ts";
import type { Staleness } from "../../../src/reconcile/judge-entry.ts";
import type { Lease } from "../../../src/reconcile/lease-owners.ts";
import type { TakeLock } from "../../store/locks/file-lock.ts";
import type { Call } from "../../engine/call.ts";
import { CurrentNetworks } from "../../engine/plan/current-network.ts";
import { countFailedDel, finishAbandoned } from "../../engine/verbs/converge.ts";
import { deletionOf } from "../../engine/session/internal-call.ts";
import { withoutSharedResults } from "../../store/journal/shared-addresses.ts";
import { undoEntry } from "../../engine/verbs/undo.ts";
import type { JournalEntry, JournalPlan } from "../../store/journal/entry.ts";
import type { AbandonedFile } from "../../store/journal/abandoned.ts";
import { type Agent, requireKept, runAgentCall } from "../agent-call.ts";
import { agentStdin } from "./agent-stdin.ts";
import { isUnchanged, type ListedEntry } from "./entry-list.ts";
import type { Handled } from "./finding.ts";
import { isHeld } from "./lease-list.ts";
import { NativeSteps } from "./native-steps.ts";
import type { KeptConfigurations } from "./kept-configurations.ts";
import { createPodEvent } from "./pod-event.ts";
import { reasonToDoubt } from "./reason-to-doubt.ts";

/** Time limit of one native step, in ms: far below the 60 s that a DEL of the runtime waits for the container's lock. */
const stepMs = 15_000;

/** The dependencies of the cleaner in one round. */
export interface CleanDeps extends CleanTerms {
  /** Absolute, without a slash at its end. */
  readonly stateDirectory: string;
  readonly configurations: KeptConfigurations;
  /** Reads the journal's current entries. */
  readonly entries: () => Promise<readonly ListedEntry[]>;
  /** Milliseconds that the next chain may take; Infinity in a round. A DEL that fails without time left does not count as failed. */
  readonly leftMs: () => number;
}

/** The parts of a round, or of a call, that undo a finding. */
export interface CleanTerms {
  readonly agent: Agent;
  readonly takeLock: TakeLock;
  readonly dryRun: boolean;
  /** Receives the log lines of a call. */
  readonly log: (lines: string) => void;
}

type Work = (call: Call) => Promise<Result<Handled>>;

/** Cleans the findings of one round. */
export class Cleaner {
  readonly #deps: CleanDeps;

  constructor(deps: CleanDeps) {
    this.#deps = deps;
  }

  /** Undoes a stale journal entry. Throws ShimGone. */
  entry(found: ListedEntry, why: Staleness): Promise<Handled> {
    const { plan } = found.entry;
    return this.#act(plan, async (call) => {
      if (!isUnchanged(call.journal, found)) return ok(changed);
      const doubt =
        why === "namespace-gone" ? await reasonToDoubt(this.#deps.agent.shim, found.entry, this.#deps.entries) : undefined;
      if (doubt !== undefined) return ok({ handling: "reported", note: doubt });
      if (this.#isDry(call)) return ok(dry);
      const before = abandonedOf(call);
      const networks = new CurrentNetworks(call);
      const native = this.#nativeSteps(call);
      const entry = await this.#withoutShared(found.entry);
      const undone = await undoEntry(call, entry, "", {
        choose: async (list, planned) => (await networks.mayCollect(list, planned)) && (await native.allow(list)),
      });
      if (!undone.ok && this.#isProvisional()) return undone;
      const counted = undone.ok ? undone : await countFailedDel(call, entry, "", undone.fault);
      if (!counted.ok) return counted;
      if (abandonedOf(call) > before) return ok({ handling: "given-up" });
      const remaining = call.journal.load(plan);
      if (!remaining.ok) return remaining;
      return ok(remaining.value === undefined ? cleaned : kept(native));
    });
  }

  /** Tries again to undo an abandoned attachment. Throws ShimGone. */
  abandoned(file: AbandonedFile, { plan }: JournalEntry): Promise<Handled> {
    return this.#act(plan, async (call) => {
      if (this.#isDry(call)) return ok(dry);
      const native = this.#nativeSteps(call);
      const finished = await finishAbandoned(call, file, (list) => native.allow(list));
      if (!finished.ok) return finished;
      if (native.note !== undefined) return ok(kept(native));
      const remaining = call.abandoned.load(file);
      if (!remaining.ok) return remaining;
      return ok(remaining.value === undefined ? cleaned : gcDisabled);
    });
  }

  /** Undoes an attachment once more, because its lease remains although the attachment has left the journal. Throws ShimGone. */
  departed(entry: JournalEntry, lease: Lease): Promise<Handled> {
    return this.#act(entry.plan, async (call) => {
      const doubt = await reasonToDoubt(this.#deps.agent.shim, entry, this.#deps.entries);
      if (doubt !== undefined) return ok({ handling: "reported", note: doubt });
      const keys = call.journal.list();
      if (!keys.ok) return keys;
      if (keys.value.some(({ containerId }) => containerId === entry.plan.containerId)) return ok(changed);
      if (this.#isDry(call)) return ok(dry);
      // The journal has no entry any more that could keep the progress of this undo.
      const keeper = { append: () => ok(undefined), remove: () => ok(undefined) };
      const all = { ...entry, progress: entry.progress.map((each) => ({ ...each, attempted: true, undone: false })) };
      const native = this.#nativeSteps(call);
      const networks = new CurrentNetworks(call);
      const undone = await undoEntry(call, await this.#withoutShared(all), "", {
        choose: async (list, planned) => (await networks.mayCollect(list, planned)) && (await native.allow(list)),
        keeper,
      });
      if (!undone.ok) return undone;
      if (native.note !== undefined) return ok(kept(native));
      return ok(isHeld(lease) ? { handling: "failed", note: "the plugins' DEL succeeded, but the lease remains" } : cleaned);
    });
  }

  /** Runs `work` with the context of a DEL, under the container's lock. Answers `busy` if another call holds the lock. */
  async #act(plan: JournalPlan, work: Work): Promise<Handled> {
    const { agent, configurations, stateDirectory, takeLock, log } = this.#deps;
    const configured = agentStdin(configurations, agent, plan);
    if (!configured.ok) return { handling: "reported", note: configured.fault.msg };
    if ("why" in configured.value) return { handling: "reported", note: configured.value.why };
    const { stdin } = configured.value;
    const init = { agent, variables: deletionOf(plan), stdin, stateDirectory, takeLock, maxWaitMs: 0, log };
    const acted = await runAgentCall(init, (opened) => this.#actLocked(opened, plan, work));
    return acted.ok ? acted.value : { handling: "failed", note: acted.fault.msg };
  }

  /** Runs `work` in the opened call under the container's lock, and tells the pod. Fault INTERNAL: the kept configuration is another one. */
  async #actLocked(opened: Call, plan: JournalPlan, work: Work): Promise<Result<Handled>> {
    const { stateDirectory, leftMs } = this.#deps;
    const configured = requireKept(opened, stateDirectory, plan.network);
    if (!configured.ok) return configured;
    const call: Call = { ...opened, runStep: (chain) => opened.runStep(chain, Math.min(stepMs, leftMs())) };
    const held = await call.locks.container(plan);
    if (!held.ok)
      return ok(held.fault.kind === "CALL_BUSY" ? { handling: "busy" } : { handling: "failed", note: held.fault.msg });
    let handled: Handled;
    try {
      const worked = await work(call);
      handled = worked.ok ? worked.value : { handling: "failed", note: worked.fault.msg };
    } finally {
      held.value();
    }
    await createPodEvent(call, plan, handled);
    return ok(handled);
  }

  /** The entry without results that have an address of another entry: plugins such as `firewall` undo by address. */
  async #withoutShared(entry: JournalEntry): Promise<JournalEntry> {
    const others = await this.#deps.entries();
    return withoutSharedResults(
      entry,
      entry.plan,
      others.map((listed) => listed.entry),
    );
  }

  /** The native plugins that this agent would have to run. */
  #nativeSteps({ plugins }: Call): NativeSteps {
    return new NativeSteps(this.#deps.agent.runsPlugins ? undefined : plugins);
  }

  /** Whether a failed DEL says nothing about the attachment: its plugins had no time, or the agent may lack what they need. */
  #isProvisional(): boolean {
    return !this.#deps.agent.runsPlugins || this.#deps.leftMs() <= 0;
  }

  #isDry({ configuration }: Call): boolean {
    return this.#deps.dryRun || configuration.gc.dryRun;
  }
}

const cleaned: Handled = { handling: "cleaned" };
const dry: Handled = { handling: "dry-run" };
const changed: Handled = { handling: "busy" };
/** The outcome for an attachment of which something is left, although nothing failed. */
function kept({ note }: NativeSteps): Handled {
  return note === undefined ? gcDisabled : { handling: "waiting", note };
}

const gcDisabled: Handled = {
  handling: "reported",
  note: "its network has disableGC, so only the runtime's DEL may remove it",
};

/** The number of abandoned attachments of this call's container, network and interface. */
function abandonedOf({ abandoned, request, configuration }: Call): number {
  const files = abandoned.list({ containerId: request.containerId, network: configuration.name, ifname: request.ifname });
  return files.ok ? files.value.length : 0;
}
