// The texts of `plexusctl component`.

import type { NodeComponent } from "../node/list-components.ts";
import type { PullReport } from "../node/pull-components.ts";
import type { LockedComponent } from "../rules/lock-file.ts";
import { shortDigest } from "../../../src/oci/digest.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import { table } from "../../../host/node/command-line/table.ts";

const maxLine = 1024;

function line(what: string, { file, digest, signer, source }: LockedComponent): string {
  return inertLine(`${what} ${file}: ${digest}${signer === undefined ? "" : `, signed by ${signer}`}, from ${source}`, maxLine);
}

/** The report of a pull: one line for each component. */
export function pullText({ installed, unchanged, removed, warnings }: PullReport): string {
  const lines = [
    ...installed.map((each) => line("installed", each)),
    ...unchanged.map((each) => line("unchanged", each)),
    ...removed.map(({ file }) => inertLine(`removed ${file}`, maxLine)),
    ...warnings.map((each) => inertLine(`warning: ${each}`, maxLine)),
  ];
  return lines.length === 0 ? "the list has no components\n" : `${lines.join("\n")}\n`;
}

/** The node's components as a table, and the problems below it. */
export function componentsText(components: readonly NodeComponent[], width: number): string {
  if (components.length === 0) return "no components\n";
  const columns = [
    { title: "TYPE" },
    { title: "DIGEST" },
    { title: "SIGNED BY" },
    { title: "GRANTS" },
    { title: "DELEGATE" },
    { title: "SOURCE" },
  ];
  const rows = components.map(({ type, digest, delegate, signers, grants, source }) => [
    type,
    width === Infinity ? digest : shortDigest(digest),
    signers.length === 0 ? "-" : signers.join(", "),
    grants.length === 0 ? "none" : grants.join(", "),
    delegate ?? "-",
    source ?? "-",
  ]);
  const problems = components.flatMap(({ path, problem }) =>
    problem === null ? [] : [inertLine(`${path}: ${problem}`, maxLine)],
  );
  return `${[...table(columns, rows, width), ...(problems.length === 0 ? [] : ["", ...problems])].join("\n")}\n`;
}
