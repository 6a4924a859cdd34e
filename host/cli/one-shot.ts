// The one-shot brain: started by the hands for one call, where no daemon runs. It speaks with them over file descriptor 3,
// synchronously, answers, and ends.

import { fault } from "../../src/fault/fault.ts";
import { printError } from "../../src/cni/error-json.ts";
import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import { defaultWasm } from "../../src/configuration/wasm-configuration.ts";
import { answer, type BrainDeps, type CallInProgress } from "../brain/answer.ts";
import { answerAsPlugin } from "../brain/nested-call.ts";
import { PluginFinder } from "../brain/plugin-finder.ts";
import { type DelegateRunner, type StepRunnerInit, stepRunner } from "../brain/step-runner.ts";
import { openTrace } from "../brain/trace.ts";
import { HandsGone } from "../hands/hands.ts";
import type { Reply, Request } from "../hands/messages.ts";
import { OneShotHands } from "../hands/one-shot-hands.ts";
import { OneShotStream, receiveCall } from "../hands/one-shot-stream.ts";
import { type LockAnswer, lockSync, type LockRequest } from "../locks/file-lock.ts";

/** The name under which the hands are Plexus itself; under any other they may be a delegate. */
const ownName = "plexus";

/** Characters of log that one call hands to the runtime. */
const mostLog = 1024 * 1024;

/** What a delegate that is called as a plugin of its own runs with: there is no host configuration then. */
const bareConfiguration: StepRunnerInit["configuration"] = {
  stepTimeoutMs: 60_000,
  wasm: defaultWasm,
};

async function main(): Promise<void> {
  try {
    const stream = new OneShotStream();
    const request = receiveCall(stream);
    const brain = new OneShotBrain(stream);
    brain.hands.reply(await brain.answer(request));
  } catch (error) {
    // Without hands nobody waits for an answer; the journal holds what the next DEL needs.
    if (!(error instanceof HandsGone)) throw error;
  }
  // At once: nothing is left to be done, and sandbox processes end when their pipes close.
  process.exit();
}

class OneShotBrain {
  readonly hands: OneShotHands;
  readonly #progress: CallInProgress = { configuration: undefined };
  readonly #log: string[] = [];
  #delegates: DelegateRunner | undefined;

  constructor(stream: OneShotStream) {
    this.hands = new OneShotHands(stream, (request) => this.#guarded(() => this.#answerAsPlugin(request, true)));
  }

  async answer(request: Request): Promise<Omit<Reply, "kind">> {
    const reply = await this.#guarded(() =>
      this.#isDelegate(request) ? this.#answerAsPlugin(request, false) : answer(request, this.#deps(), this.#progress),
    );
    // Delegates have a budget each; all of a call together must still fit into the reply.
    return { ...reply, stderr: this.#log.join("").slice(0, mostLog) };
  }

  #isDelegate({ name, environment }: Request): boolean {
    if (name === ownName || (environment.get("CNI_COMMAND") ?? "") === "") return false;
    return this.hands.findSync({ type: name, componentFirst: true }).what === "component";
  }

  #answerAsPlugin(request: Request, nested: boolean): Promise<Omit<Reply, "kind">> {
    const configuration = this.#progress.configuration ?? bareConfiguration;
    const deps = this.#deps();
    const trace = openTrace(this.#progress.configuration?.trace, deps.date, deps.warn);
    return answerAsPlugin(request, (network, ifname) =>
      stepRunner(
        { ...deps, plugins: new PluginFinder(this.hands, true), trace },
        { configuration, nest: "", network, ifname, nested, componentOnly: true },
      ),
    );
  }

  #deps(): BrainDeps {
    return {
      hands: this.hands,
      delegates: {
        run: async (...args) => (await this.#openDelegates(args[0])).run(...args),
        admit: async (...args) => (await this.#openDelegates(args[0])).admit(...args),
      },
      takeLock: async (request) => this.#takeLock(request),
      cluster: openCluster,
      warn: (text) => void this.#log.push(`plexus: warning: ${text}\n`),
      now: () => performance.now(),
      date: () => new Date(),
    };
  }

  /** Who waits does not read the stream, and must not go on for hands that are gone: their container may be deleted already. */
  #takeLock(request: LockRequest): LockAnswer {
    return lockSync(request, () => this.hands.ensureThere());
  }

  /** Leases and the sandbox are loaded with the first delegate, so that a call without one doesn't pay for them. */
  async #openDelegates(configuration: Pick<HostConfiguration, "wasm">): Promise<DelegateRunner> {
    const { delegatesForOneCall } = await import("./delegates-for-one-call.ts");
    this.#delegates ??= await delegatesForOneCall(
      this.hands,
      (request) => this.#takeLock(request),
      configuration,
      (line) => void this.#log.push(line),
    );
    return this.#delegates;
  }

  /** A defect of ours becomes an answer too: a runtime must never be left with an empty one. */
  async #guarded(act: () => Promise<Omit<Reply, "kind">>): Promise<Omit<Reply, "kind">> {
    try {
      return await act();
    } catch (error) {
      if (error instanceof HandsGone) throw error;
      const reason = error instanceof Error ? error : new Error(String(error));
      const internal = fault("INTERNAL", reason.message, { details: reason.stack ?? "" });
      return { status: 1, stdout: printError(internal), stderr: "" };
    }
  }
}

/** Loaded only where manifests are configured. */
async function openCluster(configuration: HostConfiguration): ReturnType<BrainDeps["cluster"]> {
  if (configuration.manifests === undefined) return undefined;
  const { manifestDirectory } = await import("../cluster/manifest-directory.ts");
  return manifestDirectory(configuration.manifests);
}

void main();
