// Asks the addresses of a network from a pod's interface: the neighbour of each, then echo requests of the link's full size and of a small one. The packets
// leave by a packet socket, so the pod's own rules do not stop them; those of the other end do.

import { readPodLink } from "../../../host/capabilities/announce/pod-link.ts";
import { probeNeighbours, type ProbingLink } from "../../../host/capabilities/announce/probe.ts";
import { packetsIn } from "../../../host/protocol/network-fields.ts";
import type { PacketEffects } from "../../../host/protocol/shim.ts";
import { addressBytes, macBytes } from "../../../host/system/netlink/bytes.ts";
import { deadlineMs } from "../../../host/system/netlink/exchange.ts";
import { linkRequest } from "../../../host/system/netlink/link-change.ts";
import { linkStatesIn } from "../../../host/system/netlink/link-state.ts";
import { decodeAnswers, encodeRequests } from "../../../host/system/netlink/message.ts";
import { namespaceCookieIn } from "../../../host/system/netlink/namespace-links.ts";
import { systemError } from "../../../host/system/system-error.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { formatAddress } from "../../../src/net/ip.ts";
import { type EchoAnswer, echoAnswerIn, echoPacket, fullEcho, smallestEcho } from "../rules/echo-packet.ts";
import type { ProbedTarget, ProbeReport } from "../rules/probe-report.ts";
import { type ProbeTarget, probeTargets, wayTo } from "../rules/probe-targets.ts";
import type { ProbedAttachment } from "./probed-attachment.ts";

/** Milliseconds for a neighbour's answer, and for an echo reply. */
const answerMs = 1_000;
/** Targets that are asked at once. */
const atOnce = 8;
const ethertypes = { 4: 0x0800, 6: 0x86dd } as const;
const kinds = { 4: "echo", 6: "echo6" } as const;

/** Asks all targets. Faults: NETLINK_FAILED without the interface, or if another network namespace has the path; throws ShimGone. */
export async function probeNetwork(
  shim: PacketEffects,
  attachment: ProbedAttachment,
  further: readonly ProbeTarget[],
  clock: () => number,
): Promise<Result<ProbeReport>> {
  const { pod, network, ifname, netns, cookie } = attachment;
  const { mtu, cookie: shown } = await firstLook(shim, netns, ifname);
  // A runtime may have given the path to another container, whose DEL comes before this pod's.
  if (cookie !== undefined && shown !== undefined && cookie !== shown)
    return failed(
      fault("NETLINK_FAILED", `pod ${pod} cannot be probed: ${netns} is another network namespace than that of its ADD`),
    );
  const link = await readPodLink(shim, netns, ifname);
  if (!("index" in link) || link.mac === undefined || mtu === undefined) {
    const why = "errno" in link ? systemError(link.errno) : "it has no neighbours";
    return failed(fault("NETLINK_FAILED", `interface ${ifname} of pod ${pod} cannot be probed: ${why}`));
  }
  const probing: ProbingLink = { netns, index: link.index, mac: link.mac };
  const targets = probeTargets(attachment, further);
  const hops = [
    ...new Map(
      targets.flatMap((each) => wayTo(attachment, each.address)?.hop ?? []).map((hop) => [formatAddress(hop), hop]),
    ).values(),
  ];
  const found = await probeNeighbours(probing, hops, { probes: 2, milliseconds: answerMs }, shim, clock);
  if (!found.ok) return found;
  const macs = new Map(found.value.map(({ address, mac }) => [address, mac]));
  const probed: ProbedTarget[] = [];
  for (let at = 0; at < targets.length; at += atOnce) {
    const some = targets.slice(at, at + atOnce);
    probed.push(
      ...(await Promise.all(
        some.map((target, index) => probeTarget(shim, attachment, probing, mtu, macs, target, at + index + 1)),
      )),
    );
  }
  return ok({ apiVersion: "plexus/v1", kind: "NetworkProbe", pod, network, ifname, mtu, targets: probed });
}

async function probeTarget(
  shim: PacketEffects,
  attachment: ProbedAttachment,
  link: ProbingLink,
  mtu: number,
  macs: ReadonlyMap<string, string>,
  { what, address, isRefused = false }: ProbeTarget,
  identifier: number,
): Promise<ProbedTarget> {
  const target = { what, address: formatAddress(address) };
  if (isRefused) return { ...target, outcome: "no-endpoint", bytes: 0 };
  const way = wayTo(attachment, address);
  if (way === undefined) return { ...target, outcome: "no-way", bytes: 0 };
  const mac = macs.get(formatAddress(way.hop));
  const destination = mac === undefined ? undefined : macBytes(mac);
  if (destination === undefined) return { ...target, outcome: "no-neighbour", bytes: 0 };
  const ask = async (size: number): Promise<EchoAnswer | undefined> => {
    const request = { source: addressBytes(way.source), target: addressBytes(address), identifier, size };
    const payload = echoPacket(address.family, request);
    const { reply } = await shim.ask({
      path: link.netns,
      index: link.index,
      answers: kinds[address.family],
      keys: [request.target],
      packets: [{ ethertype: ethertypes[address.family], destination, payload }],
      deadlineMs: answerMs,
      maxAnswers: 1,
    });
    return (packetsIn(reply) ?? [])
      .map((each) => echoAnswerIn(address.family, each.payload, identifier))
      .find((each) => each !== undefined);
  };
  const full = fullEcho(address.family, mtu);
  const first = await ask(full);
  if (first?.kind === "reply") return { ...target, mac, outcome: "answers", bytes: full };
  const second = await ask(smallestEcho[address.family]);
  const tooBig = [first, second].find((each) => each?.kind === "too-big");
  const named = tooBig?.kind === "too-big" && tooBig.mtu !== undefined ? { mtu: tooBig.mtu } : {};
  if (second?.kind === "reply")
    return { ...target, mac, outcome: "answers-small", bytes: smallestEcho[address.family], ...named };
  const isUnreachable = first?.kind === "unreachable" || second?.kind === "unreachable";
  return { ...target, mac, outcome: isUnreachable ? "unreachable" : "lost", bytes: 0, ...named };
}

/** The MTU of the interface, and the namespace's cookie: nothing is sent before they are known. */
async function firstLook(
  shim: PacketEffects,
  netns: string,
  ifname: string,
): Promise<{ readonly mtu: number | undefined; readonly cookie: string | undefined }> {
  const request = encodeRequests([linkRequest(ifname)]);
  const { reply } = await shim.netlink({ path: netns, request, deadlineMs });
  const [link] = linkStatesIn(decodeAnswers(reply, 1)[0]);
  return { mtu: link?.mtu, cookie: namespaceCookieIn(reply) };
}
