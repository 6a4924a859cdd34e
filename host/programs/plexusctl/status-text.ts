// The text that `plexusctl status` and `plexusctl attachments` print.

import type { AttachmentState, NodeState } from "../../node/state/node-state.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import type { DaemonStatus, Failure, StatusDocument } from "../../telemetry/status-document.ts";
import { ageOf } from "./age.ts";
import { type Column, table, wrap } from "../../node/command-line/table.ts";

/** Maximum rows of a section, except with `-o wide`. */
const maxRows = 20;
const maxFailures = 5;
/** Maximum columns of sentences, also with `-o wide`: longer lines are hard to read. */
const proseColumns = 80;

/**
 * The text of `plexusctl status`. `width`: maximum columns of a table; Infinity for `-o wide`. `installedVersion`: version of the files on
 * the node: plexusctl's own version, because an update replaces plexusctl and plexusd together. `silent`: the status socket, and the reason
 * why no daemon answered on it. For a document without a daemon.
 */
export function statusText(
  document: StatusDocument,
  width: number,
  installedVersion?: string,
  silent?: { readonly socket: string; readonly why: string },
): string {
  const { daemon, nodes, failures, time } = document;
  const used = nodes.filter(({ journal, abandoned, problems }) => journal.entries + abandoned.entries + problems.length > 0);
  const shownNodes = used.length > 0 ? used : nodes.slice(0, 1);
  const lines = [
    ...(daemon === null ? silentLines(silent) : [...daemonLines(daemon, time), ...updateLines(daemon, installedVersion)]),
    ...shownNodes.flatMap((node) => nodeLines(node, width, time, shownNodes.length > 1)),
    ...failureLines(failures, width, time),
  ];
  return `${lines.join("\n")}\n`;
}

/** Whether an administrator has to act: not ready, no daemon, an abandoned attachment, a failing DEL, or unreadable state. */
export function needsAttention({ daemon, nodes }: StatusDocument): boolean {
  return daemon?.ready !== true || nodes.some((node) => node.problems.length > 0 || node.attachments.some(isFailing));
}

/** A table of at most `rows` attachments, failing ones first; empty if there are none. `time`: now, ISO 8601, for the AGE column. */
export function attachmentsText(nodes: readonly NodeState[], width: number, time: string, rows = Infinity): readonly string[] {
  const all = nodes.flatMap((node) => node.attachments);
  const ordered = [...all.filter(isFailing), ...all.filter((each) => !isFailing(each))];
  const columns: Column[] = ["POD", "INTERFACE", "NETWORK", "ADDRESSES", "STATE", "AGE"].map((title) => ({ title }));
  const wide = width === Infinity ? [{ title: "CONTAINER" }, { title: "SOURCE" }] : [];
  const shown = ordered.slice(0, rows).map((each) => {
    const { pod, container, ifname, network, source, addresses, since } = each;
    const cells = [
      pod || container.slice(0, 13),
      ifname,
      network,
      addresses.join(" "),
      stateOf(each),
      ageOf(since, time, "short"),
    ];
    return width === Infinity ? [...cells, container, source] : cells;
  });
  return shown.length === 0 ? [] : table([...columns, ...wide], shown, width);
}

