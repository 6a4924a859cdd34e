// The status of a node for a person, in 80 columns.

import type { AttachmentState, NodeState } from "../node-state/node-state.ts";
import { inertLine } from "../sandbox/inert-text.ts";
import type { Failure } from "../telemetry/recent-failures.ts";
import type { DaemonStatus, StatusDocument } from "../telemetry/status-document.ts";
import { type Column, table, wrap } from "./table.ts";

export interface TextInit {
  /** Columns; Infinity for `-o wide`. */
  readonly width: number;
  /** Why no daemon answered, and where it was asked; for a document without one. */
  readonly silent?: { readonly socket: string; readonly why: string };
}

/** Rows of a section, unless all were asked for. */
const mostRows = 20;
const mostFailures = 5;
/** Lines of text: a terminal is seldom wider than is good to read. */
const prose = 80;

export function statusText(document: StatusDocument, init: TextInit): string {
  const { daemon, nodes, failures, time } = document;
  const used = nodes.filter(({ journal, leftBehind, problems }) => journal.entries + leftBehind.entries + problems.length > 0);
  const shownNodes = used.length > 0 ? used : nodes.slice(0, 1);
  const lines = [
    ...(daemon === null ? silentLines(init) : daemonLines(daemon, time)),
    ...shownNodes.flatMap((node) => nodeLines(node, init, time, shownNodes.length > 1)),
    ...failureLines(failures, init, time),
  ];
  return `${lines.join("\n")}\n`;
}

/** Whether a person has something to do: not ready, no daemon, something left behind, a deletion that fails. */
export function needsAttention({ daemon, nodes }: StatusDocument): boolean {
  return daemon?.ready !== true || nodes.some((node) => node.problems.length > 0 || node.attachments.some(isOdd));
}

export function attachmentsText(nodes: readonly NodeState[], width: number, time: string, rows = Infinity): readonly string[] {
  const all = nodes.flatMap((node) => node.attachments);
  const odd = [...all.filter(isOdd), ...all.filter((each) => !isOdd(each))];
  const columns: Column[] = ["POD", "INTERFACE", "NETWORK", "ADDRESSES", "STATE", "AGE"].map((title) => ({ title }));
  const wide = width === Infinity ? [{ title: "CONTAINER" }, { title: "SOURCE" }] : [];
  const shown = odd.slice(0, rows).map((each) => {
    const { pod, container, ifname, network, source, addresses, since } = each;
    const cells = [pod || container.slice(0, 13), ifname, network, addresses.join(" "), stateOf(each), age(since, time)];
    return width === Infinity ? [...cells, container, source] : cells;
  });
  return shown.length === 0 ? [] : table([...columns, ...wide], shown, width);
}

function silentLines({ silent }: TextInit): readonly string[] {
  const { socket = "", why = "" } = silent ?? {};
  return [
    ...wrap(`Daemon: none answers on ${socket} (${why}).`, prose),
    ...wrap("Without a daemon each call gets a brain of its own, which is slower. What follows is read from the disk.", prose),
    ...wrap(
      "To do: systemctl start plexusd, then journalctl -u plexusd; docs/how-to/run-the-daemon.md. If it runs, --status-socket has to name its status socket.",
      prose,
    ),
  ];
}

function daemonLines(
  { ready, version, pid, since, checks, queue, sandboxes, information }: DaemonStatus,
  time: string,
): string[] {
  const { idle, busy, starting, restarts } = sandboxes;
  const checked = checks.map(({ name, ok, message }) => `${ok ? "ok" : "NO"}  ${name.padEnd(8)} ${inertLine(message, 512)}`);
  return [
    `Daemon: ${ready ? "ready" : "NOT READY"}, version ${version}, pid ${pid}, up ${age(since, time)}`,
    ...checked.flatMap((line) => indented(line, 2)),
    `  Calls      ${queue.active} of ${queue.mostActive} served, ${queue.waiting} of ${queue.mostWaiting} waiting`,
    `  Sandboxes  ${idle} idle, ${busy} busy, ${starting} starting, ${restarts} restarted`,
    ...Object.entries(information).flatMap(([name, text]) => indented(`${name}: ${inertLine(text, 512)}`, 2)),
  ];
}

