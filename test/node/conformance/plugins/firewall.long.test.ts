// Compares the delegate firewall with the reference plugin: the rules as iptables lists them, and connections through the node. Each finds the other's rules.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PodNamespace } from "../../../lab/namespaces.ts";
import { comparedReleases } from "../../../lab/reference-releases.ts";
import { command, iproute2, linkType, missing, privateNamespaces } from "../../../lab/requires.ts";
import { type Attaching, openStage, shown, type Stage } from "../../../lab/stage.ts";

const kinds = ["native", "wasm"] as const;
type Kind = (typeof kinds)[number];

/** Seconds that a connection may take: the first where it must be refused silently, the second where it must succeed. */
const [briefly, patiently] = [2, 60];
const port = 8080;
const outsideAddress = "10.99.0.2";

/** Programs of iptables use nftables here; others would make rules elsewhere. */
const iptablesNft = (): string | undefined =>
  spawnSync("iptables", ["-V"], { encoding: "utf8" }).stdout.includes("nf_tables")
    ? undefined
    : "iptables on PATH is not iptables-nft";

const policies: readonly (readonly [policy: string, ...betweenBridges: boolean[]])[] = [
  ["open", true],
  ["same-bridge", false],
  ["isolated", false],
];

/** The shared rules' comment since the plugin has the policy `isolated` (1.2.0). */
const isolationComment = "ingressPolicy: same-bridge|isolated";

/** Whether a release of the reference plugin has the policy `isolated`. */
function hasIsolated(plugin: string | undefined): boolean {
  return plugin !== undefined && readFileSync(plugin).includes(isolationComment);
}

function inside({ path }: Pick<PodNamespace, "path">, script: string): string {
  const ended = spawnSync("nsenter", [`--net=${path}`, "--", "sh", "-c", script], { encoding: "utf8" });
  if (ended.status !== 0) throw new Error(`${script}: ${ended.stderr}`);
  return ended.stdout;
}

function connects({ path }: PodNamespace, address: string, seconds: number): boolean {
  return (
    spawnSync("nsenter", [`--net=${path}`, "--", "timeout", String(seconds), "bash", "-c", `exec 3<>/dev/tcp/${address}/${port}`])
      .status === 0
  );
}

function isChain(line: string): boolean {
  return /^-[NP]/u.test(line);
}