function silentLines(silent?: { readonly socket: string; readonly why: string }): readonly string[] {
  const { socket = "", why = "" } = silent ?? {};
  return [
    ...wrap(`Daemon: no answer on ${socket} (${why}).`, proseColumns),
    ...wrap(
      "Without a daemon the shim starts a one-shot engine for each call, which is slower. The rest of this status comes from the state directory.",
      proseColumns,
    ),
    ...wrap(
      "To do: systemctl start plexusd; if that fails, read journalctl -u plexusd and docs/how-to/run-the-daemon.md. If plexusd runs, give its status socket with --status-socket.",
      proseColumns,
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
    `Daemon: ${ready ? "ready" : "NOT READY"}, version ${version}, pid ${pid}, up ${ageOf(since, time, "short")}`,
    ...checked.flatMap((line) => indented(line, 2)),
    `  Calls      ${queue.active} of ${queue.mostActive} served, ${queue.waiting} of ${queue.mostWaiting} waiting`,
    `  Sandboxes  ${idle} idle, ${busy} busy, ${starting} starting, ${restarts} restarted`,
    ...Object.entries(information).flatMap(([name, text]) => indented(`${name}: ${inertLine(text, 512)}`, 2)),
  ];
}

/** An update replaces the files on the node, but a running daemon keeps the version that it was started with. */
function updateLines({ version }: DaemonStatus, installedVersion: string = version): readonly string[] {
  if (installedVersion === version) return [];
  const lines = [`Version ${installedVersion} is installed, but the daemon still runs version ${version}.`];
  return [...lines, "To do: systemctl restart plexusd"].flatMap((line) => indented(line, 2));
}

function nodeLines(node: NodeState, width: number, time: string, several: boolean): readonly string[] {
  const { attachments, networks, pools, journal, abandoned, problems } = node;
  const rows = width === Infinity ? Infinity : maxRows;
  const inner = width - 2;
  const attached = attachments.filter(({ state }) => state === "attached").length;
  const failing = attachments.filter(isFailing).length;
  return [
    ...(several ? ["", `State: ${node.stateDirectory}`] : []),
    "",
    `Attachments: ${attached} attached${failing > 0 ? `, ${failing} NEED ATTENTION` : ""}`,
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
    `Journal: ${entries(journal)}; abandoned: ${entries(abandoned)}`,
    ...problems.flatMap((problem) => indented(`PROBLEM: ${inertLine(problem, 512)}`, 2)),
  ];
}

function failureLines(failures: readonly Failure[], width: number, time: string): readonly string[] {
  if (failures.length === 0) return [];
  const shown = failures.slice(0, width === Infinity ? undefined : maxFailures);
  return [
    "",
    "Last failures:",
    ...shown.flatMap((failure) => {
      const podName = failure.pod === "" ? failure.container.slice(0, 13) : failure.pod;
      const repeats = failure.times > 1 ? `, ${failure.times} times` : "";
      const network = failure.network === "" ? "" : `, network ${failure.network}`;
      return [
        ...indented(
          `${ageOf(failure.time, time, "short")} ago: ${failure.verb} ${podName}${network}${repeats}: ${failure.fault}, code ${failure.code}`,
          2,
        ),
        ...indented(inertLine(failure.msg, width === Infinity ? 4096 : 400), 4),
        ...indented(`To do: ${failure.remedy}`, 4),
      ];
    }),
    ...more(failures.length, shown.length, "plexusctl status -o wide"),
  ];
}

/** Whether the attachment needs an administrator: it is abandoned, or its DEL failed. */
function isFailing({ state, failures }: AttachmentState): boolean {
  return state === "abandoned" || failures > 0;
}

function stateOf({ state, failures }: AttachmentState): string {
  return failures === 0 ? state : `${state}, ${failures} DEL failed`;
}

/** The last error of each failing DEL. Attachments of one pod share their error, which is printed once. */
function reasonLines(attachments: readonly AttachmentState[]): readonly string[] {
  const reasons = new Map(
    attachments.flatMap(({ pod, container, why }) =>
      why === undefined ? [] : [[`${pod || container.slice(0, 13)}: ${inertLine(why, 400)}`, true] as const],
    ),
  );
  if (reasons.size === 0) return [];
  const lines = [...reasons.keys()].slice(0, maxFailures).flatMap((reason) => indented(reason, 4));
  return ["  Why DEL fails:", ...lines, "    To do: docs/how-to/when-del-fails.md"];
}

function section(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): readonly string[] {
  return rows.length === 0 ? [] : table(columns, rows, width);
}

/** Indents lines that are already wrapped. */
function shift(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}

function more(count: number, shown: number, command: string): readonly string[] {
  return count > shown ? [`  … and ${count - shown} more: ${command}`] : [];
}

/** Wraps the text and indents its lines. */
function indented(text: string, by: number): readonly string[] {
  return wrap(text, proseColumns - by).map((line) => `${" ".repeat(by)}${line}`);
}

function entries({ entries: count, bytes }: NodeState["journal"]): string {
  return `${count} ${count === 1 ? "entry" : "entries"}, ${bytes} bytes`;
}

function sizeText(size: number | undefined): string {
  if (size === undefined) return "?";
  return size < 1e9 ? String(size) : size.toExponential(1);
}

function share(used: number, size: number | undefined): string {
  return size === undefined || size === 0 ? "" : `${Math.round((used / size) * 100)} %`;
}
