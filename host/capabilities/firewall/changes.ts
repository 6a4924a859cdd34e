// The changes of one family that replace or remove the rules of attachments. No I/O.

import { EEXIST, ENOENT } from "../../system/errno.ts";
import { type Verdict, verdictExpression } from "./expressions.ts";
import { addressIn } from "./match-expressions.ts";
import { changePorts, type PortChanges, type PortConflict, type PortMap, shareChains, type WantedPorts } from "./host-ports.ts";
import type { InstalledRules, References } from "./installed-rules.ts";
import type { Change } from "./kernel.ts";
import { layoutRequests, overflow } from "./layout.ts";
import { deleteChain, deleteRules, newChain, newRule } from "./nf-tables.ts";
import { deleteElement, newElement } from "./nf-sets.ts";
import { type IpTable, PLEXUS_TABLE } from "./nf-request.ts";
import { chainName, type Owner } from "./owner.ts";
import { chainRules, entries, type Entry, type EntryKey, portKeyText, portPart, type Rules } from "./rules.ts";

/** The addition of an attachment's element to a map. */
export interface EntryChange extends Change {
  readonly entry: Entry;
  readonly family: 4 | 6;
}

/** The changes that replace an attachment's rules in one family, in their order. */
export interface AttachmentChanges {
  /** Make the layout where it is needed, and take packets from the attachment's chains. */
  readonly detaching: readonly Change[];
  /** Remove and make chains, and lead packets to them. */
  readonly attaching: readonly Change[];
  /** The ports that lead to another attachment of the container: its texts (`portKeyText`). */
  readonly sharedPorts: readonly string[];
}

/** Identifies a map entry. */
export function entryKey(family: 4 | 6, { map, key }: EntryKey): string {
  return `${family} ${map} ${key.join(".")}`;
}

/** The changes that replace an attachment's rules. `takenEntries`: entries of addresses that belong to another attachment. */
export function replacing(
  installed: InstalledRules,
  owner: Owner,
  rules: Rules,
  takenEntries: ReadonlySet<string>,
): AttachmentChanges | PortConflict {
  const { family, hasLayout } = installed;
  const table = { family };
  const wanted = chainRules(rules, (entry) => takenEntries.has(entryKey(family, entry)));
  const attachment = `${owner.containerId}/${owner.ifname}`;
  const names = [...installed.chains].map((purpose) => chainName(purpose, owner));
  const wantedEntries = entries(rules);
  const wantedPorts = { chain: chainName("ports", owner), ports: wantedEntries.flatMap(nodePort) };
  const ports = installed.ports && changePorts(installed.ports, new Set(names), wantedPorts);
  if (ports !== undefined && "holder" in ports) return ports;
  const removal = `removing the rules of ${attachment}`;
  const layout =
    wanted.size === 0 || hasLayout
      ? []
      : layoutRequests(table).map((request) => ({
          request,
          action: `making the table ${PLEXUS_TABLE} of IPv${family}`,
          raceErrno: EEXIST,
        }));
  const chains = [...wanted].flatMap(([purpose, chain]): Change[] => {
    const name = chainName(purpose, owner);
    const action = `making the rules of ${attachment} (${purpose})`;
    return [
      { request: newChain(table, name), action, raceErrno: EEXIST },
      ...chain.map(({ expressions, comment }) => ({ request: newRule(table, name, expressions, comment), action })),
    ];
  });
  // Where the ports of all attachments are unknown, the kernel refuses those that another attachment has.
  const added =
    ports === undefined ? withPortMarks(wantedEntries) : wantedEntries.filter((entry) => nodePort(entry).length === 0);
  return {
    detaching: [
      ...layout,
      ...references(table, installed, removal),
      ...(ports === undefined ? [] : freedPorts(table, ports, wantedPorts, removal)),
    ],
    attaching: [
      ...removing(table, names, removal),
      ...chains,
      ...added.map((entry) => entryAddition(table, owner, entry, takenEntries)),
      ...(ports === undefined ? [] : gainedPorts(table, ports, wantedPorts, attachment)),
    ],
    sharedPorts: sharedBy(ports, wantedPorts.chain),
  };
}

/** The changes that take packets from the chains of attachments that are gone. */
export function detaching(table: IpTable, found: References, names: ReadonlySet<string>, action: string): readonly Change[] {
  const ports = found.ports && changePorts(found.ports, names);
  const none: WantedPorts = { chain: "", ports: [] };
  return [
    ...references(table, found, action),
    ...(ports === undefined || "holder" in ports ? [] : freedPorts(table, ports, none, action)),
  ];
}

