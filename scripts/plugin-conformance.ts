// Runs the conformance kit on the reference plugins and on Plexus' delegates, and writes docs/reference/plugin-conformance.json.
// `npm run shell`, then `node scripts/plugin-conformance.ts`.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { referencePlugin } from "../test/harness/requires.ts";
import { type PluginOutcomes, pluginOutcomesPath } from "./plugin-conformance-page.ts";

const setups = "test/conformance/kit/setups";
const delegates = ["bridge-adapter", "ipam-host-local", "loopback", "macvlan", "portmap", "status-shaper", "tuning"];

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

const native = readdirSync(setups).flatMap((name) => {
  const type = name.replace(/\.json$/u, "");
  const file = referencePlugin(type);
  return file === undefined ? [] : [outcomeOf(type, "native", file, join(setups, name))];
});
const components = delegates.map((type) =>
  outcomeOf(type, "component", `dist/delegates/${type}.wasm`, `delegates/${type}/conformance.json`),
);
const day = new Date().toISOString().slice(0, 10);
const measured = `${day} on Linux ${release().split(".").slice(0, 2).join(".")} with the reference plugins of Debian 12 (1.1.1)`;
writeFileSync(pluginOutcomesPath, `${JSON.stringify({ measured, plugins: [...native, ...components] }, undefined, 2)}\n`);
