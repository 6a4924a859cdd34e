// docs/how-to/multus-settings.md: each setting of Multus' DaemonSets has a value of the chart, or a reason why it needs none.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { chartValuesSchema } from "../../scripts/chart-values.ts";
import { idleMultusKeys } from "../../src/configuration/multus-keys.ts";
import { root } from "../lab/compiled.ts";

/** Keys of Multus 4.3's daemon configuration: pkg/server/types.go, pkg/server/config/generator.go. */
const daemonKeys = [
  ["chrootDir", "socketDir", "metricsPort", "enablePprof", "connectionLimit", "cniConfigDir", "multusConfigFile"],
  ["multusAutoconfigDir", "multusMasterCNI", "forceCNIVersion", "overrideNetworkName"],
  ["perNodeCertificate", "bootstrapKubeconfig", "certDir", "certDuration"],
].flat();

/** Flags of Multus 4.3's cmd/thin_entrypoint. */
const thinFlags = [
  ["cni-bin-dir", "cni-conf-dir", "cni-version", "multus-conf-file", "multus-bin-file", "multus-cni-conf-dir"],
  ["skip-multus-binary-copy", "multus-kubeconfig-file-host", "multus-master-cni-file-name", "namespace-isolation"],
  ["global-namespaces", "multus-autoconfig-dir", "multus-log-file", "multus-log-level", "multus-log-to-stderr"],
  ["override-network-name", "cleanup-config-on-exit", "skip-config-watch", "rename-conf-file", "readiness-indicator-file"],
  ["additional-bin-dir", "force-cni-version", "skip-tls-verify"],
].flat();

interface Row {
  readonly settings: readonly string[];
  readonly value: string | undefined;
  readonly remark: string;
}

const page = readFileSync(join(root, "docs", "how-to", "multus-settings.md"), "utf8");
const rows = [...page.matchAll(/^\| (`[^|]+`) \| (`[^|]+`|none) \| ?([^|]*?) ?\|$/gmu)].map(
  ([, settings = "", value = "", remark = ""]): Row => ({
    settings: settings.split(", ").map((setting) => setting.replaceAll(/[`]|--/gu, "")),
    value: value === "none" ? undefined : value.replaceAll("`", ""),
    remark,
  }),
);
const settings = rows.flatMap((row) => row.settings);

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}
/** Whether the chart has a value at this path. */
function hasValue(path: string): boolean {
  let schema: Schema | undefined = JSON.parse(chartValuesSchema());
  for (const key of path.split(".")) schema = schema?.properties?.[key];
  return schema !== undefined;
}

test("MO-16 each key of Multus' daemon configuration has a row", () => {
  expect(settings).toEqual(expect.arrayContaining(daemonKeys));
  // Without a chart the same keys are read, with a warning that says what to do instead.
  const nested = ["bootstrapKubeconfig", "certDir", "certDuration"];
  expect(Object.keys(idleMultusKeys)).toEqual(expect.arrayContaining(daemonKeys.filter((key) => !nested.includes(key))));
});

test("MO-23 each flag of Multus' thin entry point has a row", () => {
  expect(settings).toEqual(expect.arrayContaining(thinFlags));
});

test("MO-16 MO-23 each row names a value that the chart has, or the reason why there is none", () => {
  expect(rows.length).toBeGreaterThan(30);
  expect(rows.filter(({ value }) => value !== undefined && !hasValue(value))).toEqual([]);
  expect(rows.filter(({ value, remark }) => value === undefined && remark.length < 10)).toEqual([]);
  expect(hasValue("cni.binDirectory")).toBe(false);
});