/** The changes that remove chains, to which nothing leads. */
export function removing(table: IpTable, names: readonly string[], action: string): readonly Change[] {
  return [...names.map((name) => deleteRules(table, name)), ...names.map((name) => deleteChain(table, name))].map((request) => ({
    request,
    action,
    raceErrno: ENOENT,
  }));
}

/** The removal of map elements and rules that lead to chains. */
function references(table: IpTable, { entries: elements, jumps, shares }: References, action: string): readonly Change[] {
  return [
    ...elements.map(({ map, key }) => deleteElement(table, map, key)),
    ...[...jumps, ...shares].map(({ chain, handle }) => deleteRules(table, chain, handle)),
  ].map((request) => ({ request, action, raceErrno: ENOENT }));
}

/** The removal of elements of ports, and their successors: attachments with a share, and marks. */
function freedPorts(table: IpTable, { removed, added }: PortChanges, wanted: WantedPorts, action: string): readonly Change[] {
  return [
    ...removed.map(({ map, key }) => ({ request: deleteElement(table, map, key), action, raceErrno: ENOENT })),
    ...added.flatMap(({ map, key, chain }): Change[] =>
      chain === wanted.chain
        ? []
        : [{ request: newElement(table, { map, key, verdict: verdictTo(chain) }), action, raceErrno: EEXIST }],
    ),
  ];
}

/** The elements of ports that lead to an attachment, and the shares that it needs. */
function gainedPorts(table: IpTable, { added, shares }: PortChanges, wanted: WantedPorts, attachment: string): readonly Change[] {
  const action = `mapping ports to ${attachment}`;
  const used = [...new Set(shares.map(({ map }) => shareChains[map]))];
  return [
    ...added.flatMap(({ map, key, chain }): Change[] =>
      chain === wanted.chain
        ? [{ request: newElement(table, { map, key, verdict: verdictTo(chain) }), action, raceErrno: EEXIST }]
        : [],
    ),
    ...used.map((name) => ({ request: newChain(table, name, { shared: true }), action })),
    ...shares.map(({ map, key, chain }): Change => ({
      request: newRule(table, shareChains[map], [verdictExpression(verdictTo(chain))], portKeyText(key)),
      action,
      raceErrno: ENOENT,
    })),
  ];
}

/** The ports of which the attachment has a share but not the element. */
function sharedBy(ports: PortChanges | undefined, chain: string): readonly string[] {
  const gained = new Set(
    ports?.added.flatMap((element) => (element.chain === chain ? [`${element.map} ${portKeyText(element.key)}`] : [])),
  );
  return (ports?.shares ?? []).flatMap((share) =>
    share.chain === chain && !gained.has(`${share.map} ${portKeyText(share.key)}`) ? [portKeyText(share.key)] : [],
  );
}

function verdictTo(chain: string | undefined): Verdict {
  return chain === undefined ? { kind: "return" } : { kind: "jump", chain };
}

/** The port of an entry; none for an entry of an address. */
function nodePort({ map, key }: Entry): readonly { readonly map: PortMap; readonly key: Uint8Array }[] {
  return map === "hostports" || map === "hostports-at" ? [{ map, key }] : [];
}

/**
 * Adds a mark to `hostports` for each port that is mapped only at single addresses of the node. The mark keeps other attachments from mapping
 * the port at all addresses: the kernel refuses a second element of the key with another verdict, but accepts an equal mark.
 */
function withPortMarks(all: readonly Entry[]): readonly Entry[] {
  const anywhere = new Set(all.filter(({ map }) => map === "hostports").map(({ key }) => key.join(".")));
  const marks = all
    .filter(({ map, key }) => map === "hostports-at" && !anywhere.has(portPart(key).join(".")))
    .map((entry): Entry => ({ ...entry, map: "hostports", key: portPart(entry.key), purpose: undefined }));
  return [...all, ...marks];
}

/** The change that leads packets to a chain: a map element, or a rule where the element belongs to another attachment. */
function entryAddition(table: IpTable, owner: Owner, entry: Entry, takenEntries: ReadonlySet<string>): Change | EntryChange {
  const attachment = `${owner.containerId}/${owner.ifname}`;
  const verdict = verdictTo(entry.purpose && chainName(entry.purpose, owner));
  const { map, key, address } = entry;
  if ((map === "answers" || map === "sources") && address !== undefined && takenEntries.has(entryKey(table.family, entry))) {
    const direction = map === "answers" ? "destination" : "source";
    const expressions = [...addressIn(direction, "is", address), verdictExpression(verdict)];
    const action = `adding a rule for ${entry.text} of ${attachment} to the chain ${overflow[map]}`;
    return { request: newRule(table, overflow[map], expressions), action };
  }
  const action = `adding ${entry.text} of ${attachment} to the map ${map}`;
  return { request: newElement(table, { map, key, verdict }), action, entry, family: table.family };
}
