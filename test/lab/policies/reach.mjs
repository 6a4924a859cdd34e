// A server and a client for scenarios of policies, in a pod's network namespace. The server listens on TCP and UDP ports in both families. Each line of stdin is a
// JSON request, and stdout has one line with the answer to each, after the line `ready`:
// - { "reset": true } forgets the packets that passed the pod's policies,
// - { "passed": true } lists them, as nft(8) prints the sets,
// - { "targets": ["PROTOCOL/ADDRESS/PORT", ...], "count": N } tries all targets at once, and names those that answered. The client ends after N answers, and a moment
//   later, so that each first packet was sent.

import { spawnSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { connect, createServer, isIPv6 } from "node:net";
import { createInterface } from "node:readline";

const ports = { tcp: [22, 80, 443, 3306, 5555, 6666, 8080, 9999], udp: [53, 5555, 6666] };
const patienceMs = 60_000;
const graceMs = 150;
/** UDP has no retransmission of its own: the first datagram may meet a policy that is about to change. */
const againMs = 500;

const witness = `table inet witness
delete table inet witness
table inet witness {
  set seen4 { type ipv4_addr . inet_proto . ipv4_addr . inet_service; flags dynamic; size 65535; }
  set seen6 { type ipv6_addr . inet_proto . ipv6_addr . inet_service; flags dynamic; size 65535; }
  chain in {
    type filter hook input priority 100;
    ct state new add @seen4 { ip saddr . meta l4proto . ip daddr . th dport };
    ct state new add @seen6 { ip6 saddr . meta l4proto . ip6 daddr . th dport };
  }
}
`;

function nft(args, input) {
  const { status, stdout, stderr } = spawnSync("nft", args, { input, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

for (const port of ports.tcp)
  await new Promise((resolve) => createServer((socket) => socket.end("x")).listen({ host: "::", port }, resolve));
for (const port of ports.udp) {
  const socket = createSocket("udp6");
  socket.on("message", (_, from) => socket.send("x", from.port, from.address));
  await new Promise((resolve) => socket.bind(port, "::", resolve));
}

/** Tries one target. Answers a function that ends the try. */
function tryTarget(target, note) {
  const [protocol, address, port] = target.split("/");
  if (protocol === "tcp") {
    const socket = connect({ host: address, port: Number(port) });
    socket.once("data", note);
    socket.on("error", () => undefined);
    return () => socket.destroy();
  }
  const socket = createSocket(isIPv6(address) ? "udp6" : "udp4");
  socket.once("message", note);
  socket.on("error", () => undefined);
  const send = () => socket.send("x", Number(port), address, () => undefined);
  send();
  const timer = setInterval(send, againMs);
  return () => {
    clearInterval(timer);
    socket.close();
  };
}

async function answered(targets, count) {
  const found = new Set();
  const { promise, resolve } = Promise.withResolvers();
  const timer = setTimeout(resolve, patienceMs);
  const ends = targets.map((target) =>
    tryTarget(target, () => {
      found.add(target);
      if (found.size === count) resolve();
    }),
  );
  if (count > 0) await promise;
  clearTimeout(timer);
  await new Promise((done) => setTimeout(done, graceMs));
  for (const end of ends) end();
  return [...found];
}

process.stdout.write("ready\n");
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  let answer;
  if (request.reset) answer = nft(["-f", "-"], witness);
  else if (request.passed) answer = nft(["-n", "list", "table", "inet", "witness"], "");
  else answer = await answered(request.targets, request.count);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
process.exit();
