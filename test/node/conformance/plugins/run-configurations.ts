// Runs configurations through the native plugin and the delegate. One of them runs ADD, the other one CHECK and DEL of the
// attachment; the links are read after ADD and after DEL.

import { readResult } from "../../../../src/cni/read-result.ts";
import { toVersion } from "../../../../src/cni/versions.ts";
import type { LinkFacts } from "./namespace-state.ts";
import { type Configuration, type Kind, other, type CallAnswer, type SideBySide } from "./side-by-side.ts";

/** A configuration's outcomes, by the plugin that ran ADD. */
export type Outcomes = Readonly<Record<Kind, Outcome>>;

export interface Outcome {
  readonly added: CallAnswer;
  /** The facts of the attachment's link after ADD. */
  readonly made: LinkFacts | undefined;
  /** The answer of the other plugin's CHECK; undefined if the version has no CHECK, or the ADD failed. */
  readonly checked: CallAnswer | undefined;
  /** The answer of the other plugin's DEL; undefined if the ADD failed. */
  readonly deleted: CallAnswer | undefined;
  readonly left: LinkFacts | undefined;
}

const accepted: CallAnswer = { status: 0, stdout: "", json: undefined };
const checks: ReadonlySet<string> = new Set(["0.4.0", "1.0.0", "1.1.0"]);

/**
 * Runs all configurations through both plugins. `link` is the link to read; by default the attachment's interface. `settle` waits for what the kernel does to
 * links later, before they are read.
 */
export async function runBoth(
  side: SideBySide,
  configurations: readonly Configuration[],
  { link, settle = async () => {} }: { readonly link?: string; readonly settle?: () => Promise<void> } = {},
): Promise<ReadonlyMap<string, Outcomes>> {
  const ready = configurations.map((each) => ({ each, config: side.prepare(each) }));
  const onEach = async <T>(act: (at: (typeof ready)[number], maker: Kind) => Promise<T>): Promise<readonly Record<Kind, T>[]> =>
    Promise.all(
      ready.map(async (at) => {
        const [native, wasm] = await Promise.all([act(at, "native"), act(at, "wasm")]);
        return { native, wasm };
      }),
    );
  const look = async (): Promise<Record<Kind, ReadonlyMap<string, LinkFacts>>> => {
    await settle();
    const [native, wasm] = await Promise.all([side.links("native"), side.links("wasm")]);
    return { native, wasm };
  };

  const added = await onEach(({ each, config }, maker) => side.call("ADD", each, config(maker, maker), maker));
  const made = await look();
  const ok = (index: number, maker: Kind): boolean => added[index]?.[maker].status === 0;
  const indexOf = new Map(ready.map((at, index) => [at, index] as const));
  const checked = await onEach(async (at, maker) => {
    if (!ok(indexOf.get(at) ?? -1, maker) || !checks.has(at.each.cniVersion ?? "1.0.0")) return undefined;
    const answer = await side.call("CHECK", at.each, at.config(maker, other(maker)), maker);
    if (maker === "native" || answer.status === 0) return answer;
    // The reference's CHECK refuses some of its own attachments; then it may refuse the delegate's attachment too.
    const ownCheck = await side.call("CHECK", at.each, at.config("native", "native"), "native");
    return ownCheck.status === 0 ? answer : ownCheck.json?.["code"] === answer.json?.["code"] ? accepted : answer;
  });
  const deleted = await onEach(async (at, maker) =>
    ok(indexOf.get(at) ?? -1, maker) ? side.call("DEL", at.each, at.config(maker, other(maker)), maker) : undefined,
  );
  const left = await look();
  return new Map(
    ready.map(({ each }, index) => {
      const half = (maker: Kind): Outcome => {
        const at = `${each.pod} ${link ?? each.ifname}`;
        const answer = added[index]?.[maker];
        if (answer === undefined) throw new Error(`${each.name} was not run`);
        return {
          added: answer,
          made: made[maker].get(at),
          checked: checked[index]?.[maker],
          deleted: deleted[index]?.[maker],
          left: left[maker].get(at),
        };
      };
      return [each.name, { native: half("native"), wasm: half("wasm") }];
    }),
  );
}

/** Runs all configurations through the delegate only: ADD, CHECK and DEL. */
export async function runDelegateOnly(
  side: SideBySide,
  configurations: readonly Configuration[],
): Promise<ReadonlyMap<string, Outcome>> {
  const ready = configurations.map((each) => ({ each, config: side.prepare(each)("wasm", "wasm") }));
  const call = (verb: string, { each, config }: (typeof ready)[number]): Promise<CallAnswer> =>
    side.call(verb, each, config, "wasm");
  const added = await Promise.all(ready.map((at) => call("ADD", at)));
  const made = await side.links("wasm");
  const has = (index: number): boolean => added[index]?.status === 0;
  const checked = await Promise.all(
    ready.map((at, index) => (has(index) && checks.has(at.each.cniVersion ?? "1.0.0") ? call("CHECK", at) : undefined)),
  );
  const deleted = await Promise.all(ready.map((at, index) => (has(index) ? call("DEL", at) : undefined)));
  const left = await side.links("wasm");
  return new Map(
    ready.map(({ each }, index) => {
      const answer = added[index];
      if (answer === undefined) throw new Error(`${each.name} was not run`);
      const at = `${each.pod} ${each.ifname}`;
      return [
        each.name,
        { added: answer, made: made.get(at), checked: checked[index], deleted: deleted[index], left: left.get(at) },
      ];
    }),
  );
}

/**
 * An answer in a form that can be compared: the result without its version, with NETNS for the namespace's path; or the
 * status of a refusal. The delegate must print the result in the configuration's version. The reference loopback prints its
 * own result in 1.0.0, whatever the version.
 */
export function comparableAnswer(side: SideBySide, { pod, cniVersion }: Configuration, maker: Kind, answer: CallAnswer): unknown {
  if (answer.status !== 0) return { refused: answer.status, msg: typeof answer.json?.["msg"] };
  const isOld = answer.json?.["ip4"] !== undefined || answer.json?.["ip6"] !== undefined;
  const version = toVersion(maker === "wasm" || isOld ? (cniVersion ?? "1.0.0") : "1.0.0");
  if (!version.ok) throw new Error(version.fault.msg);
  const text = JSON.stringify({ ...answer.json, cniVersion: version.value }).replaceAll(side.path(maker, pod), "NETNS");
  const read = readResult(text, version.value, "the answer");
  if (!read.ok) throw new Error(`${read.fault.msg}: ${answer.stdout}`);
  const { interfaces, ips, routes, dns } = read.value.result;
  const common = { routes, dns: dns !== undefined && Object.keys(dns).length > 0 ? dns : undefined };
  if ((cniVersion ?? "1.0.0") >= "0.3.0") return { ...common, interfaces, ips };
  // Results before 0.3.0 have no interfaces.
  return { ...common, ips: ips.map(({ address, gateway }) => ({ address, gateway })) };
}

/** The code to compare; undefined if the reference's code is 999, skel's code for errors without a code. */
export function codeOf(outcomes: Outcomes, kind: Kind): unknown {
  const { code } = outcomes.native.added.json ?? {};
  return code === 999 ? undefined : outcomes[kind].added.json?.["code"];
}

/** The outputs of CHECK and DEL of the other plugin's attachments, which must be empty. */
export function disagreements({ native, wasm }: Outcomes): readonly string[] {
  const answers = [native.checked, wasm.checked, native.deleted, wasm.deleted];
  return answers.flatMap((each) => (each === undefined || (each.status === 0 && each.stdout === "") ? [] : each.stdout));
}
