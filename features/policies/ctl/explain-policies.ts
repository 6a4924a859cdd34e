// plexusctl policies explain: why one pod reaches another on a network, or does not.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok } from "../../../src/fault/result.ts";
import type { CommandLineMistake } from "../../../src/command-line/read-command-line.ts";
import { withCredentials } from "../../../host/cluster/kube/with-credentials.ts";
import { type CommandResult, failure, type Invocation } from "../../../host/node/command-line/command.ts";
import { printed } from "../../../host/node/command-line/printed.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import { type Explanation, explain } from "../rules/explain.ts";
import { readExplainedPod, readPolicies } from "./policy-objects.ts";

/** A port with its protocol: `80`, `53/UDP`. */
const portPattern = /^([1-9]\d{0,4})(?:\/(TCP|UDP|SCTP))?$/i;
const maxPort = 65_535;
/** Maximum length of a line, in UTF-16 units. */
const maxLine = 4096;

/** Runs `plexusctl policies explain`. */
export async function explainPoliciesCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const credentials = await line.credentials();
  if ("wrong" in credentials) return credentials;
  const [from = "", to = "", named = ""] = line.args;
  // A definition without a namespace is one of the target's namespace.
  const network = named.includes("/") ? named : `${to.includes("/") ? to.slice(0, to.indexOf("/")) : "default"}/${named}`;
  const [, number, protocol = "TCP"] = portPattern.exec(line.values.get("port")?.[0] ?? "80") ?? [];
  const port = Number(number ?? 0);
  if (port < 1 || port > maxPort)
    return { wrong: "--port must be a port from 1 to 65535, or PORT/PROTOCOL with TCP, UDP or SCTP" };
  const read = await withCredentials(credentials, async (objects) => {
    const source = await readExplainedPod(objects, from, network);
    if (!source.ok) return source;
    const target = await readExplainedPod(objects, to, network);
    if (!target.ok) return target;
    const policies = await readPolicies(objects);
    if (!policies.ok) return policies;
    const upper = protocol.toUpperCase();
    const transport = upper === "UDP" || upper === "SCTP" ? upper : "TCP";
    const explained = explain({
      from: source.value,
      to: target.value,
      network,
      protocol: transport,
      port,
      policies: policies.value,
    });
    return explained.ok ? ok(explained.value) : failed(fault("POLICY_FAILED", explained.problem));
  });
  if (!read.ok) return failure(read.fault.msg);
  const explanations = read.value;
  const allowed = explanations.every((each) => each.allowed);
  const text = (): string => `${[...explanations.map(lineOf), allowed ? "allowed" : "not allowed"].join("\n")}\n`;
  const names = (): readonly string[] => explanations.filter((each) => !each.allowed).map(({ pod }) => pod);
  return { stdout: await printed({ value: { allowed, explanations }, text, names }, line), status: allowed ? 0 : 1 };
}

function lineOf({ source, destination, side, pod, allowed, why }: Explanation): string {
  return inertLine(`${source} -> ${destination}: ${side} of ${pod}: ${allowed ? "allowed" : "stopped"}: ${why}`, maxLine);
}
