// Generated configurations of macvlan: modes, MTUs, MACs from all sources, addresses of both families, routes, versions, and
// invalid configurations. MASTER becomes `n` (native) or `w` (WASM), so that each half has separate parents: otherwise
// duplicate address detection would find the other half's addresses.

import type { Configuration } from "./side-by-side.ts";

/** The number of attachments in a namespace. */
const inOnePod = 8;
/** The number of namespaces without duplicate address detection; the namespaces after them have it. */
export const podsWithoutDetection = 16;
export const macvlanPods = 18;
/** The MTU of each half's parents, by the part of their name after MASTER. */
export const parents: Readonly<Record<string, number>> = { up0: 1500, up1: 9000, thru0: 1500, thru1: 1500, thru2: 1500 };

type Step = Readonly<Record<string, unknown>>;

interface Draft {
  readonly name: string;
  readonly step: Step;
  readonly cniVersion?: string;
  readonly args?: string;
  readonly runtimeConfig?: object;
  readonly pod?: number;
}

/** Ranges and routes that contain `number`, so that each configuration has different ones. */
interface Plan {
  readonly title: string;
  readonly ranges: (number: number) => readonly object[];
  readonly routes: (number: number) => readonly object[];
}

const v4 = (number: number): string => `10.${100 + (number >> 8)}.${number & 255}`;
const v6 = (number: number): string => `fd00:${number.toString(16)}:`;

const plans: readonly Plan[] = [
  { title: "IPv4", ranges: (n) => [[{ subnet: `${v4(n)}.0/24` }]], routes: (n) => [{ dst: `172.16.${n}.0/24` }] },
  {
    title: "IPv4, a route with its own gateway",
    ranges: (n) => [[{ subnet: `${v4(n)}.0/24`, rangeStart: `${v4(n)}.77` }]],
    routes: (n) => [{ dst: `172.17.${n}.0/24`, gw: `${v4(n)}.9` }, { dst: `172.18.${n}.0/25` }],
  },
  { title: "IPv4 without routes", ranges: (n) => [[{ subnet: `${v4(n)}.128/25` }]], routes: () => [] },
  {
    title: "IPv4 with another gateway",
    ranges: (n) => [[{ subnet: `${v4(n)}.0/24`, gateway: `${v4(n)}.254` }]],
    routes: (n) => [{ dst: `172.19.${n}.0/24` }],
  },
  { title: "IPv6", ranges: (n) => [[{ subnet: `${v6(n)}:/64` }]], routes: (n) => [{ dst: `fd01:${n.toString(16)}::/64` }] },
  { title: "IPv6 without routes", ranges: (n) => [[{ subnet: `${v6(n)}:/112` }]], routes: () => [] },
  {
    title: "both families",
    ranges: (n) => [[{ subnet: `${v4(n)}.0/24` }], [{ subnet: `${v6(n)}:/64` }]],
    routes: (n) => [
      { dst: `172.20.${n}.0/24` },
      { dst: `fd02:${n.toString(16)}::/64` },
      { dst: `fd03:${n.toString(16)}::/64`, gw: `${v6(n)}:9` },
    ],
  },
  {
    title: "two ranges of the same family",
    ranges: (n) => [[{ subnet: `${v4(n)}.0/25` }], [{ subnet: `${v4(n)}.128/25` }], [{ subnet: `${v6(n)}:/64` }]],
    routes: (n) => [{ dst: `172.21.${n}.0/24` }],
  },
];

const links: readonly { readonly title: string; readonly step: Step; readonly args?: string; readonly runtimeConfig?: object }[] =
  [
    { title: "bridge by default", step: { master: "MASTERup0" } },
    { title: "mode bridge, an MTU", step: { master: "MASTERup0", mode: "bridge", mtu: 1400 } },
    { title: "mode private", step: { master: "MASTERup1", mode: "private" } },
    { title: "mode vepa, the master's MTU", step: { master: "MASTERup1", mode: "vepa", mtu: 9000 } },
    { title: "a large MTU", step: { master: "MASTERup1", mode: "bridge", mtu: 8000 } },
    { title: "a MAC", step: { master: "MASTERup0", mac: "c2:11:22:33:44:NN" } },
    { title: "a MAC with hyphens in upper case", step: { master: "MASTERup1", mac: "C2-11-22-33-55-NN" } },
    {
      title: "MAC of CNI_ARGS",
      step: { master: "MASTERup0", mac: "c2:11:22:33:44:55" },
      args: "IgnoreUnknown=1;MAC=c2:11:22:33:66:NN",
    },
    {
      title: "the runtime's MAC",
      step: { master: "MASTERup0", mac: "c2:11:22:33:44:55", capabilities: { mac: true } },
      args: "IgnoreUnknown=1;MAC=c2:11:22:33:66:55",
      runtimeConfig: { mac: "c2:11:22:33:77:NN" },
    },
  ];

const dns = { nameservers: ["10.96.0.10"], domain: "cluster.local", search: ["svc.cluster.local"], options: ["ndots:5"] };

/** A link's configuration with `digits` instead of NN, and with the members of `more`. */
function drafted(link: (typeof links)[number], digits: string, more: object): Draft {
  const { step, args, runtimeConfig } = JSON.parse(JSON.stringify(link).replaceAll("NN", digits));
  return {
    name: "",
    ...(args === undefined ? {} : { args }),
    ...(runtimeConfig === undefined ? {} : { runtimeConfig }),
    step: { ...step, ...more },
  };
}