function nodeLines(node: NodeState, init: TextInit, time: string, several: boolean): readonly string[] {
  const { attachments, networks, pools, journal, leftBehind, problems } = node;
  const rows = init.width === Infinity ? Infinity : mostRows;
  const inner = init.width - 2;
  const attached = attachments.filter(({ state }) => state === "attached").length;
  const odd = attachments.filter(isOdd).length;
  return [
    ...(several ? ["", `State: ${node.stateDirectory}`] : []),
    "",
    `Attachments: ${attached} attached${odd > 0 ? `, ${odd} NEED ATTENTION` : ""}`,
    ...shift(attachmentsText([node], inner, time, rows)),
    ...more(attachments.length, rows, "plexusctl attachments"),
    ...reasonLines(attachments),
    "",
    `Networks: ${networks.length}`,
    ...shift(
      section(
        [{ title: "NETWORK" }, { title: "SOURCE" }, { title: "PODS", align: "right" }, { title: "CHAIN" }],
        networks
          .slice(0, rows)
          .map(({ name, source, attachments: pods, chain }) => [name, source, String(pods), chain.join(" ")]),
        inner,
      ),
    ),
    ...more(networks.length, rows, "plexusctl status -o wide"),
    "",
    `Pools: ${pools.length}`,
    ...shift(
      section(
        [{ title: "POOL" }, { title: "USED", align: "right" }, { title: "SIZE", align: "right" }, { title: "", align: "right" }],
        pools.slice(0, rows).map(({ directory, used, size }) => [directory, String(used), sizeText(size), share(used, size)]),
        inner,
      ),
    ),
    ...more(pools.length, rows, "plexusctl status -o wide"),
    "",
    `Journal: ${entries(journal)}; left behind: ${entries(leftBehind)}`,
    ...problems.flatMap((problem) => indented(`PROBLEM: ${inertLine(problem, 512)}`, 2)),
  ];
}

function failureLines(failures: readonly Failure[], { width }: TextInit, time: string): readonly string[] {
  if (failures.length === 0) return [];
  const shown = failures.slice(0, width === Infinity ? undefined : mostFailures);
  return [
    "",
    "Last failures:",
    ...shown.flatMap((failure) => {
      const who = failure.pod === "" ? failure.container.slice(0, 13) : failure.pod;
      const often = failure.times > 1 ? `, ${failure.times} times` : "";
      const network = failure.network === "" ? "" : `, network ${failure.network}`;
      return [
        ...indented(
          `${age(failure.time, time)} ago: ${failure.verb} ${who}${network}${often}: ${failure.fault}, code ${failure.code}`,
          2,
        ),
        ...indented(inertLine(failure.msg, width === Infinity ? 4096 : 400), 4),
        ...indented(`To do: ${failure.remedy}`, 4),
      ];
    }),
    ...more(failures.length, shown.length, "plexusctl status -o wide"),
  ];
}

/** Something that a person should look at. */
function isOdd({ state, failures }: AttachmentState): boolean {
  return state === "left behind" || failures > 0;
}

function stateOf({ state, failures }: AttachmentState): string {
  return failures === 0 ? state : `${state}, ${failures} DEL failed`;
}

/** Why deletions fail; attachments of one pod fail together. */
function reasonLines(attachments: readonly AttachmentState[]): readonly string[] {
  const reasons = new Map(
    attachments.flatMap(({ pod, container, why }) =>
      why === undefined ? [] : [[`${pod || container.slice(0, 13)}: ${inertLine(why, 400)}`, true] as const],
    ),
  );
  if (reasons.size === 0) return [];
  const told = [...reasons.keys()].slice(0, mostFailures).flatMap((reason) => indented(reason, 4));
  return ["  Why their DEL fails:", ...told, "    To do: docs/how-to/when-del-fails.md"];
}

function section(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): readonly string[] {
  return rows.length === 0 ? [] : table(columns, rows, width);
}

function shift(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}

function more(count: number, shown: number, command: string): readonly string[] {
  return count > shown ? [`  … and ${count - shown} more: ${command}`] : [];
}

function indented(text: string, by: number): readonly string[] {
  return wrap(text, prose - by).map((line) => `${" ".repeat(by)}${line}`);
}

function entries({ entries: count, bytes }: NodeState["journal"]): string {
  return `${count} ${count === 1 ? "entry" : "entries"} of ${bytes} bytes`;
}

function sizeText(size: number | undefined): string {
  if (size === undefined) return "?";
  return size < 1e9 ? String(size) : size.toExponential(1);
}

function share(used: number, size: number | undefined): string {
  return size === undefined || size === 0 ? "" : `${Math.round((used / size) * 100)} %`;
}

/** From then to now, in the largest unit that says it. */
function age(since: string | undefined, time: string): string {
  const seconds = Math.round((Date.parse(time) - Date.parse(since ?? "")) / 1000);
  if (Number.isNaN(seconds)) return "?";
  const units = [
    [86_400, "d"],
    [3600, "h"],
    [60, "m"],
  ] as const;
  const [length, unit] = units.find(([each]) => seconds >= 2 * each) ?? [1, "s"];
  return `${Math.max(0, Math.floor(seconds / length))}${unit}`;
}
