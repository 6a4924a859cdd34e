// Several contenders attach and detach a pod in turns, in one run, so that the machine's load affects all of them alike.

import type { Contender } from "./contender.ts";
import { type LaneCall, type PodNamespaces, runAll, runLanes } from "./lanes.ts";

/** Durations of a pod's ADD and DEL in each turn, in ms; the sum if a contender needs several calls. */
export interface PodTimes {
  readonly add: number[];
  readonly del: number[];
}

export interface Rotation<Name extends string> {
  readonly contenders: Readonly<Partial<Record<Name, Contender>>>;
  /** The network namespace of the pod. */
  readonly namespaces: PodNamespaces;
  /** The number of the pod's links after the ADD. */
  readonly links: number;
  /** The number of turns before the first sample, and of turns that are sampled. */
  readonly warmUp: number;
  readonly turns: number;
  /** Called with a contender's failure; that contender then has no further turns. Without it the first failure is thrown. */
  readonly onFailure?: (contender: Name, error: unknown) => void;
}

/** Runs the turns, each beginning with another contender. A missing link, or state left after DEL, is a failure. */
export async function inRotation<Name extends string>(rotation: Rotation<Name>): Promise<ReadonlyMap<string, PodTimes>> {
  const { contenders, namespaces, links, warmUp, turns, onFailure } = rotation;
  const all = entriesOf(contenders).flatMap(([name, contender]) =>
    contender === undefined ? [] : [{ name, contender, taken: { add: [], del: [] } as PodTimes }],
  );
  let active = all;
  for (let turn = 0; turn < warmUp + turns; turn++) {
    const first = turn % active.length;
    for (const { name, contender, taken } of [...active.slice(first), ...active.slice(0, first)]) {
      try {
        const add = await total(`${name} ADD`, contender.add(0));
        if (namespaces.links().length !== links) throw new Error(`${name}: the pod lacks a link`);
        const del = await total(`${name} DEL`, contender.del(0));
        const left = contender.left();
        if (left.length > 0) throw new Error(`${name} left behind: ${left.join(", ")}`);
        if (turn < warmUp) continue;
        taken.add.push(add);
        taken.del.push(del);
      } catch (error) {
        if (onFailure === undefined) throw error;
        onFailure(name, error);
        active = active.filter((each) => each.contender !== contender);
        await runLanes(1, [contender.del(0)]);
        if (namespaces.links().length > 0) throw error;
      }
    }
  }
  return new Map(all.map(({ name, taken }) => [name, taken]));
}

function entriesOf<Name extends string>(
  contenders: Readonly<Partial<Record<Name, Contender>>>,
): readonly (readonly [Name, Contender | undefined])[] {
  const names = Object.keys(contenders) as Name[];
  return names.map((name) => [name, contenders[name]] as const);
}

/** Runs the calls one after the other and returns the sum of their durations. */
async function total(what: string, calls: readonly LaneCall[]): Promise<number> {
  return (await runAll(what, 1, [calls])).calls.reduce((sum, { ms }) => sum + ms, 0);
}
