// Plays configurations through both: each attachment is made by the one, checked and taken away by the other, and looked at in between.

import { readResult } from "../../../src/cni/read-result.ts";
import { toVersion } from "../../../src/cni/versions.ts";
import type { LinkFacts } from "./namespace-state.ts";
import { type Configuration, type Kind, other, type Said, type SideBySide } from "./side-by-side.ts";

/** What became of one configuration, by who made the attachment. */
export type Played = Readonly<Record<Kind, PlayedHalf>>;

export interface PlayedHalf {
  readonly added: Said;
  /** Of the attachment's link, and of those of its namespace that no other attachment has. */
  readonly made: LinkFacts | undefined;
  /** What the other one's CHECK said; undefined where the version has none, or the ADD failed. */
  readonly checked: Said | undefined;
  /** What the other one's DEL said; undefined where the ADD failed. */
  readonly deleted: Said | undefined;
  readonly left: LinkFacts | undefined;
}

const excused: Said = { status: 0, stdout: "", json: undefined };
const checks: ReadonlySet<string> = new Set(["0.4.0", "1.0.0", "1.1.0"]);

/** `link`: the name of the link to look at, where that isn't the attachment's. */
export async function play(
  side: SideBySide,
  configurations: readonly Configuration[],
  { link }: { readonly link?: string } = {},
): Promise<ReadonlyMap<string, Played>> {
  const ready = configurations.map((each) => ({ each, config: side.prepare(each) }));
  const onEach = async <T>(act: (at: (typeof ready)[number], maker: Kind) => Promise<T>): Promise<readonly Record<Kind, T>[]> =>
    Promise.all(
      ready.map(async (at) => {
        const [native, wasm] = await Promise.all([act(at, "native"), act(at, "wasm")]);
        return { native, wasm };
      }),
    );
  const look = async (): Promise<Record<Kind, ReadonlyMap<string, LinkFacts>>> => {
    const [native, wasm] = await Promise.all([side.links("native"), side.links("wasm")]);
    return { native, wasm };
  };

  const added = await onEach(({ each, config }, maker) => side.call("ADD", each, config(maker, maker), maker));
  const made = await look();
  const ok = (index: number, maker: Kind): boolean => added[index]?.[maker].status === 0;
  const indexOf = new Map(ready.map((at, index) => [at, index] as const));
  const checked = await onEach(async (at, maker) => {
    if (!ok(indexOf.get(at) ?? -1, maker) || !checks.has(at.each.cniVersion ?? "1.0.0")) return undefined;
    const said = await side.call("CHECK", at.each, at.config(maker, other(maker)), maker);
    if (maker === "native" || said.status === 0) return said;
    // The reference's CHECK refuses some of what it makes itself: then it may refuse this.
    const own = await side.call("CHECK", at.each, at.config("native", "native"), "native");
    return own.status === 0 ? said : own.json?.["code"] === said.json?.["code"] ? excused : said;
  });
  const deleted = await onEach(async (at, maker) =>
    ok(indexOf.get(at) ?? -1, maker) ? side.call("DEL", at.each, at.config(maker, other(maker)), maker) : undefined,
  );
  const left = await look();
  return new Map(
    ready.map(({ each }, index) => {
      const half = (maker: Kind): PlayedHalf => {
        const at = `${each.pod} ${link ?? each.ifname}`;
        const said = added[index]?.[maker];
        if (said === undefined) throw new Error(`${each.name} was not played`);
        return {
          added: said,
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

/** The same with the delegate alone, which checks and takes away what it made itself. */
export async function playAlone(
  side: SideBySide,
  configurations: readonly Configuration[],
): Promise<ReadonlyMap<string, PlayedHalf>> {
  const ready = configurations.map((each) => ({ each, config: side.prepare(each)("wasm", "wasm") }));
  const call = (verb: string, { each, config }: (typeof ready)[number]): Promise<Said> => side.call(verb, each, config, "wasm");
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
      const said = added[index];
      if (said === undefined) throw new Error(`${each.name} was not played`);
      const at = `${each.pod} ${each.ifname}`;
      return [
        each.name,
        { added: said, made: made.get(at), checked: checked[index], deleted: deleted[index], left: left.get(at) },
      ];
    }),
  );
}

/**
 * What an answer says, whatever version it was printed in, with the namespace's path made equal; of a refusal, that it is one. The delegate's
 * must be printed as its version has it; the reference prints what loopback makes as 1.0.0 has it, whatever the version.
 */
export function saidOf(side: SideBySide, { pod, cniVersion }: Configuration, maker: Kind, said: Said): unknown {
  if (said.status !== 0) return { refused: said.status, told: typeof said.json?.["msg"] };
  const isOld = said.json?.["ip4"] !== undefined || said.json?.["ip6"] !== undefined;
  const version = toVersion(maker === "wasm" || isOld ? (cniVersion ?? "1.0.0") : "1.0.0");
  if (!version.ok) throw new Error(version.fault.msg);
  const text = JSON.stringify({ ...said.json, cniVersion: version.value }).replaceAll(side.path(maker, pod), "NETNS");
  const read = readResult(text, version.value, "the answer");
  if (!read.ok) throw new Error(`${read.fault.msg}: ${said.stdout}`);
  const { interfaces, ips, routes, dns } = read.value.result;
  const told = { routes, dns: dns !== undefined && Object.keys(dns).length > 0 ? dns : undefined };
  if ((cniVersion ?? "1.0.0") >= "0.3.0") return { ...told, interfaces, ips };
  // Results had no interfaces yet.
  return { ...told, ips: ips.map(({ address, gateway }) => ({ address, gateway })) };
}

/** The code that both must have: none where the reference's is skel's 999, for whatever has no code of its own. */
export function codeOf(played: Played, kind: Kind): unknown {
  const { code } = played.native.added.json ?? {};
  return code === 999 ? undefined : played[kind].added.json?.["code"];
}

/** What either's CHECK or DEL of the other's attachment said, where it should have said nothing. */
export function disagreements({ native, wasm }: Played): readonly string[] {
  const said = [native.checked, wasm.checked, native.deleted, wasm.deleted];
  return said.flatMap((each) => (each === undefined || (each.status === 0 && each.stdout === "") ? [] : each.stdout));
}