/** Every plan of addresses with every configuration of the link. */
const crossed: readonly ((number: number) => Draft)[] = plans.flatMap((plan) =>
  links.map((link) => (number: number): Draft => ({
    ...drafted(link, number.toString(16).padStart(2, "0"), { ipam: ipam(plan, number) }),
    name: `${link.title}, ${plan.title}`,
  })),
);

/** Every configuration of the link, without addresses. */
const bare: readonly ((number: number) => Draft)[] = links.map((link) => (number) => ({
  ...drafted(link, `9${number % 10}`, {}),
  name: `${link.title}, no ipam`,
}));

const versions: readonly ((number: number) => Draft)[] = ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0"].flatMap(
  (cniVersion) =>
    [plans[0], plans[4], plans[6]].flatMap((plan) =>
      plan === undefined
        ? []
        : [
            (number: number): Draft => ({
              name: `as ${cniVersion}, ${plan.title}`,
              cniVersion,
              step: { master: "MASTERup0", dns, ipam: ipam(plan, number) },
            }),
          ],
    ),
);

const single: readonly ((number: number) => Draft)[] = [
  ...[0, 1, 2, 3].map((pod) => (number: number): Draft => ({
    name: `default routes in pod ${pod}`,
    pod,
    step: {
      master: "MASTERup0",
      ipam: {
        ...ipam(
          { ranges: (n) => [[{ subnet: `${v4(n)}.0/24` }], [{ subnet: `${v6(n)}:/64` }]], routes: () => [], title: "" },
          number,
        ),
        routes: [{ dst: "0.0.0.0/0" }, { dst: "::/0" }],
      },
    },
  })),
  (number) => ({ name: "keys in another case", step: { Master: "MASTERup0", MTU: 1300, IPAM: ipam(plans[0], number) } }),
  ...[0, 1, 2].map((thru) => (number: number): Draft => ({
    name: `mode passthru ${["without ipam", "with an address", "with a MAC"][thru]}`,
    step: {
      master: `MASTERthru${thru}`,
      mode: "passthru",
      ...(thru === 1 ? { ipam: ipam(plans[0], number) } : {}),
      ...(thru === 2 ? { mac: "c2:11:22:88:44:55" } : {}),
    },
  })),
  ...[0, 1].map((which) => (number: number): Draft => ({
    name: `with duplicate address detection, ${["IPv6", "both families"][which]}`,
    pod: podsWithoutDetection + which,
    step: { master: "MASTERup0", ipam: ipam(plans[which === 0 ? 4 : 6], number) },
  })),
];

/** Configurations that both plugins refuse. */
const refused: readonly ((number: number) => Draft)[] = [
  (n) => ({ name: "refused: an unknown mode", step: { master: "MASTERup0", mode: "hairpin", ipam: ipam(plans[0], n) } }),
  (n) => ({ name: "refused: an MTU over the master's", step: { master: "MASTERup0", mtu: 1501, ipam: ipam(plans[0], n) } }),
  (n) => ({ name: "refused: a negative MTU", step: { master: "MASTERup0", mtu: -1, ipam: ipam(plans[0], n) } }),
  (n) => ({ name: "refused: an MTU that is a string", step: { master: "MASTERup0", mtu: "1500", ipam: ipam(plans[0], n) } }),
  (n) => ({ name: "refused: a missing master", step: { master: "MASTERnone", ipam: ipam(plans[0], n) } }),
  (n) => ({ name: "refused: a broken MAC", step: { master: "MASTERup0", mac: "c2:11:22", ipam: ipam(plans[0], n) } }),
  (n) => ({ name: "refused: a multicast MAC", step: { master: "MASTERup0", mac: "01:00:5e:00:00:01", ipam: ipam(plans[0], n) } }),
  () => ({ name: "refused: unknown CNI_ARGS", step: { master: "MASTERup0" }, args: "COLOUR=red" }),
  () => ({
    name: "refused: an ipam without ranges",
    step: { master: "MASTERup0", ipam: { type: "ipam-host-local", ranges: [] } },
  }),
  () => ({
    name: "refused: an ipam plugin that is not installed",
    step: { master: "MASTERup0", ipam: { type: "no-such-ipam" } },
  }),
  () => ({ name: "refused: a second passthru", step: { master: "MASTERthru0", mode: "passthru" } }),
];

/** Configurations with keys that version 1.1.1 does not know. */
const newer: readonly ((number: number) => Draft)[] = [
  () => ({ name: "bcqueuelen", step: { master: "MASTERup0", bcqueuelen: 3333 } }),
];

/** All configurations; those for plugins newer than 1.1.1 only if `isNew`. */
export function macvlanConfigurations(isNew: boolean): readonly Configuration[] {
  const drafts = [...crossed, ...bare, ...versions, ...single, ...refused, ...(isNew ? newer : [])];
  if (drafts.length > podsWithoutDetection * inOnePod) throw new Error("too many attachments for the namespaces");
  return drafts.map((draft, number) => {
    const { pod, ...made } = draft(number);
    return { pod: pod ?? number % podsWithoutDetection, ifname: `m${number}`, ...made };
  });
}

function ipam(plan: Plan | undefined, number: number): object {
  if (plan === undefined) throw new Error("the plan of addresses does not exist");
  return { type: "ipam-host-local", ranges: plan.ranges(number), routes: plan.routes(number) };
}
