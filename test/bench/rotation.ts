// One pod that several contenders attach and detach in turns, in one run: how busy the machine is weighs on all of them alike.

import type { Contender } from "./contender.ts";
import { type LaneCall, type PodNamespaces, runAll } from "./lanes.ts";

/** What one pod's calls took in each turn, in ms; their sum where a contender needs several. */
export interface PodTimes {
  readonly add: number[];
  readonly del: number[];
}

export interface Rotation<Name extends string> {
  readonly contenders: Readonly<Partial<Record<Name, Contender>>>;
  /** Of one pod. */
  readonly namespaces: PodNamespaces;
  /** Links that the pod has then. */
  readonly links: number;
  /** Turns that are not counted, and turns that are. */
  readonly warmUp: number;
  readonly turns: number;
}

/** Takes turns, each beginning with another contender; throws where a link is missing or anything is left behind. */
export async function inRotation<Name extends string>(rotation: Rotation<Name>): Promise<ReadonlyMap<string, PodTimes>> {
  const { contenders, namespaces, links, warmUp, turns } = rotation;
  const all = Object.entries<Contender | undefined>(contenders).flatMap(([name, contender]) =>
    contender === undefined ? [] : [{ name, contender, taken: { add: [], del: [] } as PodTimes }],
  );
  for (let turn = 0; turn < warmUp + turns; turn++) {
    const first = turn % all.length;
    for (const { name, contender, taken } of [...all.slice(first), ...all.slice(0, first)]) {
      const add = await total(`${name} ADD`, contender.add(0));
      if (namespaces.links().length !== links) throw new Error(`${name}: the pod lacks a link`);
      const del = await total(`${name} DEL`, contender.del(0));
      const left = contender.left();
      if (left.length > 0) throw new Error(`${name} left behind: ${left.join(", ")}`);
      if (turn < warmUp) continue;
      taken.add.push(add);
      taken.del.push(del);
    }
  }
  return new Map(all.map(({ name, taken }) => [name, taken]));
}

/** What calls take, one after the other. */
async function total(what: string, calls: readonly LaneCall[]): Promise<number> {
  return (await runAll(what, 1, [calls])).calls.reduce((sum, { ms }) => sum + ms, 0);
}
