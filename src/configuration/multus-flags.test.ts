import { describe, expect, test } from "vitest";
import { readMultusFlags } from "./multus-flags.ts";

const defaults = {
  cniBin: "/opt/cni/bin",
  directory: "/etc/cni/net.d",
  network: undefined,
  configurationFile: undefined,
  kubeconfig: "/etc/cni/net.d/multus.d/multus.kubeconfig",
  takesName: false,
  members: {},
  notes: [],
};

describe("the flags of Multus' thin entry point", () => {
  // Each flag of addFlags() in cmd/thin_entrypoint/main.go of Multus 4.3.
  test.each([
    [[], {}],
    [["--cni-bin-dir=/host/usr/libexec/cni"], { cniBin: "/usr/libexec/cni" }],
    [["--cni-conf-dir", "/host/etc/cni/other"], { directory: "/etc/cni/other" }],
    [["--cni-version=0.4.0"], { members: { cniVersion: "0.4.0" } }],
    [["--cni-version=1.0.0", "--force-cni-version"], { members: { cniVersion: "1.0.0" } }],
    [["--multus-conf-file=auto"], {}],
    [["--multus-conf-file=/tmp/multus-conf/00-multus.conf"], { configurationFile: "/tmp/multus-conf/00-multus.conf" }],
    [["--multus-bin-file=/usr/src/multus"], { notes: [expect.stringMatching(/^--multus-bin-file: /)] }],
    [["--skip-multus-binary-copy=true"], { notes: [expect.stringMatching(/^--skip-multus-binary-copy: /)] }],
    [["--skip-multus-binary-copy=false"], {}],
    [["--multus-cni-conf-dir=/host/etc/cni/multus/net.d"], { members: { confDir: "/etc/cni/multus/net.d" } }],
    [["--multus-kubeconfig-file-host=/etc/multus.kubeconfig"], { kubeconfig: "/etc/multus.kubeconfig" }],
    [["--multus-master-cni-file-name=10-calico.conflist"], { network: "10-calico.conflist" }],
    [["--multus-master-cni-file-name="], {}],
    [["--namespace-isolation"], { members: { namespaceIsolation: true } }],
    [["--namespace-isolation=false"], {}],
    [
      ["--namespace-isolation=true", "--global-namespaces=default,shared"],
      { members: { namespaceIsolation: true, globalNamespaces: "default,shared" } },
    ],
    [
      ["--multus-autoconfig-dir=/host/etc/cni/auto"],
      { directory: "/etc/cni/auto", notes: [expect.stringContaining("/etc/cni/auto")] },
    ],
    [["--multus-log-to-stderr=false"], { members: { logToStderr: false } }],
    [["--multus-log-to-stderr=true"], {}],
    [
      ["--multus-log-level=debug", "--multus-log-file=/var/log/multus.log"],
      { members: { logLevel: "debug", logFile: "/var/log/multus.log" } },
    ],
    [["--override-network-name=true"], { takesName: true }],
    [["--cleanup-config-on-exit=true"], { notes: [expect.stringMatching(/^--cleanup-config-on-exit: /)] }],
    [["--skip-config-watch"], { notes: [expect.stringMatching(/^--skip-config-watch: /)] }],
    [["--rename-conf-file=true"], { notes: [expect.stringMatching(/^--rename-conf-file: /)] }],
    [["--readiness-indicator-file=/run/calico/ready"], { members: { readinessindicatorfile: "/run/calico/ready" } }],
    [["--additional-bin-dir=/opt/multus/bin"], { members: { binDir: "/opt/multus/bin" } }],
    [["--skip-tls-verify"], { notes: [expect.stringMatching(/^--skip-tls-verify: /)] }],
  ])("MO-23 %j", (args, expected) => {
    expect(readMultusFlags(args)).toEqual({ ok: true, value: { ...defaults, ...expected } });
  });

  test.each([
    [["--namespace-isolatoin"], "is --namespace-isolation meant?"],
    [["namespace-isolation"], "is no flag of Multus' thin entry point"],
    [["--namespace-isolation=maybe"], "--namespace-isolation=maybe: must be true or false"],
    [["--cni-version"], "--cni-version: its value is missing"],
    [["--force-cni-version"], "--cni-version is missing"],
  ])("%j is refused", (args, why) => {
    expect(readMultusFlags(args)).toMatchObject({ ok: false, fault: { msg: expect.stringContaining(why) } });
  });
});
