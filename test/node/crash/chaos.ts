// Attaches and detaches pods concurrently while their daemon is killed repeatedly. Every answer is compared with the links that exist.

import { setTimeout as delay } from "node:timers/promises";

import { startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import type { PodNamespace } from "../../lab/namespaces.ts";
import type { Answer } from "../../lab/plexus.ts";
import type { Stage } from "../../lab/stage.ts";

const lanes = 8;
/** The daemon is killed when this many calls are in progress. */
const callsBeforeKill = 4;
/** The daemon is started again after this many successful calls without a daemon. */
const callsBeforeRestart = 2;
/** Attempts of the runtime before it gives up. */
const maxAttempts = 12;
const pollMs = 5;
/** The state of the daemon is `#transitions % 3`: 0 is a listening daemon. */
const dying = 1;
const gone = 2;
const hadNoPlace = /waited \d+ s: no daemon listens .*one-shot engines run already/;

export interface ChaosInit {
  readonly stage: Stage;
  readonly socket: string;
  readonly config: object;
  /** CNI_ARGS of every pod. */
  readonly args: string;
  /** Names of an attached pod's links. */
  readonly links: readonly string[];
  readonly random: () => number;
}

/** The run ends when all of these numbers are reached. */
export interface ChaosGoal {
  readonly pods: number;
  readonly deaths: number;
  /** Calls that a killed daemon did not finish. */
  readonly cut: number;
  /** The run ends after this many pods even if the other numbers are not reached. */
  readonly maxPods: number;
}

export class Chaos {
  /** Descriptions of false answers and failed calls. */
  readonly wrong: string[] = [];
  pods = 0;
  deaths = 0;
  cut = 0;
  /** Successful calls during which no daemon existed. */
  withoutDaemon = 0;
  /** Calls that found all places of one-shot engines taken while no daemon existed. */
  withoutPlace = 0;
  readonly #init: ChaosInit;
  #inProgress = 0;
  #done = false;
  /** The number of the daemon's state changes: listening, dying, gone, and again from the start. */
  #transitions = 0;

  constructor(init: ChaosInit) {
    this.#init = init;
  }

  async run(goal: ChaosGoal): Promise<void> {
    const reached = (): boolean => this.pods >= goal.pods && this.deaths >= goal.deaths && this.cut >= goal.cut;
    const lane = async (): Promise<void> => {
      while (!reached() && this.pods < goal.maxPods) await this.#pod(this.pods++);
    };
    const killing = this.#kill();
    try {
      await Promise.all(Array.from({ length: lanes }, lane));
    } finally {
      this.#done = true;
      await killing;
    }
  }

  figures(): string {
    return `${this.pods} pods, ${this.deaths} daemons killed, ${this.cut} calls cut off, ${this.withoutDaemon} served without a daemon, ${this.withoutPlace} without a place`;
  }

  async #kill(): Promise<void> {
    let daemon: TestDaemon | undefined = await startDaemon({ socket: this.#init.socket });
    while (!this.#done) {
      await this.#until(() => this.#inProgress >= callsBeforeKill);
      await delay(this.#init.random() * 50);
      if (this.#done) break;
      this.#transitions += 1;
      daemon.signal("SIGKILL");
      await daemon.ended;
      this.#transitions += 1;
      this.deaths += 1;
      const before = this.withoutDaemon;
      await this.#until(() => this.withoutDaemon >= before + callsBeforeRestart);
      daemon = await startDaemon({ socket: this.#init.socket });
      this.#transitions += 1;
    }
    await daemon.stop();
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!this.#done && !condition()) await delay(pollMs);
  }

  /** Tries new sandboxes for one pod until an ADD succeeds. Each sandbox is deleted. */
  async #pod(number: number): Promise<void> {
    for (let sandbox = 0; sandbox < maxAttempts; sandbox++) {
      const containerId = `pod${number}-${sandbox}`;
      const pod = this.#init.stage.pod();
      const added = await this.#call("ADD", containerId, pod);
      if (added.status === 0) this.#compare(containerId, pod, this.#init.links, "its ADD succeeded");
      const deleted = await this.#delete(containerId, pod);
      if (deleted) this.#compare(containerId, pod, [], "its DEL succeeded");
      pod.dispose();
      if (added.status === 0) return;
    }
    this.wrong.push(`pod${number}: no sandbox was attached after ${maxAttempts} attempts`);
  }

  async #delete(containerId: string, pod: PodNamespace): Promise<boolean> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      if ((await this.#call("DEL", containerId, pod)).status === 0) return true;
    }
    this.wrong.push(`${containerId}: DEL did not succeed after ${maxAttempts} attempts`);
    return false;
  }

  async #call(verb: "ADD" | "DEL", containerId: string, pod: PodNamespace): Promise<Answer> {
    const { stage, socket, config, args } = this.#init;
    const transitions = this.#transitions;
    this.#inProgress += 1;
    const answer = await stage
      .request({ verb, containerId, netns: pod.path, ifname: "eth0", args, config, env: { PLEXUS_SOCKET: socket } })
      .finally(() => (this.#inProgress -= 1));
    const unchanged = transitions === this.#transitions;
    if (answer.status === 0) this.withoutDaemon += unchanged && transitions % 3 === gone ? 1 : 0;
    else if (answer.json?.["code"] === 11 && !(unchanged && transitions % 3 !== dying)) this.cut += 1;
    // On a busy machine a call may wait for a place among the one-shot engines until it gives up, which is true while no daemon listens.
    else if (transitions % 3 === gone && hadNoPlace.test(String(answer.json?.["msg"]))) this.withoutPlace += 1;
    else this.wrong.push(`${containerId}: ${verb} failed with ${answer.status}: ${answer.stdout}${answer.stderr}`);
    return answer;
  }

  /** Compares a pod's links with the state that a successful answer promises. */
  #compare(containerId: string, pod: PodNamespace, wanted: readonly string[], because: string): void {
    const links = pod.links().map(({ name }) => name);
    if (links.toSorted().join() !== wanted.join())
      this.wrong.push(`${containerId}: ${because}, but its links are [${links.join()}]`);
  }
}
