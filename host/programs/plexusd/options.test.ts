import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { uidOptionText } from "../../../src/configuration/uid-option.ts";
import { residentFeatures } from "../../../features/list.ts";
import { readOptions } from "./options.ts";
import { usageOf } from "./usage.ts";

function read(...args: string[]) {
  const options = readOptions(args, []);
  if (options === "help" || "wrong" in options) throw new Error(JSON.stringify(options));
  return options;
}

test("the help names each option of each feature, in lines of at most 80 characters", async () => {
  const residents = await residentFeatures();
  const lines = usageOf(residents).split("\n");
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  const isTold = (option: string): boolean => lines.some((line) => line === `  --${option}` || line.startsWith(`  --${option} `));
  const options = residents.flatMap((each) => Object.keys(each.options));
  expect(options.filter((option) => !isTold(option))).toEqual([]);
});

test("the status socket is in the socket's directory, unless --status-socket names another path", () => {
  expect(read().statusSocket).toBe("/run/plexus/status.sock");
  expect(read("--socket", "/x/y.sock").statusSocket).toBe("/x/status.sock");
  expect(read("--socket", "/x/y.sock", "--status-socket", "/z.sock").statusSocket).toBe("/z.sock");
});

test.each([
  ["9464", { host: "127.0.0.1", port: 9464 }],
  ["0", { host: "127.0.0.1", port: 0 }],
  ["0.0.0.0:9464", { host: "0.0.0.0", port: 9464 }],
  ["node-1.example:80", { host: "node-1.example", port: 80 }],
  ["[::1]:9464", { host: "::1", port: 9464 }],
])("listens for scrapers on %s", (text, address) => {
  expect(read("--metrics-listen", text).metricsListen).toEqual(address);
});

test.each(["", ":9464", "host", "65536", "1.2.3.4:", "::1:9464", "a b:80", "[::1]", "-1"])(
  "refuses to listen on '%s'",
  (text) => {
    expect(readOptions([`--metrics-listen=${text}`], [])).toMatchObject({ wrong: expect.stringContaining("--metrics-listen") });
  },
);

test.each([
  ["http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"],
  ["http://collector:4318/", "http://collector:4318/v1/traces"],
  ["https://otlp.example/tenant-7", "https://otlp.example/tenant-7/v1/traces"],
  ["https://otlp.example/v1/traces", "https://otlp.example/v1/traces"],
])("sends spans to the traces of %s", (text, url) => {
  expect(read("--otlp", text).otlp?.href).toBe(url);
});

test("sockets of root and shared directories are for a daemon with a user of its own", () => {
  const options = read("--uid", "4711", "--connect-to", "/a.sock", "--connect-to", "/b.sock", "--share-dir", "/leases");
  expect(options).toMatchObject({ uid: 4711, socketsOfRoot: ["/a.sock", "/b.sock"], sharedDirectories: ["/leases"] });
  expect(readOptions(["--connect-to", "/a.sock"], [])).toEqual({ wrong: "--connect-to needs --uid" });
  expect(readOptions(["--share-dir", "/leases"], [])).toEqual({ wrong: "--share-dir needs --uid" });
  expect(readOptions(["--uid", "4711", "--connect-to", "a.sock"], [])).toEqual({
    wrong: expect.stringContaining("--connect-to a.sock: must be an absolute path"),
  });
});

test.each(["socket", "status-socket", "state-dir", "kubeconfig"])("refuses a relative path in --%s", (name) => {
  expect(readOptions([`--${name}`, "here/below"], [])).toEqual({
    wrong: expect.stringContaining(`--${name} here/below: must be an absolute path`),
  });
});

test("writes no network configuration unless directory and template are given", () => {
  expect(read().cniConfiguration).toBeUndefined();
  expect(read("--cni-config-dir", "/etc/cni/net.d/", "--cni-config", "/etc/plexus/config.json").cniConfiguration).toEqual({
    directory: "/etc/cni/net.d",
    template: "/etc/plexus/config.json",
    fileName: "00-plexus.conflist",
    clusterNetwork: undefined,
    binDir: "/opt/cni/bin",
    foreignSteps: "keep",
    serviceAccount: "/var/run/secrets/kubernetes.io/serviceaccount",
    apiServer: undefined,
    nodeCredentials: undefined,
  });
});

test.each([
  [["--cni-config-dir", "/d"], "belong together"],
  [["--cni-config", "/c"], "belong together"],
  [["--cluster-network", "10-a.conflist"], "--cluster-network needs --cni-config-dir"],
  [["--node-credentials", "/run/x"], "--node-credentials needs --cni-config-dir"],
])("refuses %j without the options that it needs", (args, wrong) => {
  expect(readOptions(args, [])).toEqual({ wrong: expect.stringContaining(wrong) });
});

test.each([
  ["cni-config-dir", "here"],
  ["cni-config", "here"],
  ["cni-config-name", "../x.conflist"],
  ["cni-config-name", "00-plexus.conf"],
  ["cni-config-name", ".conflist"],
  ["cluster-network", "/etc/cni/net.d/10-a.conflist"],
  ["cluster-network", "10-a"],
  ["cni-bin-dir", "bin"],
  ["service-account", "sa"],
  ["node-credentials", "creds"],
  ["api-server", "http://10.0.0.1"],
  ["api-server", "10.0.0.1:6443"],
  ["api-server", "https://user:pass@10.0.0.1"],
])("refuses --%s %s", (name, value) => {
  const args = { "cni-config-dir": "/d", "cni-config": "/c", [name]: value };
  const list = Object.entries(args).map(([key, text]) => `--${key}=${text}`);
  expect(readOptions(list, [])).toEqual({ wrong: expect.stringContaining(`--${name} ${value}: must be`) });
});

test("names the API server without a trailing slash", () => {
  const options = read("--cni-config-dir", "/d", "--cni-config", "/c", "--api-server", "https://10.0.0.1:6443/");
  expect(options.cniConfiguration?.apiServer).toBe("https://10.0.0.1:6443");
});

test("the chart's values are the defaults of the options", () => {
  const chart = parse(readFileSync(join(import.meta.dirname, "../../../deploy/helm/plexus/values.yaml"), "utf8")) as {
    readonly daemon: Readonly<Record<string, unknown>>;
  };
  const { calls, queue, isolation, logLevel, graceMs, reconcile, sandboxUids, sandboxStart } = read();
  expect(chart.daemon).toMatchObject({
    calls,
    queue,
    isolation,
    logLevel,
    graceMs,
    sandboxUids: uidOptionText(sandboxUids),
    sandboxStart,
    reconcileIntervalSeconds: reconcile.intervalMs / 1000,
    reconcileGraceSeconds: reconcile.graceMs / 1000,
  });
});
