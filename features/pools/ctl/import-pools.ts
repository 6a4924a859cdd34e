// plexusctl pools import: takes addresses that whereabouts or host-local has given out of a pool, as long as their pods have them.

import { hostname } from "node:os";
import { type CommandLineMistake, valueOf } from "../../../src/command-line/read-command-line.ts";
import { importAddresses, type ImportReport } from "../import/import-addresses.ts";
import { withCredentials } from "../../../host/cluster/kube/with-credentials.ts";
import { type CommandResult, failure, type Invocation } from "../../../host/node/command-line/command.ts";
import { printed } from "../../../host/node/command-line/printed.ts";
import { table, wrap } from "../../../host/node/command-line/table.ts";

/** Names of sources: whereabouts, host-local-NODE. */
const sourceName = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Runs `plexusctl pools import`. */
export async function importPoolsCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const [pool = ""] = line.args;
  const credentials = await line.credentials();
  if ("wrong" in credentials) return credentials;
  const directories = line.values.get("host-local") ?? [];
  const usual = directories.length === 0 ? "whereabouts" : `host-local-${hostname().toLowerCase()}`;
  const source = valueOf(line, "source") ?? usual;
  if (!sourceName.test(source)) return { wrong: `--source ${source}: must be a name of lower-case letters, digits, "-" and "."` };
  const options = { pool, directories, source, write: line.flags.has("write") };
  const done = await withCredentials(credentials, (objects) => importAddresses(objects, options));
  if (!done.ok) return failure(done.fault.msg);
  const report = done.value;
  const names = (): readonly string[] => report.addresses.map(({ address }) => address);
  const isBad = report.conflicts.length > 0 || report.problems.length > 0;
  return {
    stdout: await printed({ value: report, text: (width) => importText(report, width, options.write), names }, line),
    ...(isBad && options.write ? { stderr: `nothing was written into AddressPool ${pool}` } : {}),
    status: isBad ? 1 : 0,
  };
}

function importText(
  { pool, source, addresses, stale, unrecorded, conflicts, problems, exclude, wholeSubnets, written }: ImportReport,
  width: number,
  write: boolean,
): string {
  const rows = addresses.map(({ address, owner, source: from }) => [address, owner, from]);
  const lines =
    rows.length === 0 ? [] : [...table([{ title: "ADDRESS" }, { title: "OWNER" }, { title: "RECORD" }], rows, width), ""];
  const section = (title: string, each: readonly string[]): void => {
    if (each.length > 0) lines.push(title, ...each.flatMap((text) => wrap(`- ${text}`, width)), "");
  };
  section("records without a running pod, which stay excluded until the records are gone:", stale);
  section("running pods without a record, whose addresses stay excluded:", unrecorded);
  section("problems, which forbid the import:", problems);
  section("conflicts, which forbid the import:", conflicts);
  const what = `${addresses.length} addresses of ${source}`;
  if (written && wholeSubnets.length > 0) {
    const action = `Import the leases of all nodes, then take ${wholeSubnets.join(" and ")} out of spec.exclude`;
    lines.push(
      `AddressPool ${pool} excludes ${what}, and still all addresses of ${wholeSubnets.join(" and ")}. ${action}: kubectl edit addresspool ${pool}`,
    );
  } else if (written)
    lines.push(
      `AddressPool ${pool} excludes ${what}, in ${exclude.length} entries. Import again to release those whose pods are gone.`,
    );
  else if (!write && problems.length + conflicts.length === 0)
    lines.push(`${what} can be imported into AddressPool ${pool}: add --write`);
  else lines.push(`${what} are not imported into AddressPool ${pool}`);
  return `${lines.join("\n")}\n`;
}
