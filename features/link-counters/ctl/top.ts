// plexusctl top: the traffic of pods' further networks.

import { setTimeout as sleep } from "node:timers/promises";
import type { CommandLineMistake } from "../../../src/command-line/read-command-line.ts";
import { type LinkTraffic, readTraffic, type TrafficDocument, trafficPath } from "../../../src/net/link-traffic.ts";
import { sizeText } from "../../../src/text/size-text.ts";
import { askDaemon } from "../../../host/node/command-line/ask-daemon.ts";
import { type CommandResult, failure, type Invocation } from "../../../host/node/command-line/command.ts";
import { notAbsolute, statusSocketOf } from "../../../host/node/command-line/common-options.ts";
import { printed } from "../../../host/node/command-line/printed.ts";
import { type Column, table } from "../../../host/node/command-line/table.ts";

const timeoutMs = 5_000;
/** The daemon reads only while it is asked, so the first question after a pause begins that. */
const tries = 20;
const pauseMs = 250;
/** Age in ms above which readings are of an earlier time: the daemon reads every 15 s. */
const maxAgeMs = 60_000;

const right = (title: string): Column => ({ title, align: "right" });
const columns: readonly Column[] = [
  { title: "POD" },
  { title: "INTERFACE" },
  { title: "NETWORK" },
  right("RX/s"),
  right("TX/s"),
  right("RX"),
  right("TX"),
  right("ERRORS"),
  right("DROPS"),
];

/** Runs `plexusctl top`. */
export async function topCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const wrong = notAbsolute(line, "status-socket");
  if (wrong !== undefined) return wrong;
  const document = await ask(statusSocketOf(line));
  if (typeof document === "string") return failure(document);
  const [pod] = line.args;
  const links = document.links
    .filter((each) => pod === undefined || each.pod === pod)
    .toSorted((one, other) => bytesPerSecond(other) - bytesPerSecond(one) || (one.pod < other.pod ? -1 : 1));
  const text = (width: number): string =>
    links.length === 0 ? "no links with counters\n" : `${table(columns, links.map(row), width).join("\n")}\n`;
  const names = (): readonly string[] => links.map((each) => `${each.pod} ${each.ifname}`);
  return { stdout: await printed({ value: { ...document, links }, text, names }, line), status: 0 };
}

function bytesPerSecond({ rates: { receive, transmit } }: LinkTraffic): number {
  return receive.bytes + transmit.bytes;
}

/** The document, or the reason why there is none. */
async function ask(socketPath: string): Promise<TrafficDocument | string> {
  let why = "";
  for (let left = tries; left > 0; left--) {
    const answer = await askDaemon({ socketPath, method: "GET", path: trafficPath, timeoutMs });
    if ("why" in answer) return answer.why;
    const document = readTraffic(answer.body);
    if (document === undefined) return "this plexusctl cannot read the answer: do plexusctl and plexusd have the same version?";
    if (document.ageMs !== null && document.ageMs <= maxAgeMs) return document;
    why = "the daemon reads no counters: set the key linkCounters, and run plexus agent";
    await sleep(pauseMs);
  }
  return why;
}

function row({ pod, ifname, network, rates, receive, transmit }: LinkTraffic): readonly string[] {
  const sum = (which: "errors" | "drops"): string => String(receive[which] + transmit[which]);
  const sizes = [rates.receive.bytes, rates.transmit.bytes, receive.bytes, transmit.bytes].map(sizeText);
  return [pod, ifname, network, ...sizes, sum("errors"), sum("drops")];
}
