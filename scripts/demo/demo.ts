// `npm run demo` attaches two pods in their own network namespaces to a default network and two secondary networks, through plexusd and once
// without it. Only the API server is simulated, by a directory of manifests. The first run's chains mix native binaries and WASM components.
// The second run uses components only and counts every executed program. `--mixed` and `--wasm-only` select one run. `--picture FILE` draws
// the first report of one pod.

import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { wasmOnlyDelegates } from "../../test/lab/wasm-only.ts";
import { attachAndDetach } from "./attach-and-detach.ts";
import { demoConfiguration, wasmOnlyConfiguration } from "./configuration.ts";
import type { Variant } from "./node.ts";
import { terminalPicture } from "./picture.ts";
import { type Report, showReport, succeeded } from "./report.ts";

const next = `
npm run --silent demo -- --json   has the steps of both pods
docs/quick-start.md               goes on by hand, in the shell of npm run shell
docs/README.md                    lists all guides: a cluster, Multus, delegates of your own
`;

const mixed: Variant = {
  title: "Native plugins and components in the same chains",
  installed: { native: ["bridge", "ptp", "tuning"], components: ["ipam-host-local", "status-shaper"] },
  manifests: "manifests",
  configuration: demoConfiguration,
  recordsPrograms: false,
};
const wasmOnly: Variant = {
  title: "Components alone: no native plugin is installed",
  installed: { components: [...wasmOnlyDelegates, "status-shaper", "tuning"] },
  manifests: "manifests-wasm-only",
  configuration: wasmOnlyConfiguration,
  recordsPrograms: true,
};

const flag = { type: "boolean", default: false } as const;
const { values } = parseArgs({ options: { json: flag, mixed: flag, "wasm-only": flag, picture: { type: "string" } } });
const both = values.mixed === values["wasm-only"];
const variants = [...(both || values.mixed ? [mixed] : []), ...(both || values["wasm-only"] ? [wasmOnly] : [])];
const reports: Report[] = [];
for (const variant of variants) {
  const report = await attachAndDetach(variant);
  reports.push(report);
  if (!values.json) process.stdout.write(showReport(withoutAlikeSteps(report)));
}
if (values.json) {
  const withOutcome = reports.map((report) => ({ ok: succeeded(report), ...report }));
  process.stdout.write(`${JSON.stringify(withOutcome, undefined, 2)}\n`);
} else {
  process.stdout.write(next);
}
if (values.picture !== undefined && reports[0] !== undefined) {
  writeFileSync(values.picture, terminalPicture("npm run demo", showReport(onlyPod(reports[0], "web"))));
}
process.exitCode = reports.every(succeeded) ? 0 : 1;

/** The report with the steps of one pod: those of the other one are alike, and a screen has few lines. */
function withoutAlikeSteps(report: Report): Report {
  return { ...report, steps: report.steps.filter(({ containerId }) => containerId === "demo-web") };
}

/** The report of one pod only, so that a picture fits on a page. */
function onlyPod(report: Report, pod: string): Report {
  return {
    ...report,
    pods: report.pods.filter(({ name }) => name === pod),
    steps: report.steps.filter((step) => step.containerId === `demo-${pod}` && step.verb !== "CHECK"),
  };
}
