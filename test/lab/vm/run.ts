// `npm run vm -- <test files>` runs tests on Debian's kernel, which has features that this machine's kernel may lack (VLAN
// filtering, vlan, ipvlan, dummy, vrf, SCTP). Emulation without KVM is about ten times slower. `npm run vm -- --arm64` runs test/ship/arm64.test.ts,
// which boots the arm64 image's programs on Debian's arm64 kernel. `npm run vm -- --record test/peers/…` records the outcomes of peers' suites.

import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { getArm64 } from "./arm64-files.ts";
import { recordOutcomes } from "../peers/record.ts";
import { goDirectory } from "../peers/specifications.ts";
import { adapterEmulator } from "./adapter-emulator.ts";
import { vmKernel, vmTools } from "./kernel.ts";
import { runInMachine } from "./machine.ts";
import { loadPolicy, selinuxArguments } from "./selinux.ts";

// libcrc32c, which nf_tables and SCTP need, requests crc32c by name only: modules.dep lacks it, so this list has it. Go's netlink library, as bond-cni uses it, also
// opens a socket of xfrm_user.
const modules = `
  crc32c_generic
  8021q bridge br_netfilter veth dummy macvlan ipvlan vrf bonding netdevsim tun sctp af_packet ifb sch_tbf sch_ingress cls_u32 act_mirred
  nf_tables nf_conntrack nf_conntrack_netlink nft_chain_nat nft_nat nft_masq nft_redir nft_ct nft_fib_inet nft_compat nft_reject_inet
  openvswitch nft_numgen nft_limit nft_log nft_counter xt_comment xt_MASQUERADE xt_mark xt_nat xt_multiport xt_tcpudp xt_addrtype xt_conntrack xt_physdev
  iptable_nat ip6table_nat iptable_filter ip6table_filter xfrm_user ip_vs ip_vs_rr
`
  .trim()
  .split(/\s+/);

if (process.argv[2] === "--arm64") {
  await getArm64();
  const vitest = ["node_modules/.bin/vitest", "run", "--project", "places", "test/ship/arm64.test.ts"];
  const ended = spawnSync("node_modules/node/bin/node", vitest, {
    stdio: "inherit",
    env: { ...process.env, PLEXUS_TEST_ARM64: "1" },
  });
  process.exit(ended.status ?? 1);
}
const why = vmTools();
const kernel = why ?? vmKernel();
if (typeof kernel === "string") {
  process.stderr.write(`plexus: no virtual machine: ${kernel}\n`);
  process.exit(3);
}
const records = process.argv.includes("--record");
const words = process.argv.slice(2).filter((word) => word !== "--record");
const quoted = words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`);
// Tests in test/cluster and test/peers have projects of their own. Their servers and waits have limits of time that emulation on a busy machine would exceed.
const isIn = (folder: string): boolean => words.some((word) => word.startsWith(folder));
const isCluster = isIn("test/cluster/");
const project = isCluster ? "cluster" : isIn("test/peers/") || words.some((word) => word.includes(".long.")) ? "long" : "places";
const slow = "--testTimeout=900000 --hookTimeout=900000";
const fieldPlugins = process.env["PLEXUS_FIELD_PLUGINS"];
// A test of SELinux has the word in its file's name.
const policy = words.some((word) => word.includes("selinux")) ? loadPolicy() : undefined;
if (typeof policy === "object") {
  process.stderr.write(`plexus: no SELinux: ${policy.reason}\n`);
  process.exit(3);
}
// The machine's files are lost with it, so the tests of peers print their outcomes.
const record = records ? ["export PLEXUS_PEERS_RECORD=print"] : [];
const command = [
  // Some suites of peers build a program of their module.
  `export PATH="$PWD/node_modules/.bin:$PATH${isIn("test/peers/") ? `:${goDirectory()}` : ""}" CI=true PLEXUS_TEST_EMULATED=1`,
  ...record,
  ...(fieldPlugins === undefined ? [] : [`export PLEXUS_FIELD_PLUGINS='${resolve(fieldPlugins)}'`]),
  ...(policy === undefined ? [] : [policy]),
  // The kernel makes the links of virtual functions a moment later.
  "for file in /sys/class/net/*/device/sriov_numvfs; do [ ! -e $file ] || { echo 2 >$file; sleep 10; }; done",
  `unshare --net --mount --propagation private -- sh scripts/private.sh test --project ${project} ${slow} ${quoted.join(" ")}`,
].join("\n");
// A test of virtual functions has the word in its file's name.
const withFunctions = words.some((word) => word.includes("virtual-function")) ? adapterEmulator() : undefined;
if (typeof withFunctions === "string") {
  process.stderr.write(`plexus: no virtual functions: ${withFunctions}\n`);
  process.exit(3);
}
let shown = "";
const status = await runInMachine(kernel, {
  command,
  modules: withFunctions === undefined ? modules : [...modules, "igb", "igbvf"],
  ...(withFunctions === undefined ? {} : { adapterEmulator: withFunctions }),
  ...(policy === undefined ? {} : { kernelArguments: selinuxArguments }),
  memoryMiB: 4096,
  countsInstructions: isCluster,
  show(text) {
    shown += text;
    process.stdout.write(text);
  },
});
if (records) recordOutcomes(shown);
if (typeof status === "string") process.stderr.write(`plexus: ${status}\n`);
process.exit(typeof status === "number" ? status : 1);
