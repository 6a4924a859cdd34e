// Runs the conformance kit on the reference plugins and on Plexus' delegates, and writes docs/reference/plugin-conformance.json.
// `npm run shell`, then `node scripts/plugin-conformance.ts`; with types, only those reference plugins, and with `--machine` on Debian's kernel in an
// emulated machine: `node scripts/plugin-conformance.ts --machine ipvlan vlan vrf`. With `--components` the types are those of delegates, or all.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { busybox } from "../test/lab/cluster/images.ts";
import { referencePlugin } from "../test/lab/requires.ts";
import { vmKernel, vmTools } from "../test/lab/vm/kernel.ts";
import { runInMachine } from "../test/lab/vm/machine.ts";
import { type PluginOutcomes, pluginOutcomeList, pluginOutcomes, pluginOutcomesPath } from "./plugin-conformance-page.ts";

const setups = "test/kit/reference-plugins/setups";
/** The delegates with a set-up, by name. */
const delegates = readdirSync("delegates")
  .filter((name) => existsSync(join("delegates", name, "conformance.json")))
  .toSorted();

/** Remarks on plugins, for the page. */
const remarks = {
  dhcp: "ran with its daemon and with Debian's `udhcpd` on the pods' bridge. Its leases are that server's, which no check reads.",
};

/** Modules of Debian's kernel for the links that plugins and kit make. */
const modules = ["8021q", "bridge", "veth", "macvlan", "ipvlan", "vrf", "af_packet"];

/** The beginning of a line with outcomes. */
const printed = "plexus-outcomes ";

const report = z.object({
  passed: z.number(),
  skipped: z.number(),
  checks: z.array(z.object({ id: z.string(), verdict: z.string(), why: z.string().default("") })),
});

function outcomeOf(
  type: string,
  subject: "component" | "native",
  file: string,
  config: string,
): PluginOutcomes["plugins"][number] {
  const args = ["delegates/sdk/program/main.ts", "conformance", file, `--config=${config}`, "--json"];
  const ended = spawnSync(process.execPath, args, { encoding: "utf8", maxBuffer: 64 << 20 });
  if (ended.stdout === "") throw new Error(`${type}: ${ended.stderr}`);
  const { passed, skipped, checks } = report.parse(JSON.parse(ended.stdout));
  const failed = Object.fromEntries(
    checks.flatMap(({ id, verdict, why }) => (verdict === "failed" ? [[id, shortened(why)]] : [])),
  );
  const digest = subject === "native" ? { digest: createHash("sha256").update(readFileSync(file)).digest("hex") } : {};
  const lacks = (failed["ADD-1"] ?? "").includes("operation not supported") ? { unsupported: failed["ADD-1"] ?? "" } : {};
  process.stdout.write(`${type}: ${passed} passed, ${Object.keys(failed).join(" ") || "none"} failed\n`);
  return { type, subject, ...digest, passed, skipped, failed, ...lacks };
}

/** A reason without names that differ from run to run. */
function shortened(why: string): string {
  const text = why
    .replaceAll(/CNI-[A-Za-z-]*[0-9a-f]{20,}/gu, "CNI-…")
    .replaceAll(/kit-\d+(?:-\d+)+/gu, "kit-…")
    .replaceAll(/ for `?iptables -h[^]*$/gu, "");
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** The outcomes of reference plugins: all, or those of `types`. */
function nativeOutcomes(types: readonly string[]): PluginOutcomes["plugins"] {
  return readdirSync(setups).flatMap((name) => {
    const type = name.replace(/\.json$/u, "");
    const file = types.length > 0 && !types.includes(type) ? undefined : referencePlugin(type);
    return file === undefined ? [] : [outcomeOf(type, "native", file, join(setups, name))];
  });
}

/** The outcomes of these delegates' components. */
function componentOutcomes(types: readonly string[]): PluginOutcomes["plugins"] {
  return types.map((type) => outcomeOf(type, "component", `dist/delegates/${type}.wasm`, `delegates/${type}/conformance.json`));
}

function kernelName(): string {
  return `Linux ${release().split(".").slice(0, 2).join(".")}`;
}

/** The outcomes of these plugins on Debian's kernel in an emulated machine, for link types that this kernel lacks. */
async function outcomesInMachine(types: readonly string[]): Promise<PluginOutcomes["plugins"]> {
  const kernel = vmTools() ?? vmKernel();
  if (typeof kernel === "string") throw new Error(`no virtual machine: ${kernel}`);
  const script = `node scripts/plugin-conformance.ts --print ${types.join(" ")}`;
  const command = `export PATH="$PWD/node_modules/node/bin:$PATH"\nunshare --net --mount --propagation private -- sh -c 'ip link set lo up; ${script}'`;
  let shown = "";
  const show = (text: string): void => {
    shown += text;
    process.stderr.write(text);
  };
  const status = await runInMachine(kernel, { command, modules, memoryMiB: 4096, show });
  if (status !== 0) throw new Error(`the machine ended with ${status}`);
  const lines = shown.split(/\r?\n/u).filter((line) => line.startsWith(printed));
  return lines.flatMap((line) => pluginOutcomeList.parse(JSON.parse(line.slice(printed.length))));
}

// The set-up of dhcp starts the DHCP server of busybox.
const server = busybox();
if (server !== undefined) process.env["PATH"] = `${process.env["PATH"] ?? ""}:${dirname(server)}`;

const words = process.argv.slice(2);
const types = words.filter((word) => !word.startsWith("--"));
if (words.includes("--print")) {
  const plugins = nativeOutcomes(types).map((each) => ({ ...each, kernel: kernelName() }));
  process.stdout.write(`\n${printed}${JSON.stringify(plugins)}\n`);
} else if (words.includes("--components")) {
  const measured = componentOutcomes(types.length === 0 ? delegates : types);
  const before = pluginOutcomes();
  const others = before.plugins.filter(
    ({ type, subject }) => subject !== "component" || !measured.some((each) => each.type === type),
  );
  const native = others.filter(({ subject }) => subject === "native");
  const components = [...others.filter(({ subject }) => subject === "component"), ...measured];
  write({ ...before, plugins: [...native, ...components.toSorted((a, b) => (a.type < b.type ? -1 : 1))], remarks });
} else if (types.length > 0) {
  const measured = words.includes("--machine") ? await outcomesInMachine(types) : nativeOutcomes(types);
  const isMeasured = ({ type, subject }: PluginOutcomes["plugins"][number]): boolean =>
    subject === "native" && types.includes(type);
  const before = pluginOutcomes();
  const [native, components] = ["native", "component"].map((kind) => before.plugins.filter(({ subject }) => subject === kind));
  const all = [...(native ?? []).filter((each) => !isMeasured(each)), ...measured].toSorted((a, b) => (a.type < b.type ? -1 : 1));
  write({ ...before, plugins: [...all, ...(components ?? [])], remarks });
} else {
  const components = componentOutcomes(delegates);
  const day = new Date().toISOString().slice(0, 10);
  const measured = `${day} on ${kernelName()} with the reference plugins of Debian 12 (1.1.1)`;
  // Plugins that this kernel cannot run keep their outcomes of another kernel.
  const earlier = pluginOutcomes().plugins.filter(({ kernel }) => kernel !== undefined);
  const native = nativeOutcomes([]).map((each) =>
    each.unsupported === undefined ? each : (earlier.find(({ type }) => type === each.type) ?? each),
  );
  write({ measured, plugins: [...native, ...components], remarks });
}

function write(outcomes: PluginOutcomes): void {
  writeFileSync(pluginOutcomesPath, `${JSON.stringify(outcomes, undefined, 2)}\n`);
}
