// The layout of the node's picture: pods on the left, links of the node in the middle, address pools on the right. Pure: boxes and curves.

import type { AttachmentState, NetworkState } from "../../../../node/state/node-state.ts";
import type { PageData } from "../page-data.ts";

/** A line of text in a box. */
export interface BoxLine {
  readonly text: string;
  /** A second text at the line's right end. */
  readonly detail: string;
  /** Whether the line needs attention. */
  readonly urgent: boolean;
}

/** A box of the picture, in units of the SVG's view box. */
export interface Box {
  readonly id: string;
  readonly kind: "pod" | "more" | "bridge" | "parent" | "network" | "pool";
  readonly title: string;
  readonly subtitle: string;
  readonly lines: readonly BoxLine[];
  readonly urgent: boolean;
  /** A pool's fill from 0 to 1; undefined for other boxes, and for a pool of unknown size. */
  readonly fill: number | undefined;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A curve from a line of one box to another box. */
export interface Edge {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** The `d` attribute of an SVG path. */
  readonly path: string;
}

/** The picture. */
export interface PictureLayout {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly Box[];
  readonly edges: readonly Edge[];
}

/** Maximum pods that are drawn one by one. */
export const maxPods = 20;

export const titleHeight = 30;
export const lineHeight = 22;
const padding = 10;
const gap = 16;
export const columns = {
  pod: { x: 0, width: 320 },
  middle: { x: 430, width: 320 },
  pool: { x: 860, width: 260 },
} as const;
const width = columns.pool.x + columns.pool.width;

type Draft = Omit<Box, "x" | "y" | "width" | "height">;

interface Connection {
  readonly from: string;
  /** Index of the line at which the curve begins; -1: the box' title. */
  readonly line: number;
  readonly to: string;
}

/** Lays the picture out. Pods that need attention come first; further pods share one box. */
export function layoutPicture({
  attachments,
  networks,
  pools,
}: Pick<PageData, "attachments" | "networks" | "pools">): PictureLayout {
  const middle = middleOf(networks);
  const connections: Connection[] = [];
  const pods = podsOf(attachments);
  const drafts = pods.slice(0, maxPods).map(([id, own]) => {
    for (const [line, { network, source }] of own.entries()) {
      const to = middle.boxOf.get(keyOf(network, source));
      if (to !== undefined) connections.push({ from: id, line, to });
    }
    return podBox(id, own);
  });
  const hidden = pods.slice(maxPods);
  if (hidden.length > 0) {
    const targets = new Set(
      hidden.flatMap(([, own]) => own.map(({ network, source }) => middle.boxOf.get(keyOf(network, source)))),
    );
    for (const to of targets) if (to !== undefined) connections.push({ from: "more", line: -1, to });
    drafts.push(moreBox(hidden.length));
  }
  const left = stack(drafts, columns.pod);
  const center = beside(middle.boxes, columns.middle, left, connections);
  const known = new Set(pools.map(({ directory }) => directory));
  const toPools = middle.pools.filter(({ directory }) => known.has(directory));
  const poolConnections = toPools.map(({ box, line, directory }) => ({ from: box, line, to: `pool ${directory}` }));
  const right = beside(pools.map(poolBox), columns.pool, center, poolConnections);
  const boxes = [...left, ...center, ...right];
  const height = Math.max(60, ...boxes.map((box) => box.y + box.height)) + 2;
  return { width, height, boxes, edges: edgesOf([...connections, ...poolConnections], boxes) };
}

/** The ids of a box and of all boxes that a chain of curves joins with it, without turning back: a pod's links and pools, a pool's pods. */
export function connectedWith({ edges }: PictureLayout, id: string): ReadonlySet<string> {
  const found = new Set([id]);
  for (const [near, far] of [
    ["from", "to"],
    ["to", "from"],
  ] as const) {
    const reached = new Set([id]);
    // A set's iteration also visits elements that are added meanwhile.
    for (const each of reached) for (const edge of edges) if (edge[near] === each) reached.add(edge[far]);
    for (const each of reached) found.add(each);
  }
  return found;
}

/** The id of an attachment's pod, or of its container if the runtime named no pod. */
export function podId({ pod, container }: AttachmentState): string {
  return `pod ${pod}\n${container}`;
}

/** The attachments by pod, those that need attention first. */
function podsOf(attachments: readonly AttachmentState[]): readonly (readonly [string, readonly AttachmentState[]])[] {
  const pods = new Map<string, AttachmentState[]>();
  for (const each of attachments) {
    const id = podId(each);
    const own = pods.get(id);
    if (own === undefined) pods.set(id, [each]);
    else own.push(each);
  }
  return [...pods].toSorted(([one, ones], [other, others]) => {
    return Number(others.some(isUrgent)) - Number(ones.some(isUrgent)) || (one < other ? -1 : 1);
  });
}

/** Whether an attachment needs an administrator. */
export function isUrgent({ state, failures }: AttachmentState): boolean {
  return state === "abandoned" || failures > 0;
}

function podBox(id: string, own: readonly AttachmentState[]): Draft {
  const [first] = own;
  const { pod = "", container = "" } = first ?? {};
  const slash = pod.indexOf("/");
  return {
    id,
    kind: "pod",
    title: pod === "" ? `container ${container.slice(0, 12)}` : pod.slice(slash + 1),
    subtitle: pod === "" ? "" : pod.slice(0, Math.max(0, slash)),
    urgent: own.some(isUrgent),
    fill: undefined,
    lines: own.map((each) => ({
      text: each.ifname,
      detail: each.state === "attached" ? each.addresses.join(" ") || "no address" : each.state,
      urgent: isUrgent(each),
    })),
  };
}

function moreBox(count: number): Draft {
  const title = `and ${count} more ${count === 1 ? "pod" : "pods"}`;
  return { id: "more", kind: "more", title, subtitle: "", urgent: false, fill: undefined, lines: [] };
}

function poolBox({ directory, used, size }: PageData["pools"][number]): Draft {
  return {
    id: `pool ${directory}`,
    kind: "pool",
    title: directory.slice(directory.lastIndexOf("/") + 1),
    subtitle: "address pool",
    urgent: size !== undefined && size > 0 && used / size > 0.9,
    fill: size === undefined || size <= 0 ? undefined : Math.min(1, used / size),
    lines: [{ text: `${used} of ${size === undefined ? "?" : sizeText(size)} used`, detail: "", urgent: false }],
  };
}

/** A number of addresses; an IPv6 pool may have 2^64. */
export function sizeText(size: number): string {
  return size < 1e9 ? String(size) : size.toExponential(1);
}

interface Middle {
  readonly boxes: readonly Draft[];
  /** From `keyOf` a network to the id of its box. */
  readonly boxOf: ReadonlyMap<string, string>;
  readonly pools: readonly { readonly box: string; readonly line: number; readonly directory: string }[];
}

/** One box for each link with its networks as lines, and one for each network without a known link. */
function middleOf(networks: readonly NetworkState[]): Middle {
  const boxes = new Map<string, Draft & { lines: BoxLine[] }>();
  const boxOf = new Map<string, string>();
  const pools: Middle["pools"][number][] = [];
  for (const { name, source, chain, links, pools: directories } of networks) {
    const [link] = links;
    const id = link === undefined ? `network ${keyOf(name, source)}` : `link ${link.name}`;
    const known = boxes.get(id);
    const box = known ?? {
      id,
      kind: link?.kind ?? "network",
      title: link?.name ?? name,
      subtitle: subtitleOf(link),
      urgent: false,
      fill: undefined,
      lines: [],
    };
    boxes.set(id, box);
    boxOf.set(keyOf(name, source), id);
    for (const directory of directories) pools.push({ box: id, line: box.lines.length, directory });
    const ownTitle = link === undefined ? [] : [{ text: name, detail: source, urgent: false }];
    box.lines.push(...ownTitle, { text: chain.join(" → "), detail: "", urgent: false });
  }
  return { boxes: [...boxes.values()], boxOf, pools };
}

function subtitleOf(link: NetworkState["links"][number] | undefined): string {
  if (link === undefined) return "network";
  return link.kind === "bridge" ? "bridge" : `link below ${link.type}`;
}

function keyOf(network: string, source: string): string {
  return `${source}\n${network}`;
}

function heightOf({ lines, fill }: Draft): number {
  return titleHeight + lines.length * lineHeight + padding + (fill === undefined ? 0 : 14);
}

function stack(drafts: readonly Draft[], column: { readonly x: number; readonly width: number }): readonly Box[] {
  let y = 1;
  return drafts.map((draft) => {
    const box = { ...draft, ...column, y, height: heightOf(draft) };
    y += box.height + gap;
    return box;
  });
}

/** Places each box beside the boxes that lead to it: ordered by their mean height, and pushed down where two would overlap. */
function beside(
  drafts: readonly Draft[],
  column: { readonly x: number; readonly width: number },
  neighbours: readonly Box[],
  connections: readonly Connection[],
): readonly Box[] {
  const byId = new Map(neighbours.map((box) => [box.id, box]));
  const wanted = new Map(
    drafts.map((draft) => {
      const starts = connections
        .filter(({ to }) => to === draft.id)
        .flatMap(({ from, line }) => startY(byId.get(from), line) ?? []);
      const mean = starts.length === 0 ? Infinity : starts.reduce((sum, y) => sum + y, 0) / starts.length;
      return [draft.id, mean];
    }),
  );
  const ordered = drafts.toSorted((one, other) => {
    const [first = 0, second = 0] = [wanted.get(one.id), wanted.get(other.id)];
    return first === second ? 0 : first - second;
  });
  let free = 1;
  return ordered.map((draft) => {
    const height = heightOf(draft);
    const mean = wanted.get(draft.id) ?? Infinity;
    const y = Math.max(free, Number.isFinite(mean) ? mean - height / 2 : free);
    free = y + height + gap;
    return { ...draft, ...column, y, height };
  });
}

/** The height at which a line's curve begins. */
function startY(box: Box | undefined, line: number): number | undefined {
  if (box === undefined) return undefined;
  return line < 0 ? box.y + titleHeight / 2 + 4 : box.y + titleHeight + line * lineHeight + lineHeight / 2;
}

function edgesOf(connections: readonly Connection[], boxes: readonly Box[]): readonly Edge[] {
  const byId = new Map(boxes.map((box) => [box.id, box]));
  return connections.flatMap(({ from, line, to }): Edge[] => {
    const [source, target] = [byId.get(from), byId.get(to)];
    const y1 = startY(source, line);
    if (source === undefined || target === undefined || y1 === undefined) return [];
    const x1 = source.x + source.width;
    const y2 = target.y + target.height / 2;
    const bend = (target.x - x1) / 2;
    const path = `M ${x1} ${y1} C ${x1 + bend} ${y1} ${target.x - bend} ${y2} ${target.x} ${y2}`;
    return [{ id: `${from}\n${line}\n${to}`, from, to, path }];
  });
}
