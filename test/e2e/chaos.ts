// Pods that come and go, several at once, while their daemon is killed again and again: what a runtime sees of each call, and what stands
// and falls with it.

import { setTimeout as delay } from "node:timers/promises";

import { startDaemon, type TestDaemon } from "../harness/daemon.ts";
import type { PodNamespace } from "../harness/namespaces.ts";
import type { Answer } from "../harness/plexus.ts";
import type { Stage } from "./stage.ts";

const lanes = 8;
/** The daemon dies when so many calls are under way. */
const underWayAtDeath = 4;
/** It comes back once so many calls were answered without it. */
const withoutDaemon = 2;
/** Tries of a runtime until it gives up. */
const mostTries = 12;
const lookMs = 5;
/** What the count of turns says, but for that a daemon listens. */
const dying = 1;
const gone = 2;

export interface ChaosInit {
  readonly stage: Stage;
  readonly socket: string;
  readonly config: object;
  /** CNI_ARGS of every pod. */
  readonly args: string;
  /** Links that an attached pod has. */
  readonly links: readonly string[];
  readonly random: () => number;
}

/** When it is enough. */
export interface ChaosGoal {
  readonly pods: number;
  readonly deaths: number;
  /** Calls that the death of a daemon cut off. */
  readonly cut: number;
  /** Pods after which it is given up. */
  readonly mostPods: number;
}

export class Chaos {
  /** What was not as it should be. */
  readonly wrong: string[] = [];
  pods = 0;
  deaths = 0;
  cut = 0;
  /** Calls that succeeded though they began and ended without a daemon. */
  alone = 0;
  readonly #init: ChaosInit;
  #underWay = 0;
  #done = false;
  /** Counts on with each change of the daemon: it listens, is being killed, is gone, and again. */
  #turns = 0;

  constructor(init: ChaosInit) {
    this.#init = init;
  }

  async run(goal: ChaosGoal): Promise<void> {
    const reached = (): boolean => this.pods >= goal.pods && this.deaths >= goal.deaths && this.cut >= goal.cut;
    const lane = async (): Promise<void> => {
      while (!reached() && this.pods < goal.mostPods) await this.#pod(this.pods++);
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
    return `${this.pods} pods, ${this.deaths} daemons killed, ${this.cut} calls cut off, ${this.alone} served without a daemon`;
  }

  async #kill(): Promise<void> {
    let daemon: TestDaemon | undefined = await startDaemon({ socket: this.#init.socket });
    while (!this.#done) {
      await this.#until(() => this.#underWay >= underWayAtDeath);
      await delay(this.#init.random() * 50);
      if (this.#done) break;
      this.#turns += 1;
      daemon.signal("SIGKILL");
      await daemon.ended;
      this.#turns += 1;
      this.deaths += 1;
      const before = this.alone;
      await this.#until(() => this.alone >= before + withoutDaemon);
      daemon = await startDaemon({ socket: this.#init.socket });
      this.#turns += 1;
    }
    await daemon.stop();
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!this.#done && !holds()) await delay(lookMs);
  }

  /** The sandboxes of one pod, until one stands; then it goes. */
  async #pod(number: number): Promise<void> {
    for (let sandbox = 0; sandbox < mostTries; sandbox++) {
      const containerId = `pod${number}-${sandbox}`;
      const pod = this.#init.stage.pod();
      const added = await this.#call("ADD", containerId, pod);
      if (added.status === 0) this.#compare(containerId, pod, this.#init.links, "its ADD succeeded");
      const deleted = await this.#delete(containerId, pod);
      if (deleted) this.#compare(containerId, pod, [], "its DEL succeeded");
      pod.dispose();
      if (added.status === 0) return;
    }
    this.wrong.push(`pod${number}: no sandbox stood after ${mostTries} tries`);
  }

  async #delete(containerId: string, pod: PodNamespace): Promise<boolean> {
    for (let tries = 0; tries < mostTries; tries++) {
      if ((await this.#call("DEL", containerId, pod)).status === 0) return true;
    }
    this.wrong.push(`${containerId}: DEL did not succeed after ${mostTries} tries`);
    return false;
  }

  async #call(verb: "ADD" | "DEL", containerId: string, pod: PodNamespace): Promise<Answer> {
    const { stage, socket, config, args } = this.#init;
    const turns = this.#turns;
    this.#underWay += 1;
    const answer = await stage
      .request({ verb, containerId, netns: pod.path, ifname: "eth0", args, config, env: { PLEXUS_SOCKET: socket } })
      .finally(() => (this.#underWay -= 1));
    const unchanged = turns === this.#turns;
    if (answer.status === 0) this.alone += unchanged && turns % 3 === gone ? 1 : 0;
    else if (answer.json?.["code"] === 11 && !(unchanged && turns % 3 !== dying)) this.cut += 1;
    else this.wrong.push(`${containerId}: ${verb} failed with ${answer.status}: ${answer.stdout}${answer.stderr}`);
    return answer;
  }

  /** An answer must be true: what succeeded has happened, wholly. */
  #compare(containerId: string, pod: PodNamespace, wanted: readonly string[], because: string): void {
    const links = pod.links().map(({ name }) => name);
    if (links.toSorted().join() !== wanted.join()) this.wrong.push(`${containerId}: ${because}, and it has [${links.join()}]`);
  }
}
