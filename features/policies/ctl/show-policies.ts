// plexusctl policies show: the policies on further networks, and what is wrong with them.

import { ok } from "../../../src/fault/result.ts";
import type { CommandLineMistake } from "../../../src/command-line/read-command-line.ts";
import { withCredentials } from "../../../host/cluster/kube/with-credentials.ts";
import { type CommandResult, failure, type Invocation } from "../../../host/node/command-line/command.ts";
import { printed } from "../../../host/node/command-line/printed.ts";
import { table, wrap } from "../../../host/node/command-line/table.ts";
import type { Policy, UnreadablePolicy } from "../rules/policy.ts";
import { readPolicies } from "./policy-objects.ts";

const columns = [{ title: "NAMESPACE" }, { title: "NAME" }, { title: "KIND" }, { title: "NETWORKS" }, { title: "ISOLATES" }];

/** Runs `plexusctl policies show`. */
export async function showPoliciesCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const credentials = await line.credentials();
  if ("wrong" in credentials) return credentials;
  const read = await withCredentials(credentials, async (objects) => {
    const all = await readPolicies(objects);
    return all.ok ? ok(all.value.filter(({ namespace }) => line.args.length === 0 || line.args.includes(namespace))) : all;
  });
  if (!read.ok) return failure(read.fault.msg);
  const policies = read.value.map(shown);
  const problems = policies.flatMap(({ namespace, name, problems: found }) =>
    found.map((each) => `${namespace}/${name}: ${each}`),
  );
  const text = (width: number): string => {
    const rows = policies.map(({ kind, namespace, name, networks, isolates }) => [
      namespace,
      name,
      kind,
      networks.join(", ") || "none",
      isolates,
    ]);
    const list = rows.length === 0 ? ["no policy on a further network"] : table(columns, rows, width);
    const wrong = problems.flatMap((each) => wrap(`- ${each}`, width));
    return `${[...list, ...(wrong.length === 0 ? [] : ["", ...wrong])].join("\n")}\n`;
  };
  const names = (): readonly string[] => policies.map(({ namespace, name }) => `${namespace}/${name}`);
  return { stdout: await printed({ value: { policies }, text, names }, line), status: problems.length > 0 ? 1 : 0 };
}

function shown(policy: Policy | UnreadablePolicy) {
  const { kind, namespace, name, networks, networkProblems } = policy;
  const isBad = "problem" in policy;
  const directions = isBad ? [] : (["ingress", "egress"] as const).filter((each) => policy[each] !== undefined);
  const problems = [...networkProblems, ...(isBad ? [policy.problem] : [])];
  return { kind, namespace, name, networks, isolates: isBad ? "unreadable" : directions.join(", ") || "nothing", problems };
}