describe.each(comparedReleases)("DE-FIREWALL-01: firewall and the reference plugins $release", (reference) => {
  const needs = [
    privateNamespaces,
    iproute2,
    linkType("veth"),
    linkType("bridge"),
    command("iptables", "-V"),
    iptablesNft,
  ] as const;
  const unable = missing("firewall compared with the reference plugin", ...needs, reference.requires("firewall"));
  const isolates = !unable && hasIsolated(reference.plugin("firewall"));
  const tooOld =
    unable ||
    missing("firewall with the policy isolated", () => (isolates ? undefined : `${reference.release} has no policy isolated`));
  let stage: Stage;
  let outside: PodNamespace;
  const servers: ChildProcess[] = [];

  beforeAll(async () => {
    if (unable) return;
    stage = openStage({
      native: ["firewall"],
      findNative: reference.plugin,
      components: ["bridge-adapter", "ipam-host-local", "firewall"],
    });
    outside = stage.pod();
    const toOutside = [
      `ip link add out0 type veth peer name eth0 netns ${outside.name}`,
      "ip address add 10.99.0.1/24 dev out0 && ip link set out0 up && sysctl -qw net.ipv4.ip_forward=1",
    ];
    inside(stage.node, toOutside.join(" && "));
    inside(outside, `ip address add ${outsideAddress}/24 dev eth0 && ip link set eth0 up && ip route add default via 10.99.0.1`);
    await serve(outside);
  });
  afterAll(async () => {
    for (const server of servers) {
      server.kill();
      if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
    }
    stage?.dispose();
  });

  async function serve({ path }: PodNamespace): Promise<void> {
    const script = `require("node:net").createServer((socket) => socket.end()).listen(${port}, "::", () => console.log("ready"))`;
    const server = spawn("nsenter", [`--net=${path}`, "--", process.execPath, "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    servers.push(server);
    await once(server.stdout, "data");
  }

  /** The rules of both IP versions, without the comments that name an attachment and without addresses. */
  const rules = (addresses: readonly string[]): readonly string[] => {
    let text = inside(stage.node, "iptables -S; echo; ip6tables -S");
    // An older plugin's comment names one policy.
    if (!isolates) text = text.replaceAll(isolationComment, "ingressPolicy: same-bridge");
    for (const [at, address] of addresses.entries()) text = text.replaceAll(`${address}/`, `ADDRESS${at}/`);
    const lines = text.replaceAll(/ -m comment --comment "?plexus\/\S+?"?(?= |$)/gmu, "").split("\n");
    return [...lines.filter(isChain).toSorted(), ...lines.filter((line) => !isChain(line))];
  };

  const clear = (): string =>
    inside(stage.node, "for t in iptables ip6tables; do $t -F; $t -X; $t -P FORWARD DROP; done; nft list ruleset");

  function attaching(kind: Kind, bridge: 1 | 2, step: object, containerId = `${kind}-${bridge}`): Attaching {
    const ranges = [[{ subnet: `10.31.${bridge}.0/24` }], [{ subnet: `fd00:31:${bridge}::/64` }]];
    const first = {
      type: "bridge-adapter",
      bridge: `br${bridge}`,
      isDefaultGateway: true,
      ipam: { type: "ipam-host-local", ranges },
    };
    const config = stage.network([first, { type: "firewall", ...step }], {
      cniVersion: "1.0.0",
      wasm: {
        prefer: kind === "wasm",
        grants: {
          "bridge-adapter": {
            links: { bridges: ["br*"], forwarding: true },
            delegation: { plugins: ["ipam-host-local"] },
            log: {},
            announce: {},
          },
          firewall: { filter: { bridges: ["br*"], adminChains: ["CNI-ADMIN", "SITE-*"] }, log: {} },
          "ipam-host-local": { leases: { directories: [stage.leases] }, resolver: {}, log: {} },
        },
      },
    });
    return { config, containerId, pod: stage.pod() };
  }

  async function attach(call: Attaching): Promise<readonly string[]> {
    const { json } = await stage.succeed("ADD", call);
    const { ips } = json as { readonly ips: readonly { readonly address: string }[] };
    return ips.map(({ address }) => address.replace(/\/.*/u, ""));
  }

  test.skipIf(unable).each(policies.filter(([policy]) => isolates || policy !== "isolated"))(
    "DE-FIREWALL-05: the same rules and connections with the policy %s",
    async (policy, between) => {
      const states: unknown[] = [];
      for (const kind of kinds) {
        clear();
        const calls = ([1, 2] as const).map((bridge) => attaching(kind, bridge, { ingressPolicy: policy }));
        const [one = [], two = []] = [await attach(calls[0] as Attaching), await attach(calls[1] as Attaching)];
        expect(shown(stage.steps()).at(-1)).toBe(`ADD firewall ${kind}`);
        const added = rules([...one, ...two]);
        const [pod, other] = calls.map((call) => call.pod as PodNamespace) as [PodNamespace, PodNamespace];
        await Promise.all([serve(pod), serve(other)]);
        expect([
          ["to the outside", connects(pod, outsideAddress, patiently)],
          ["from the outside", connects(outside, one[0] ?? "", briefly)],
          ["to a pod of another bridge", connects(pod, two[0] ?? "", between ? patiently : briefly)],
        ]).toEqual([
          ["to the outside", true],
          ["from the outside", false],
          ["to a pod of another bridge", between],
        ]);
        inside(stage.node, `iptables -A CNI-ADMIN -d ${outsideAddress} -j DROP`);
        expect(connects(pod, outsideAddress, briefly)).toBe(false);
        for (const call of calls) await stage.succeed("CHECK", call);
        for (const call of calls) await stage.succeed("DEL", call);
        stage.steps();
        states.push({ added, left: rules([]) });
      }
      const [native, wasm] = states;
      expect(wasm).toEqual(native);
    },
  );

  test.skipIf(unable)("DE-FIREWALL-03: the same rules with another chain of administrators", async () => {
    const states: unknown[] = [];
    for (const kind of kinds) {
      clear();
      const call = attaching(kind, 1, { iptablesAdminChainName: "SITE-RULES", backend: "iptables" });
      const addresses = await attach(call);
      const added = rules(addresses);
      await stage.succeed("DEL", call);
      stage.steps();
      states.push({ added, left: rules([]) });
    }
    expect(states[1]).toEqual(states[0]);
    expect(JSON.stringify(states[1])).toContain("-A CNI-FORWARD -m comment --comment");
  });

  test.skipIf(tooOld)(
    "each plugin finds the shared rules of the other, and DEL of the delegate removes native rules",
    async () => {
      clear();
      const [wasm, native] = [
        attaching("wasm", 1, { ingressPolicy: "isolated" }),
        attaching("native", 2, { ingressPolicy: "isolated" }),
      ];
      await attach(wasm);
      await attach(native);
      await attach(attaching("wasm", 2, { ingressPolicy: "isolated" }, "third"));
      const text = inside(stage.node, "iptables -S");
      for (const [rule, count] of [
        ["-A FORWARD .*-j CNI-FORWARD", 1],
        ["-A FORWARD .*-j CNI-ISOLATION-STAGE-1", 1],
        ["-A CNI-FORWARD .*-j CNI-ADMIN", 1],
        ["-A CNI-ISOLATION-STAGE-1 .*-j CNI-ISOLATION-STAGE-2", 2],
        ["-A CNI-ISOLATION-STAGE-2 .*-j DROP", 2],
        ["-A CNI-FORWARD .*-j ACCEPT", 6],
      ] as const)
        expect([rule, text.match(new RegExp(`^${rule}`, "gmu"))?.length]).toEqual([rule, count]);
      const asComponent = attaching("wasm", 2, { ingressPolicy: "isolated" }, native.containerId);
      await stage.succeed("CHECK", { ...asComponent, pod: native.pod });
      await stage.succeed("DEL", { ...asComponent, pod: native.pod });
      expect(inside(stage.node, "iptables -S").match(/^-A CNI-FORWARD .*-j ACCEPT/gmu)).toHaveLength(4);
    },
  );
});
