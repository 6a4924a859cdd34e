// A server and a client for scenarios of policies. `serve` listens on TCP and UDP ports in both families. `ask COUNT PROTOCOL/ADDRESS/PORT...` tries all at once,
// and prints those that answered as a JSON array: it ends after COUNT answers, and a moment later, so that each first packet was sent.

import { createSocket } from "node:dgram";
import { connect, createServer, isIPv6 } from "node:net";

const [action, ...args] = process.argv.slice(2);
const ports = { tcp: [22, 80, 443, 3306, 5555, 6666, 8080, 9999], udp: [53, 5555, 6666] };
const patienceMs = 60_000;
const graceMs = 150;

if (action === "serve") {
  for (const port of ports.tcp)
    await new Promise((resolve) => createServer((socket) => socket.end("x")).listen({ host: "::", port }, resolve));
  for (const port of ports.udp) {
    const socket = createSocket("udp6");
    socket.on("message", (_, from) => socket.send("x", from.port, from.address));
    await new Promise((resolve) => socket.bind(port, "::", resolve));
  }
  process.stdout.write("ready\n");
} else {
  const [count, ...targets] = args;
  const answered = [];
  const { promise, resolve } = Promise.withResolvers();
  const note = (target) => {
    answered.push(target);
    if (answered.length === Number(count)) resolve();
  };
  for (const target of targets) {
    const [protocol, address, port] = target.split("/");
    if (protocol === "tcp") {
      const socket = connect({ host: address, port: Number(port) });
      socket.once("data", () => note(target));
      socket.on("error", () => undefined);
    } else {
      const socket = createSocket(isIPv6(address) ? "udp6" : "udp4");
      socket.once("message", () => note(target));
      socket.on("error", () => undefined);
      socket.send("x", Number(port), address, () => undefined);
    }
  }
  setTimeout(resolve, Number(count) === 0 ? 0 : patienceMs);
  await promise;
  setTimeout(() => {
    process.stdout.write(`${JSON.stringify(answered)}\n`, () => process.exit());
  }, graceMs);
}
