// The arm64 image on Debian's arm64 kernel in an emulated machine: `npm run vm -- --arm64`. Takes some minutes.

import { beforeAll, describe, expect, test } from "vitest";

import { imagesOf } from "../../scripts/image/oci-layout.ts";
import { testImage } from "../lab/image/built.ts";
import { imagePrograms } from "../lab/image/programs.ts";
import { missing, type Requirement } from "../lab/requires.ts";
import { type Arm64Files, arm64Files } from "../lab/vm/arm64-files.ts";
import { runOnArm64 } from "../lab/vm/arm64-machine.ts";

const asked: Requirement = () =>
  process.env["PLEXUS_TEST_ARM64"] === undefined ? "it takes some minutes; run npm run vm -- --arm64" : undefined;

/** A native reference plugin, whose IPAM plugin is a component, and a component. Debian's reference plugins know version 1.0.0. */
const configuration = {
  cniVersion: "1.0.0",
  name: "node",
  type: "plexus",
  wasm: {
    grants: {
      tuning: {
        log: {},
        links: {},
        state: { directories: ["/var/lib/cni/state"] },
        sysctl: { keys: ["net/ipv4/conf/IFNAME/arp_filter"] },
      },
    },
  },
  delegates: [
    {
      cniVersion: "1.0.0",
      name: "pods",
      plugins: [
        {
          type: "bridge",
          bridge: "cni0",
          isGateway: true,
          ipam: { type: "ipam-host-local", ranges: [[{ subnet: "10.55.0.0/24" }]] },
        },
        { type: "tuning", mtu: 1300, sysctl: { "net.ipv4.conf.eth0.arp_filter": "1" } },
      ],
    },
  ],
};

/** Prints a line for each fact: `fact NAME STATUS TEXT`. */
const script = `
fact() { name=$1; shift; text=$("$@" 2>/dev/null); echo "fact $name $?" $text; }
call() {
  fact $1-$2 $b env CNI_COMMAND=$2 CNI_CONTAINERID=pod CNI_NETNS=/run/netns/pod CNI_IFNAME=eth0 \\
    CNI_PATH=/opt/plexus/cni:/plugins /opt/plexus/cni/plexus </tmp/configuration
}
inPod() { fact $1 $b nsenter --net=/run/netns/pod $b sh -c "$2"; }
round() {
  call $1 VERSION
  call $1 ADD
  inPod $1-links "$b ip -o address show dev eth0; $b cat /proc/sys/net/ipv4/conf/eth0/arp_filter"
  inPod $1-ping "$b ping -c 1 -W 5 10.55.0.1"
  call $1 CHECK
  call $1 DEL
  inPod $1-left "$b ip -o link"
  fact $1-leases $b sh -c "$b ls /var/lib/cni/networks/pods | $b grep -c ^10"
}
$b mkdir -p /run/netns /run/plexus
: >/run/netns/pod
$b unshare -n $b mount --bind /proc/self/ns/net /run/netns/pod
$b cat >/tmp/configuration <<'END'
${JSON.stringify(configuration)}
END
fact machine $b uname -m
round engine
PATH=/opt/plexus/bin node --disable-warning=ExperimentalWarning --max-semi-space-size=4 /opt/plexus/plexusd.cjs \\
  --socket /run/plexus/plexus.sock 2>/tmp/log &
until [ -S /run/plexus/plexus.sock ]; do $b sleep 0.1; done
round daemon
fact daemon-log $b grep -c '"verb":"ADD".*ADD done' /tmp/log
fact seconds $b cat /proc/uptime
`;

const skip = missing("Plexus on an arm64 kernel", asked, imagePrograms, () => {
  const files = arm64Files();
  return typeof files === "string" ? files : undefined;
});

describe.skipIf(skip)("the arm64 image on an arm64 kernel", () => {
  const facts = new Map<string, { readonly status: number; readonly text: string }>();
  let output: string;
  beforeAll(async () => {
    const files = arm64Files() as Arm64Files;
    const images = imagesOf((await testImage()).layout);
    const layers = images.find(({ architecture }) => architecture === "arm64")?.layers ?? [];
    const started = performance.now();
    output = await runOnArm64(files, { layers, script, maxMs: 1_200_000 });
    for (const [, name = "", status, text = ""] of output.matchAll(/^fact (\S+) (\d+) ?(.*)$/gmu))
      facts.set(name, { status: Number(status), text });
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    process.stderr.write(`arm64: ${seconds} s, ${facts.get("seconds")?.text.split(" ")[0]} s by the machine's clock\n`);
  }, 1_800_000);

  const textOf = (name: string): string => {
    const fact = facts.get(name);
    expect(fact?.status, `${name}: ${fact?.text ?? "missing"}\n${fact === undefined ? output : ""}`).toBe(0);
    return fact?.text ?? "";
  };

  test("MO-30: the machine is arm64", () => {
    expect(textOf("machine")).toBe("aarch64");
  });

  test.each(["engine", "daemon"])(
    "MO-30: VERSION, ADD, CHECK and DEL of native and WASM steps on arm64, served by the %s",
    (server) => {
      expect(JSON.parse(textOf(`${server}-VERSION`))).toMatchObject({ supportedVersions: expect.arrayContaining(["1.1.0"]) });
      const result = JSON.parse(textOf(`${server}-ADD`));
      expect(result).toMatchObject({
        interfaces: [{ name: "cni0" }, {}, { name: "eth0", sandbox: "/run/netns/pod" }],
        ips: [{ address: expect.stringMatching(/^10\.55\.0\.\d+\/24$/u), gateway: "10.55.0.1" }],
      });
      // The component `tuning` set MTU and sysctl.
      expect(textOf(`${server}-links`)).toMatch(new RegExp(`inet ${result.ips[0].address}.* 1$`, "u"));
      expect(textOf(`${server}-ping`)).toContain("1 packets received");
      expect(textOf(`${server}-CHECK`)).toBe("");
      expect(textOf(`${server}-DEL`)).toBe("");
      expect(textOf(`${server}-left`)).not.toContain("eth0");
      // grep's status 1: no lease is left.
      expect(facts.get(`${server}-leases`)).toEqual({ status: 1, text: "0" });
    },
  );

  test("MO-30: the daemon served its ADD itself", () => {
    expect(textOf("daemon-log")).toBe("1");
  });
});
