// A component under test: each execution is a call in the sandbox of a node, whose state stays in memory between the calls.

import { vectorOf, type Vector } from "../../testing/vector.ts";
import { cniVersionOf, type PreparedComponent, refusedRun, type Run } from "../../component/run.ts";
import { Skip } from "../check.ts";
import type { Setup } from "../setup.ts";
import type { Execution, IpamCall, Reply, State, StateKind, Subject, TestNode } from "../subject.ts";
import { MemoryNode } from "./memory-node.ts";

/** A component under test. `type`: the name of its file without `.wasm`. */
export function componentSubject(type: string, component: PreparedComponent): Subject {
  return { kind: "component", type, openNode: async (setup) => new ComponentNode(component, setup) };
}

class ComponentNode implements TestNode {
  readonly stateDirectory = "/state";
  readonly runDirectory = "/run/kit";
  readonly #component: PreparedComponent;
  readonly #node: MemoryNode;

  constructor(component: PreparedComponent, setup: Setup) {
    this.#component = component;
    this.#node = new MemoryNode(setup);
  }

  async makePod(): Promise<string> {
    return this.#node.makePod();
  }

  async removePod(netns: string): Promise<void> {
    this.#node.removePod(netns);
  }

  async execute(execution: Execution): Promise<Reply> {
    if (execution.verb === "VERSION") return replyOf(this.#component.version());
    const { vector, version } = requestOf(execution);
    const refused = this.#component.versionFault(version);
    if (refused !== undefined) return replyOf(refusedRun(refused, version));
    return replyOf(this.#component.callOn(this.#node.forCall(vector), version));
  }

  async executeAtOnce(executions: readonly Execution[]): Promise<readonly Reply[]> {
    if (!("promising" in WebAssembly))
      throw new Skip(`Node ${process.versions.node} cannot suspend a component: use Node 25 or newer`);
    const calls = executions.map(requestOf);
    const runs = calls.map(({ vector, version }) => this.#component.callSuspendedOn(this.#node.forCall(vector), version));
    return (await Promise.all(runs)).map(replyOf);
  }

  async state(netns: string): Promise<State> {
    return this.#node.state(netns);
  }

  async restore(netns: string, kind: StateKind, before: State): Promise<void> {
    this.#node.restore(netns, kind, before);
  }

  async ipamCalls(): Promise<readonly IpamCall[]> {
    return this.#node.ipam.calls;
  }

  async failIpam(verb: string): Promise<void> {
    this.#node.ipam.failing.add(verb);
  }

  async dispose(): Promise<void> {}
}

function requestOf({ verb, env, stdin }: Execution): { readonly vector: Vector; readonly version: string } {
  const head = JSON.stringify({ about: "A check.", verb, env }).slice(0, -1);
  const vector = vectorOf("request", `${head},"stdin":${stdin}}`, "request");
  return { vector, version: cniVersionOf(vector) };
}

function replyOf({ succeeded, stdout, log }: Run): Reply {
  return { status: succeeded ? 0 : 1, stdout, stderr: log.join("\n"), heldStdout: false };
}
